// The whole loop: the library's own agent, with its services under a root of their own, a model that says what the case
// scripts, and tools that do what it says.
export function loopOps(library) {
  return { 'loop.replay': async (given) => ({ ok: await new Play(library, given).run() }) }
}

class Play {
  constructor(library, given) {
    this.library = library
    this.given = given
    this.prompt = given.prompt ?? ''
    this.context = given.context ?? ''
    this.route = given.route ?? {}
    this.replies = [...(given.replies ?? [])]
    this.hooks = Object.fromEntries(Object.entries(given.hooks ?? {}).map(([name, turns]) => [name, [...turns]]))
    this.requests = []
    this.gates = new Map()
    this.unregister = []
  }

  async run() {
    await this.start()
    await this.attach(this.given.events)
    const from = this.given.events?.length ?? 0
    for (const acts of this.given.inputs) {
      for (const act of acts) {
        const done = this.act(act)
        if (done instanceof Promise) await done
      }
      await this.agent.whenIdle()
    }
    const events = this.agent.session.snapshotEvents(from)
    const shown = new Shown()
    const value = { events: events.map((event) => shown.event(event)), requests: this.requests.map((request) => shown.value(request)) }
    await this.leave()
    return value
  }

  async start() {
    const { cordis, session, sessionProjection, llm, systemPrompt, tools, agent, agentLoop, llmRetry } = this.library.loop
    const root = (this.root = new cordis.Context())
    await root.plugin(session.SessionStore)
    await root.plugin(sessionProjection.SessionProjectionRegistry)
    await root.plugin(llm.LlmRuntime)
    await root.plugin(systemPrompt.SystemPrompt, { includeHarnessIdentity: false, includeRuntimeContext: true })
    await root.plugin(tools.ToolRuntime, {})
    await root.plugin(agent.AgentRegistry)
    const { maxParallelToolCalls } = this.given
    await root.plugin(agentLoop.AgentLoop, maxParallelToolCalls === undefined ? {} : { maxParallelToolCalls })
    await root.plugin(llmRetry, {})
    const inject = ['agents', 'sessions', 'llm', 'tools', 'systemPrompt', 'sessionProjections']
    await root.plugin({ name: 'loop-case', inject, apply: (ctx) => this.contribute(ctx) })
  }

  contribute(ctx) {
    this.ctx = ctx
    ctx.llm.registerAdapter(['p'], this.adapter())
    ctx.systemPrompt.section({ name: 'case:prompt', order: 1, text: () => this.prompt, interpolate: false })
    ctx.systemPrompt.context({ name: 'case:context', order: 1, text: () => this.context, interpolate: false })
    this.show(this.given.tools?.map(({ name }) => name) ?? [])
    ctx.on('agent/pre-step', ({ messages, signal }, next) => this.preStep(signal, next))
    ctx.on('agent/request', ({ signal }, next) => this.request(signal, next))
    ctx.on('agent/request-error', ({ signal }, next) => this.requestError(signal, next))
    ctx.on('agent/turn-stopping', ({ signal }) => this.hook('turn-stopping', signal))
    ctx.on('llm/stream', (options, next) => this.stream(options, next))
    ctx.on('tools/pre-execute', (exec, next) => this.call(exec.callId).policy ?? next())
    ctx.on('tools/post-execute', (exec, _result, next) => this.call(exec.callId).judged ?? next())
  }

  // ---- What the case scripts -----------------------------------------------------------------------

  adapter() {
    const play = this
    const { LlmAdapter, resolveRetryPolicy } = this.library.loop.llm
    return new (class extends LlmAdapter {
      providerInfo = (id) => ({ id, name: id })
      providerRetryPolicy = () => resolveRetryPolicy(play.given.retryPolicy ?? { mode: 'normal', maxRetries: 0 }, 'case')
      listModels = async () => []
      resolveModel = async (provider, id) => play.model(provider, id)
      prepareCall = async (provider, id) => ({ model: play.model(provider, id), stream: (options) => play.answer(options) })
      stream = (options) => play.answer(options)
    })()
  }

