// The state of the ops with steps about prompts and tools: services of the library under a root of their own, and the
// owners, scopes, registrations and assemblies that the steps of one case have made.
import { refused } from './answers.mjs'

const PRODUCES = ['value', 'context', 'throws', 'counts', 'undefined']

// What a function of a case throws. The library has to let it through as it is.
export class Thrown extends Error {}

export class World {
  constructor(library, steps) {
    this.library = library
    this.steps = steps
    this.owners = new Map()
    this.keys = new Map()
    this.names = new Map()
    this.bindings = new Map()
    this.undo = new Map()
    this.assemblies = new Map()
    this.notes = []
  }

  // Answers to all steps of a case. The services start before the first one, with its settings if it has some.
  async answers(given) {
    const unknown = given.steps.find((step) => !Object.hasOwn(this.steps, step.do))
    if (unknown !== undefined) throw new TypeError(`no step is called ${unknown.do}`)
    const answers = []
    if (given.steps[0].do !== 'start') await this.act({ do: 'start' })
    for (const step of given.steps) answers.push(await this.answer(step))
    return { steps: answers }
  }

  async answer(step) {
    try {
      return { ok: (await this.act(step)) ?? null }
    } catch (error) {
      return refusal(error)
    }
  }

  act(step) {
    return this.steps[step.do](this, step)
  }

  async start(config, ...more) {
    const { Context } = this.library.cordis
    this.root = new Context()
    await this.root.plugin(this.library.systemPrompt.SystemPrompt, config)
    for (const { plugin, settings = {} } of more) await this.root.plugin(plugin, settings)
    this.inject = ['systemPrompt', ...more.flatMap(({ service = [] }) => service)]
    this.owners.set(undefined, { ctx: (await this.plugin(undefined)).ctx })
  }

  async plugin(name) {
    const owner = {}
    const fiber = this.root.plugin({ name: name ?? 'host', inject: this.inject, apply: (ctx) => void (owner.ctx = ctx) })
    await fiber
    owner.dispose = () => fiber.dispose()
    if (name !== undefined) this.owners.set(name, owner)
    return owner
  }

  scope(name, parent) {
    const key = this.key(name)
    const options = parent === undefined ? {} : { parent: this.key(parent) }
    this.owners.set(name, this.library.scope.createScope(this.ctx(), key, options))
  }

  // The object that stands for a scope. It is the agent as well, where there is one.
  key(name) {
    if (name === undefined) return undefined
    if (!this.keys.has(name)) {
      const key = { id: name }
      this.keys.set(name, key)
      this.names.set(key, name)
    }
    return this.keys.get(name)
  }

  ctx(owner) {
    return this.owners.get(owner).ctx
  }

  // Registers through the context of an owner, and keeps the disposer.
  keep(step, register) {
    const dispose = register(this.ctx(step.owner))
    if (step.as !== undefined) this.undo.set(step.as, dispose)
  }

  note(label) {
    if (label !== undefined) this.notes.push(label)
  }

  context(given) {
    if (given === null || given === undefined) return given
    const { scope, signal, ...others } = given
    return { ...others, ...this.control(scope, signal) }
  }

  control(scope, signal) {
    return {
      ...(scope === undefined ? {} : { scope: this.key(scope) }),
      ...(signal === undefined ? {} : { signal: signalOf(signal) }),
    }
  }

  // A function for what a case says that a function does; anything else stands for itself.
  function(given) {
    if (!isProducer(given)) return given
    let called = 0
    return (context) => {
      called += 1
      this.note(given.as)
      if (called === 1) for (const step of given.first ?? []) this.act(step)
      return this.produced(given, context, called)
    }
  }

  produced(given, context, called) {
    if (given.throws !== undefined) throw new Thrown(given.throws)
    if (given.counts !== undefined) return given.counts + called
    if (given.context !== undefined) return this.shownMember(context?.[given.context]) ?? given.else
    return given.value
  }

  shownMember(value) {
    if (value instanceof AbortSignal) return value.aborted ? 'aborted' : 'open'
    return this.names.get(value) ?? value
  }
}

export function isProducer(given) {
  return given !== null && typeof given === 'object' && PRODUCES.some((name) => Object.hasOwn(given, name))
}

export function signalOf(state) {
  const controller = new AbortController()
  if (state === 'aborted') controller.abort()
  return controller.signal
}

function refusal(error) {
  const text = String(error?.message ?? error)
  if (error instanceof Thrown) return { refused: { code: 'THROWN', text } }
  // A disposed plugin cannot even reach the service; a disposed scope cannot register.
  if (error?.code === 'INACTIVE_EFFECT' || / in inactive context$/.test(text)) return { refused: { code: 'INACTIVE_EFFECT' } }
  return { ...refused(error), refused: { text } }
}
