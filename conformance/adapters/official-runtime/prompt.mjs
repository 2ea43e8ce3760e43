// Prompt assembly: the prompt service of the library, step by step, and its pure functions.
import { Thrown, World } from './world.mjs'

export function promptOps(library) {
  if (library.version < 4) return {}
  return {
    'prompt.run': (given) => new World(library, promptSteps).answers(given),
    'prompt.interpolate': ({ text, variables, kind, name, interpolate }) =>
      attempt(() => {
        const entry = { name, text, ...(interpolate === undefined ? {} : { interpolate }) }
        const assembly = { sections: [], contexts: [], [kind + 's']: [entry], variables: variablesOf(variables) }
        const { renderPrompt, renderContextSections } = library.systemPrompt
        const rendered = kind === 'section' ? renderPrompt(assembly) : renderContextSections(assembly)[0]?.text
        return { text: rendered ?? '' }
      }),
    'prompt.render': ({ assembly, contexts }) =>
      attempt(() => {
        const { renderPrompt, renderContextSections, renderContextSnapshot, joinContextSections } = library.systemPrompt
        if (assembly === undefined) return { snapshot: joinContextSections(contexts) }
        const given = { ...assembly, variables: variablesOf(assembly.variables) }
        return {
          prompt: renderPrompt(given),
          contexts: renderContextSections(given),
          snapshot: renderContextSnapshot(given),
        }
      }),
  }
}

export const promptSteps = {
  start: (world, { config }) => world.start(config ?? {}),
  scope: (world, { name, parent }) => world.scope(name, parent),
  bind(world, { scope, parent }) {
    world.bindings.set(scope, world.library.scope.bindScopeParent(world.key(scope), world.key(parent)))
  },
  rebind: (world, { scope, parent }) => world.bindings.get(scope).rebind(world.key(parent)),
  plugin: async (world, { name }) => void (await world.plugin(name)),
  unload: async (world, { owner }) => void (await world.owners.get(owner).dispose()),
  section: (world, step) =>
    world.keep(step, (ctx) => ctx.systemPrompt.section({ ...step.section, text: world.function(step.section.text) })),
  context: (world, step) =>
    world.keep(step, (ctx) => ctx.systemPrompt.context({ ...step.context, text: world.function(step.context.text) })),
  variable: (world, step) =>
    world.keep(step, (ctx) => ctx.systemPrompt.variable(step.name, called(world.function(step.value)))),
  tools: (world, step) => world.keep(step, (ctx) => ctx.systemPrompt.tools(called(world.function(step.result)))),
  suppress: (world, step) => world.keep(step, (ctx) => ctx.systemPrompt.suppressRuntimeContext()),
  // The plugin that gives a scope a persona of its own.
  async persona(world, { do: _do, owner, as, ...settings }) {
    const fiber = world.ctx(owner).plugin(world.library.persona, settings)
    await fiber
    if (as !== undefined) world.undo.set(as, () => fiber.dispose())
  },
  dispose: (world, { of }) => later(world.undo.get(of)?.()),
  together: (world, { steps }) => Promise.all(steps.map(async (step) => (await world.act(step)) ?? null)),
  'on-change': (world, step) => world.keep(step, (ctx) => ctx.on(`${step.what ?? 'system-prompt'}/change`, changed(world, step))),
  listen: (world, step) =>
    world.keep(step, (ctx) =>
      ctx.on('system-prompt/assemble', listener(world, step), { prepend: step.prepend === true, global: step.global === true }),
    ),
  assemble: async (world, step) => kept(world, step, await assembled(world, step)),
  'context-for'(world, { agent, signal }) {
    const given = contextFor(world, agent, signal)
    const members = Object.keys(given).sort()
    return { members, ...Object.fromEntries(members.map((name) => [name, world.shownMember(given[name])])) }
  },
  refresh(world, step) {
    if (!world.assemblies.has(step.of)) return null
    const service = world.ctx().systemPrompt
    return kept(world, step, service.refreshContext(world.assemblies.get(step.of), world.context(step.context)))
  },
  render(world, { of }) {
    if (!world.assemblies.has(of)) return null
    return { prompt: world.library.systemPrompt.renderPrompt(world.assemblies.get(of)) }
  },
  contexts(world, { of }) {
    if (!world.assemblies.has(of)) return null
    const { renderContextSections, renderContextSnapshot } = world.library.systemPrompt
    const assembly = world.assemblies.get(of)
    return { sections: renderContextSections(assembly), snapshot: renderContextSnapshot(assembly) }
  },
  'tools-text': (world, { of }) =>
    world.assemblies.has(of) ? { text: JSON.stringify(world.assemblies.get(of).tools) } : null,
  order(world, { section, context }) {
    const service = world.ctx().systemPrompt
    const order = section === undefined ? service.getContextOrder(context) : service.getSectionOrder(section)
    return order === undefined ? {} : { order }
  },
  calls: (world) => world.notes.splice(0),
}

function attempt(ask) {
  try {
    return { ok: ask() }
  } catch (error) {
    return { refused: { text: String(error.message) } }
  }
}

// Some disposers take their time.
function later(undone) {
  return undone instanceof Promise ? undone.then(() => null) : null
}

function called(given) {
  return typeof given === 'function' ? given : () => given
}

function variablesOf(list) {
  return Object.fromEntries(list.map(({ name, value }) => [name, value]))
}

function contextFor(world, agent, signal) {
  return world.library.agent.assembleContextFor(world.key(agent), world.control(undefined, signal).signal)
}

function assembled(world, step) {
  const service = world.ctx().systemPrompt
  if (step.for !== undefined) return service.assemble(contextFor(world, step.for, step.signal))
  return 'context' in step ? service.assemble(world.context(step.context)) : service.assemble()
}

// An assembly as an answer. Variables are a list, because one without a value is there all the same.
function kept(world, step, assembly) {
  if (step.as !== undefined) world.assemblies.set(step.as, assembly)
  const { variables, ...others } = assembly
  const listed = Object.entries(variables).map(([name, value]) => (value === undefined ? { name } : { name, value }))
  return structuredClone({ ...others, variables: listed })
}

function changed(world, { as, throws }) {
  let called = 0
  return () => {
    called += 1
    world.note(as)
    if (throws !== undefined && called === 1) throw new Thrown(throws)
  }
}

function listener(world, { as, acts, plain }) {
  if (plain) {
    return (assembly) => {
      world.note(as)
      return acts.reduce((value, act) => changedBy(world, act, value), assembly)
    }
  }
  return async (assembly, _context, next) => {
    world.note(as)
    let value = assembly
    for (const act of acts) {
      if (act.act === 'pause') await new Promise(setImmediate)
      else value = act.act === 'next' ? await next() : changedBy(world, act, value)
    }
    return value
  }
}

function changedBy(world, { act, path, value, message, steps }, assembly) {
  if (act === 'throws') throw new Thrown(message)
  if (act === 'replace') return { ...structuredClone(value), variables: variablesOf(value.variables) }
  if (act === 'do') {
    for (const step of steps) world.act(step)
    return assembly
  }
  const parts = path.split('/').slice(1)
  const last = parts.pop()
  const target = parts.reduce((inside, part) => inside[part], assembly)
  if (act === 'remove') Array.isArray(target) ? target.splice(Number(last), 1) : delete target[last]
  else if (act === 'insert') target.splice(Number(last), 0, structuredClone(value))
  else target[last === '-' ? target.length : last] = structuredClone(value)
  return assembly
}