  model(provider, id) {
    const { contextWindow, efforts, defaultEffort, ...declared } = this.route
    const reasoning = efforts && { efforts: efforts.map((each) => ({ id: each, name: each })), ...(defaultEffort && { defaultEffort }) }
    return { provider, id, name: id, ...declared, ...(contextWindow && { context: { contextWindow } }), ...(reasoning && { reasoning }) }
  }

  async *answer({ signal }) {
    yield* this.chunks(this.replies.shift() ?? NOTHING, signal)
  }

  async *chunks(parts, signal) {
    for (const part of parts) {
      if (part.do === undefined) yield part
      else await this.act(part, signal)
    }
  }

  show(names) {
    for (const dispose of this.unregister.splice(0)) dispose()
    for (const tool of this.given.tools ?? []) if (names.includes(tool.name)) this.unregister.push(this.ctx.tools.register(this.tool(tool)))
  }

  tool({ name, description, parameters, parallel }) {
    return {
      name,
      description: description ?? `Does ${name}.`,
      parameters: parameters ?? { type: 'object' },
      output: { schema: {}, render: (_arguments, value) => [{ type: 'text', text: String(value) }] },
      isConcurrencySafe: () => parallel === true,
      execute: (_arguments, exec) => this.body(exec),
    }
  }

  call(id) {
    return this.given.calls?.[id] ?? {}
  }

  async body(exec) {
    const { acts, contexts, concludes, throws, coded, returns } = this.call(exec.callId)
    for (const context of contexts ?? []) exec.deferContext(this.message(context))
    if (concludes) exec.concludeTurn()
    for (const act of acts ?? []) await this.act(act, exec.signal)
    if (throws !== undefined) throw new Error(throws)
    if (coded !== undefined) throw Object.assign(new this.library.loop.llm.HarnessError(coded.message, coded.code), { name: coded.name })
    return returns ?? 'done'
  }

  // ---- Hooks: what the case says for the k-th time that each is called -------------------------------

  async hook(name, signal) {
    const turn = this.hooks[name]?.shift() ?? {}
    for (const act of turn.acts ?? []) await this.act(act, signal)
    if (turn.throws !== undefined) throw new Error(turn.throws)
    return turn
  }

  async preStep(signal, next) {
    const { rejects, startsRequestSeries, adds, drops } = await this.hook('pre-step', signal)
    if (rejects) return { kind: 'reject' }
    const decision = await next()
    const messages = [...(drops ? [] : decision.messages), ...(adds ?? []).map((each) => this.message(each))]
    return { ...decision, messages, ...(startsRequestSeries && { startsRequestSeries }) }
  }

  async request(signal, next) {
    const { config } = await this.hook('request', signal)
    return { ...(await next()), ...config }
  }

  async requestError(signal, next) {
    const { retries } = await this.hook('request-error', signal)
    return retries ? { kind: 'retry' } : next()
  }

  stream(options, next) {
    const { signal, ...request } = options
    this.requests.push(structuredClone(request))
    const turn = this.hooks.stream?.shift() ?? {}
    return this.wrapped(turn, turn.chunks === undefined ? next() : this.chunks(turn.chunks, signal), signal)
  }

  async *wrapped({ acts, throws, after }, chunks, signal) {
    let left = after ?? 0
    for (const act of acts ?? []) await this.act(act, signal)
    if (throws !== undefined && left === 0) throw new Error(throws)
    for await (const chunk of chunks) {
      yield chunk
      left -= 1
      if (throws !== undefined && left === 0) throw new Error(throws)
    }
  }

  // ---- Acts ----------------------------------------------------------------------------------------

