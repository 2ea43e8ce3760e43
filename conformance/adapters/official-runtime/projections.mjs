// What prompts and requests leave in a log: the projections of the library's own agent, and its attempts, over a session
// that stands by itself. The agent's classes are not exported; a live agent has them.
import { attempt } from './answers.mjs'
import { restored } from './logs.mjs'

export function projectionOps(library) {
  const ops = {
    'prompt.project': async (given) => {
      if (given.revision !== undefined) return { unsupported: 'no release behaves like this revision' }
      const agent = await attached(library, restored(library, given))
      return attempt(() => ({ commits: agent.systemPrompt.project(given.rendered, given).map(commit) }))
    },
  }
  for (const [op, steps] of Object.entries({ 'prompt.context': contextSteps, 'prompt.header': headerSteps, 'prompt.attempt': attemptSteps })) {
    ops[op] = (given) => answers(library, given, steps)
  }
  return ops
}

async function answers(library, given, steps) {
  const session = restored(library, given)
  const world = { library, session, agent: await attached(library, session) }
  const answers = []
  for (const step of given.steps) answers.push(await attempt(async () => (await steps[step.do](world, step)) ?? null))
  return { steps: answers }
}

const logSteps = {
  append: ({ agent }, { event: { type, data, ...metadata } }) => ({ seq: agent.append(type, data, metadata).seq }),
  async restart(world) {
    world.agent = await attached(world.library, world.session)
  },
}

const contextSteps = {
  ...logSteps,
  restore: logSteps.restart,
  project({ library, agent }, { sections }) {
    const { joinContextSections } = library.systemPrompt
    const message = agent.runtimeContext.project(joinContextSections(sections), sections)
    return { message: message === undefined ? null : picked(message, ['content', 'source']) }
  },
}

const headerSteps = {
  ...logSteps,
  seed: ({ agent }, { options }) => seed(agent, options),
  request(world, step) {
    const { agent, library } = world
    const from = agent.session.seq
    const position = library.version >= 4 ? [{ turn: 1, step: 1 }] : []
    const { signal } = new AbortController()
    agent.buildRequest(step.config, prepared(step), step.tools ?? [], ...position, step.startsRequestSeries === true, signal)
    return { events: appended(agent, from) }
  },
}

// What a request starts from, before any plugin changes it: the hook that plugins have is where we look.
async function seed(agent, options) {
  let config
  const waterfall = async (_name, _payload, next) => {
    config = await next()
    throw new Error('seen')
  }
  const asked = Object.assign(Object.create(agent), { options, dispatch: { waterfall } })
  await asked.prepareRequest(1, 1, new AbortController().signal).catch((error) => {
    if (config === undefined) throw error
  })
  return { config, text: JSON.stringify(config) }
}

