// Model requests: what the adapter for DeepSeek endpoints would send, caught before it leaves.
import { Buffer } from 'node:buffer'
import path from 'node:path'
import { refusedWithCode } from './answers.mjs'
import { restored } from './logs.mjs'
import { defined, inFolder, logBytes, read, stored } from './reader.mjs'

const WIRES = { 3: 'deepseek-chat', 4: 'deepseek-messages' }
const MODEL = ['systemPromptUpdate', 'toolUpdate', 'inputModalities', 'contextWindow']
const DEFAULTS = ['maxTokens', 'thinking', 'reasoningEffort']
const LIMITS = [
  'maxImagesPerRequest',
  'maxRequestFilesBytes',
  'maxInlineRequestImageBytes',
  'imageOffloadCountQuantum',
  'imageOffloadByteQuantum',
  'inlineImageOffloadByteQuantum',
]

export function wireOps(library) {
  return {
    'wire.serialize': async (given) => {
      if (given.wire === 'pi-ai') return piAiContext(library, given)
      if (given.wire !== WIRES[library.version]) return { unsupported: `this release has no wire ${given.wire}` }
      return serialized(library, given)
    },
    'wire.parse': (given) => {
      if (given.wire !== WIRES[library.version]) return { unsupported: `this release has no wire ${given.wire}` }
      return parsed(library, given)
    },
    'request.rebuild': (given) => inFolder((root) => rebuilt(library, root, given)),
  }
}

async function serialized(library, { options, route, attachments }) {
  try {
    return { ok: { body: await body(library, options, route, attachments) } }
  } catch (error) {
    return refusedWithCode(error)
  }
}

// The request of the k-th settlement, from the events before it.
async function rebuilt(library, root, given) {
  const log = await read(library, stored(library, root, logBytes(given), 'none').place)
  const settlements = log.events.filter(
    ({ type, seq }) => /^assistant\/(message|attempt)$/.test(type) && seq >= log.inherited,
  )
  const before = log.events.slice(0, settlements[given.index].seq)
  const session = restored(library, { header: log.header, events: before })
  const { config, tools } = session.requestHeader()
  const options = {
    ...config,
    messages: session.deriveMessages(),
    ...defined({ tools, toolHistory: session.toolHistory?.() }),
    sessionId: log.header.id,
  }
  const { systemPromptUpdate } = session.requestContext() ?? {}
  const declared = await declaredRoute(library, config)
  return serialized(library, {
    options,
    route: { ...defined({ ...declared, systemPromptUpdate }), ...given.route },
    attachments: given.attachments,
  })
}

// What the release's own catalog says about a model.
async function declaredRoute(library, { provider, model }) {
  const adapter = deepseekAdapter(library, library.deepseek.resolveAdapterOptions({}, undefined), {})
  const { toolUpdate, inputModalities } = await adapter.resolveModel(provider, model)
  return { toolUpdate, inputModalities }
}

async function body(library, options, route, attachments) {
  const config = {
    baseURL: 'http://127.0.0.1:9',
    models: [{ id: options.model, ...picked(route, MODEL) }],
    ...picked(route, DEFAULTS),
  }
  const connection = { ...library.deepseek.resolveAdapterOptions(config, undefined), ...picked(route, LIMITS) }
  const adapter = deepseekAdapter(library, connection, route, attachments)
  return sent(adapter, projected(library, options, route, adapter))
}

// The context that the pi-ai adapter hands to its library, caught there.
async function piAiContext(library, { options, route, attachments }) {
  const root = storeRoot(route)
  const { LocalAttachmentStore } = library.attachments
  const model = piAiModel(options, route)
  const profile = {
    provider: options.provider,
    modelErrors: new Map(),
    piProvider: {},
    configuredMaxTokens: new Map(),
    streamIdleTimeoutMs: 60000,
    requestImageMaxBytes: route.imageMaxBytes ?? 1048576,
    ...defined({ maxRequestImageBytes: route.maxInlineRequestImageBytes }),
  }
  const adapter = new library.piAi.PiAiAdapter({
    profiles: () => new Map([[options.provider, profile]]),
    resolveApiKey: async () => 'none',
    resolveAttachments: () => (attachments === undefined ? undefined : store(attachments)),
    resolveImageAccess: (_session, image) => {
      const found = root === undefined ? undefined : quietly(() => LocalAttachmentStore.prototype.imageHostPath.call({ root }, image))
      return found === undefined ? undefined : { readonlyPath: found }
    },
    onReplayDegrade: () => {},
  })
  let context
  const streamSimple = (_model, given) => {
    context = given
    throw new Error('caught')
  }
  adapter.current = () => ({ profiles: new Map([[options.provider, profile]]), models: { getModel: () => model, streamSimple } })
  try {
    for await (const _ of adapter.stream(projected(library, options, route, adapter))) break
  } catch (error) {
    if (context === undefined) return refusedWithCode(error)
  }
  return { ok: { body: JSON.stringify(context) } }
}

function piAiModel({ model: id }, { inputModalities: input = ['text'], systemPromptUpdate, toolUpdate }) {
  const compat = {
    supportsMidConvoSystemMessages: systemPromptUpdate === 'in-history',
    supportsMidConvoToolChanges: toolUpdate === 'in-history',
    supportsToolSearch: toolUpdate === 'addition-only',
  }
  const api = toolUpdate === 'in-history' ? 'anthropic-messages' : 'openai-responses'
  return { id, name: id, api, input, compat, reasoning: false, contextWindow: 1000, maxTokens: 100 }
}