  // Nothing else happens between two acts of which the second does not wait.
  act(act, signal) {
    return act.at === undefined ? this[ACTS[act.do]](act, signal) : this.later(act, signal)
  }

  async later(act, signal) {
    while (!this.agent.session.snapshotEvents().some(({ type }) => type === act.at)) await soon()
    await this[ACTS[act.do]](act, signal)
  }

  send({ do: verb, ...message }) {
    this.agent[verb](this.message(message))
  }

  message({ text, source, id }) {
    const content = [{ type: 'text', text }]
    const message = this.library.loop.llm.createUserMessage({ content, source: source ?? { kind: 'user' } })
    return id === undefined ? message : { ...message, id }
  }

  cancel({ cause, keepInbox }) {
    this.agent.cancel(cause ?? { kind: 'user' }, { keepInbox: keepInbox === true })
  }

  pending({ verb, of, target, ...message }) {
    const { inbox } = this.agent
    if (verb === 'remove') inbox.remove(of)
    else if (verb === 'replace') inbox.replace(of, this.message(message))
    else inbox.prepend(target, this.message(message))
  }

  set({ prompt, context, tools, route }) {
    if (prompt !== undefined) this.prompt = prompt
    if (context !== undefined) this.context = context
    if (route !== undefined) this.route = route
    if (tools !== undefined) this.show(tools)
  }

  append({ event: { type, data, ...metadata } }) {
    this.agent.session.append(type, data, metadata)
  }

  open({ gate }) {
    this.gate(gate).resolve()
  }

  pass({ gate }) {
    return this.gate(gate).promise
  }

  gate(name) {
    if (!this.gates.has(name)) this.gates.set(name, Promise.withResolvers())
    return this.gates.get(name)
  }

  wait(_act, signal) {
    if (signal.aborted) return undefined
    return new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true }))
  }

  pause({ ms }) {
    return new Promise((resolve) => setTimeout(resolve, ms))
  }

  async restart() {
    const events = this.agent.session.snapshotEvents()
    await this.leave()
    await this.attach(events)
  }

  // ---- The agent -----------------------------------------------------------------------------------

  async attach(events) {
    const { agentOptions = { provider: 'p', model: 'm' } } = this.given
    const options = { sessionId: 's-1', agentOptions, meta: { createdAt: 0 } }
    if (events !== undefined) options.seed = [...events, ...this.library.session.interruptedTurnClosers(events)]
    const { agent, dispose } = await this.ctx.agents.create(options)
    this.agent = agent
    this.leave = dispose
  }
}

const soon = () => new Promise((resolve) => setTimeout(resolve, 1))
const NOTHING = [{ type: 'finish', reason: { kind: 'error', failure: { message: 'nothing is scripted', code: 'UNKNOWN' } } }]
const ACTS = {
  followup: 'send',
  steer: 'send',
  inject: 'send',
  ...Object.fromEntries(['cancel', 'pending', 'set', 'append', 'open', 'pass', 'wait', 'pause', 'restart'].map((name) => [name, name])),
}

// Events and requests without times, and with the ids of messages and retries by the order in which they appear.
class Shown {
  ids = new Map()

  event({ seq: _seq, time: _time, ...event }) {
    return this.value(event)
  }

  value(value) {
    if (Array.isArray(value)) return value.map((each) => this.value(each))
    if (value === null || typeof value !== 'object') return value
    const own = !/^tool-call/.test(value.type ?? '')
    const members = Object.entries(value).filter(([name, member]) => member !== undefined && !['time', 'time0', 'dt'].includes(name))
    return Object.fromEntries(members.map(([name, member]) => [name, own && isId(name, member) ? this.name(member) : this.value(member)]))
  }

  name(id) {
    if (!this.ids.has(id)) this.ids.set(id, `id-${this.ids.size + 1}`)
    return this.ids.get(id)
  }
}

function isId(name, member) {
  return typeof member === 'string' && ['id', 'messageId', 'retryId'].includes(name)
}