const attemptSteps = {
  ...logSteps,
  async attempt({ library, agent }, step) {
    const turn = agent.session.snapshotEvents().filter(({ type }) => type === 'turn/start').length + 1
    const place = { turn, step: 1 }
    agent.append('turn/start', { turn })
    agent.append('step/start', place)
    agent.phase.turn = turn
    const from = agent.session.seq
    const contexts = step.contexts ?? []
    const assembly = {
      sections: [{ name: 'rendered', text: step.rendered, interpolate: false }],
      contexts: contexts.map((entry) => ({ ...entry, interpolate: false })),
      tools: step.tools ?? [],
      variables: {},
    }
    const context = agent.runtimeContext.project(library.systemPrompt.joinContextSections(contexts), contexts)
    const messages = [...(step.messages ?? []), ...(context === undefined ? [] : [context])]
    agent.prepare(step)
    await agent.step({ kind: 'enter', messages, assembly, startsRequestSeries: step.startsRequestSeries === true })
    const events = appended(agent, from).filter(({ type }) => !/^assistant\//.test(type))
    agent.append('step/end', place)
    agent.append('turn/end', { turn, reason: { kind: 'completed' } })
    return { events }
  },
  messages: ({ session }) => session.deriveMessages().map(({ role, content, source }) => ({ role, content, source })),
}

// What the route and its adapter declare for a call. Its stream says "done", or fails once where the step has a retry.
function prepared({ config, adapterDefaults = {}, route = {} }) {
  const { contextWindow, ...declared } = route
  return { config, adapterDefaults, ...declared, ...(contextWindow === undefined ? {} : { context: { contextWindow } }) }
}

async function* stream(fails) {
  if (!fails) {
    yield { type: 'text-delta', index: 0, text: 'done' }
    yield { type: 'finish', reason: { kind: 'stop' } }
    return
  }
  yield { type: 'finish', reason: { kind: 'error', failure: { message: 'again', code: 'UNKNOWN' } } }
}

// An agent of the library over a session: its real methods, without a runtime around it.
async function attached(library, session) {
  const { Agent, SystemPrompt, RuntimeContext } = await agentClasses(library)
  const listeners = []
  const agent = Object.create(Agent.prototype)
  const surface = session.surface
  agent.append = (type, data, metadata) => {
    const event = library.session.Session.prototype.append.call(session, type, data, metadata)
    for (const listener of listeners) listener(session, event)
    return event
  }
  session.append = agent.append
  return Object.assign(agent, {
    id: session.id,
    session,
    options: {},
    inbox: { nextStep: [], splice() {} },
    phase: { kind: 'running', turn: 1, step: 1, abort: new AbortController(), wakeRequested: false },
    requestHeaderLogged: false,
    requestSurfaceGeneration: library.version >= 4 ? surface.contentGeneration : surface.replaceGeneration,
    assistantStreamRevision: 0,
    assistantAttemptCounter: 0,
    frozenMessages: new WeakSet(),
    runtimeContext: new RuntimeContext({ on: (_name, listener) => listeners.push(listener) }, session),
    systemPrompt: new SystemPrompt(session),
    prepare: (step) => prepare(agent, step),
  })
}

// Sets what the agent meets in its next attempt, and in the one after a retry.
function prepare(agent, step) {
  let left = step.retry === undefined ? 0 : 1
  agent.dispatch = {
    emit() {},
    serial: async () => {},
    waterfall: async (name, _payload, next) => {
      if (name !== 'agent/request-error') return name === 'agent/request' ? step.config : next()
      for (const { type, data, ...metadata } of step.retry.events ?? []) agent.append(type, data, metadata)
      return { kind: 'retry' }
    },
  }
  agent.loopCtx = {
    systemPrompt: { refreshContext: (assembly) => assembly },
    llm: {
      prepareCall: async () => {
        const fails = left > 0
        const route = fails ? step.route : { ...step.route, ...step.retry?.route }
        left -= 1
        return { ...prepared({ ...step, route }), stream: () => stream(fails) }
      },
    },
  }
}

let classes

async function agentClasses({ ctx }) {
  if (classes === undefined) {
    const agents = ctx.get('agents')
    const { agent, dispose } = await agents.create({ sessionId: 'conformance', agentOptions: {} })
    classes = {
      Agent: agent.constructor,
      SystemPrompt: agent.systemPrompt.constructor,
      RuntimeContext: agent.runtimeContext.constructor,
    }
    await dispose()
  }
  return classes
}

function commit({ message, intent }) {
  return { ...picked(message, ['content', 'source']), ...intent }
}

function appended({ session }, from) {
  return session.snapshotEvents(from).map(({ type, data, surfaceOp, sourceEventSeqs }) => ({
    type,
    data: withoutId(data),
    ...(surfaceOp === undefined ? {} : { surfaceOp }),
    ...(sourceEventSeqs === undefined ? {} : { sourceEventSeqs }),
  }))
}

function withoutId({ id: _id, ...data }) {
  if (data.message === undefined) return data
  const { id: _messageId, ...message } = data.message
  return { ...data, message }
}

function picked(from, names) {
  return Object.fromEntries(names.map((name) => [name, from[name]]))
}