// What the runtime does to a request before an adapter gets it.
function projected({ llm, attachments: { LocalAttachmentStore } }, options, route, adapter) {
  let { messages, tools } = options
  const root = storeRoot(route)
  const filePath = (file) => (root === undefined ? undefined : LocalAttachmentStore.prototype.fileHostPath.call({ root }, file))
  if (messages.some(({ content }) => llm.contentHasFile(content))) {
    messages = llm.projectFilesToText(messages, (file) => quietly(() => filePath(file)))
  }
  if (route.inputModalities !== undefined && !route.inputModalities.includes('image')) {
    messages = llm.projectImagesForTextModel(messages)
  }
  if (llm.projectToolUpdates !== undefined) {
    ;({ messages, tools } = llm.projectToolUpdates(messages, tools, route.toolUpdate, options.toolHistory))
  }
  const providers = route.replayProviders ?? [options.provider]
  const adapters = new Map(providers.map((provider) => [provider, { adapter }]))
  return llm.LlmRuntime.prototype.forAdapter.call({ adapters }, { ...options, messages, ...defined({ tools }) }, adapter)
}

function deepseekAdapter(library, connection, route, attachments) {
  const { LocalAttachmentStore } = library.attachments
  const root = storeRoot(route)
  const readonlyPath = (image) => LocalAttachmentStore.prototype.imageHostPath.call({ root }, image)
  return new library.deepseek.DeepSeekAdapter({
    options: () => connection,
    resolveAuth: async () => ({ headers: {} }),
    resolveApiKey: async () => 'none',
    resolveUserId: () => 'none',
    resolveFiles: () => uploads(route),
    resolveAttachments: attachments === undefined ? undefined : () => store(attachments),
    resolveImageAccess: (_session, image) => {
      const found = root === undefined ? undefined : quietly(() => readonlyPath(image))
      return found === undefined ? undefined : { readonlyPath: found }
    },
    prepareExtensions: async () => ({ fields: {}, accept: async () => {} }),
    onReplayDegrade: () => {},
  })
}

function storeRoot({ attachmentRoot }) {
  return typeof attachmentRoot === 'string' ? path.join(attachmentRoot, 'v1') : undefined
}

function store(images) {
  return {
    readImageRequest: async (attachment) => {
      const { attachmentId, mediaType, width, height } = attachment
      const given = images[attachmentId]
      if (given === undefined) throw Object.assign(new Error('not given'), { code: 'ATTACHMENT_NOT_FOUND' })
      const data = Buffer.from(given.base64, 'base64')
      const version = { attachment, variantId: attachmentId, mediaType, width, height, hasAlpha: false }
      return { ...version, bytes: data.length, ...given, data }
    },
  }
}

function uploads({ fileIds = {}, imageMode }) {
  return {
    ensureUploaded: async ({ attachment }) => {
      const fileId = fileIds[attachment.attachmentId]
      if (imageMode === 'inline' || fileId === undefined) throw new Error('not uploaded')
      return { record: { fileId }, uploaded: true }
    },
    invalidate: async () => {},
  }
}

// The text that the adapter hands to fetch.
async function sent(adapter, options) {
  const real = globalThis.fetch
  let text
  globalThis.fetch = async (_url, { body }) => {
    text = body
    throw new Error('caught')
  }
  try {
    for await (const _ of adapter.stream(options)) break
  } catch (error) {
    if (text === undefined) throw error
  } finally {
    globalThis.fetch = real
  }
  return text
}

// What the adapter, and the runtime behind it, make of a response that a stand-in for fetch gives.
async function parsed(library, given) {
  const response = given.exchange?.response ?? given.response
  const model = given.model ?? JSON.parse(given.exchange.body).model
  const connection = { ...library.deepseek.resolveAdapterOptions({}, undefined), baseURL: 'http://endpoint.test' }
  const adapter = deepseekAdapter(library, connection, {})
  const options = { provider: 'deepseek-official', model, messages: [], maxTokens: 1 }
  const chunks = []
  const real = globalThis.fetch
  globalThis.fetch = async () => new Response(bodyStream(response), { status: response.status, headers: response.headers })
  try {
    for await (const chunk of adapterStream(library, adapter, options)) chunks.push(chunk)
  } finally {
    globalThis.fetch = real
  }
  return { ok: { chunks, ...settlement(library, chunks) } }
}

function adapterStream({ llm: { LlmRuntime } }, adapter, options) {
  const registration = { adapter, provider: adapter.providerInfo(options.provider) }
  const adapters = new Map([[options.provider, registration]])
  const runtime = Object.create(LlmRuntime.prototype, { adapters: { value: adapters }, ctx: { value: { get() {} } } })
  return runtime.adapterStream(options)
}

function bodyStream({ body, base64, pieces }) {
  const bytes = base64 === undefined ? Buffer.from(body) : Buffer.from(base64, 'base64')
  const size = pieces ?? (bytes.length || 1)
  let at = 0
  return new ReadableStream({
    pull(controller) {
      if (at >= bytes.length) return controller.close()
      controller.enqueue(new Uint8Array(bytes.subarray(at, at + size)))
      at += size
    },
  })
}

function settlement({ llm: { BlockAssembler } }, chunks) {
  const assembler = new BlockAssembler()
  for (const chunk of chunks) assembler.push(chunk)
  if (/^(error|aborted)$/.test(assembler.finish.kind)) return { settles: 'assistant/attempt' }
  return { settles: 'assistant/message', content: assembler.blocks() }
}

function picked(from, names) {
  return defined(Object.fromEntries(names.map((name) => [name, from[name]])))
}

function quietly(ask) {
  try {
    return ask()
  } catch {
    return undefined
  }
}
