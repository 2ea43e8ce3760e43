// The adapter for the official runtime: a plugin that the runtime loads, and that answers the messages of
// ../../protocol.schema.json on standard input and output with the runtime's own library.
import readline from 'node:readline'
import { admissionOps } from './admission.mjs'
import { logOps } from './logs.mjs'
import { loopOps } from './loop.mjs'
import { projectionOps } from './projections.mjs'
import { promptOps } from './prompt.mjs'
import { readerOps } from './reader.mjs'
import { toolOps } from './tools.mjs'
import { valueOps } from './values.mjs'
import { wireOps } from './wire.mjs'
import { writingOps } from './writing.mjs'

// Release 0.2.1 looks at a log of format 3 for what release 0.1.5 cannot know, and has the conversion of format 2.
const FORMATS = { 4: { check: [3, 4], validate: [3, 4] } }

export const name = 'conformance-adapter'

export async function apply(ctx) {
  const library = await load(ctx)
  const families = [
    admissionOps,
    valueOps,
    logOps,
    readerOps,
    wireOps,
    writingOps,
    promptOps,
    toolOps,
    projectionOps,
    loopOps,
  ]
  const ops = Object.assign({}, ...families.map((opsOf) => opsOf(library)))
  // The runtime goes on only when its plugins are in place; until then standard input is ours.
  for await (const line of readline.createInterface({ input: process.stdin })) {
    const message = JSON.parse(line)
    if (message.cmd === 'stop') break
    process.stdout.write(ascii(JSON.stringify(await reply(message, ops, library))) + '\n')
  }
  process.exit(0)
}

async function load(ctx) {
  const get = (name) => ctx.loader.import('@deepseek-ai/dsh-' + name)
  const library = {
    ctx,
    session: await get('session'),
    catalog: await get('session-format-catalog'),
    format: await get('session-format'),
    llm: await get('llm'),
    deepseek: await get('llm-deepseek'),
    piAi: await get('llm-pi-ai'),
    attachments: await get('attachment-local'),
    systemPrompt: await get('system-prompt'),
    projections: [],
    loop: await loadLoop(ctx, get),
  }
  library.version = library.session.SESSION_FORMAT_VERSION
  // Release 0.1.5 has no plugin that takes images out of messages, and its prompt service is not asked.
  if (library.version >= 4) {
    Object.assign(library, {
      conversion: (await get('session-format-v2-to-v3')).sessionFormatV2ToV3,
      eventTypesOfFormat2: (await get('session-format-v1-to-v2')).RELEASED_V2_EVENT_TYPES,
      cordis: await ctx.loader.import('@deepseek-ai/cordis'),
      scope: await get('scope'),
      tools: await get('tools'),
      timeouts: await get('tool-call-timeout-policy'),
      persona: await get('persona'),
      agent: await get('agent'),
    })
    const sessions = { registerMessageProjection: (projection) => library.projections.push(projection) }
    const offload = await get('compaction-image-offload')
    offload.apply({ sessions, on() {} })
  }
  return library
}

// The services that an agent needs; both releases have them.
async function loadLoop(ctx, get) {
  return {
    cordis: await ctx.loader.import('@deepseek-ai/cordis'),
    session: await get('session'),
    sessionProjection: await get('session-projection'),
    llm: await get('llm'),
    systemPrompt: await get('system-prompt'),
    tools: await get('tools'),
    agent: await get('agent'),
    agentLoop: await get('agent-loop'),
    llmRetry: await get('llm-retry'),
  }
}

async function reply(message, ops, library) {
  if (message.cmd === 'start') {
    const version = { 3: '0.1.5-rc.1', 4: '0.2.1-rc.2' }[library.version]
    return { protocol: 1, implementation: { name: 'official runtime', version, language: 'JavaScript' } }
  }
  if (message.cmd === 'capabilities') {
    const formats = Object.keys(ops).map((op) => [op, [library.version]])
    return { ops: { ...Object.fromEntries(formats), ...FORMATS[library.version] }, reports: ['code', 'text', 'readable', 'valid'] }
  }
  const { number, op, input } = message
  try {
    return { number, ...(await ops[op](input, message.format)) }
  } catch (error) {
    return { number, error: String(error?.stack ?? error) }
  }
}

function ascii(text) {
  return text.replace(/[\x7f-\uffff]/g, (unit) => '\\u' + unit.charCodeAt(0).toString(16).padStart(4, '0'))
}
