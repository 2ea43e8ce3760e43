// Tools: the registry of the library, step by step, as the one tool provider of a prompt service; and its schemas.
import { Thrown, World, isProducer, signalOf } from './world.mjs'
import { promptSteps } from './prompt.mjs'

export function toolOps(library) {
  if (library.version < 4) return {}
  return {
    'tools.run': (given) => new World(library, { ...promptSteps, ...toolSteps }).answers(given),
    'tools.schema': (given) => {
      try {
        return { ok: asks[given.ask](library.tools, given) }
      } catch (error) {
        if (error.code !== 'UNSUPPORTED_SCHEMA') throw error
        return { refused: { text: error.message } }
      }
    },
  }
}

const asks = {
  subset: (tools, { schema }) => tools.assertSupportedJsonSchema(schema) ?? {},
  object: (tools, { schema }) => tools.assertObjectJsonSchema(schema) ?? {},
  parameters: (tools, { parameters }) => written(tools.parameterSchemaSpecToJsonSchema(parameters)),
  value: (tools, { value }) => written(tools.valueSchemaSpecToJsonSchema(value)),
  validate: (tools, { schema, value, path }) => ({ violations: tools.validateJsonSchemaValue(schema, value, path) }),
  arguments: (tools, given) => ({ violations: tools.validateJsonSchemaValue(given.schema, given.arguments, '') }),
}

function written(schema) {
  return { schema, text: JSON.stringify(schema) }
}

const toolSteps = {
  async start(world, { config = {}, tools = {} }) {
    const { ToolRuntime } = world.library.tools
    await world.start(config, { plugin: ToolRuntime, settings: tools, service: 'tools' }, { plugin: world.library.timeouts })
  },
  register: (world, step) => world.keep(step, (ctx) => ctx.tools.register(definition(world, step.tool))),
  restrict: (world, step) => world.keep(step, (ctx) => ctx.tools.restrict(picked(step, ['allow', 'deny']))),
  present: (world, step) => world.keep(step, (ctx) => ctx.tools.presentAs(step.mode)),
  schemas: (world, { scope }) => {
    const schemas = world.ctx().tools.schemas(world.key(scope))
    return { schemas, text: JSON.stringify(schemas) }
  },
  provide: (world, { scope }) => world.ctx().tools.wireSchemas(world.key(scope)),
  mode: (world, { scope, call }) => world.ctx().tools.executionMode(execution(world, scope, call)),
  guard: (world, step) => world.keep(step, (ctx) => ctx.tools.guard(() => step.reason ?? undefined)),
  pre: (world, step) => world.keep(step, (ctx) => ctx.on('tools/pre-execute', decided(world, step, 'pre'), where(step))),
  post: (world, step) => world.keep(step, (ctx) => ctx.on('tools/post-execute', decided(world, step, 'post'), where(step))),
  around: (world, step) => world.keep(step, (ctx) => ctx.on('tools/execute', around(world, step), where(step))),
  'on-result': (world, step) => world.keep(step, (ctx) => ctx.on('tools/result', () => world.note(step.as))),
  approval(world, { outcome }) {
    world.root.provide('approval', { request: async () => outcome })
  },
  async execute(world, { scope, call, signal }) {
    world.controller = new AbortController()
    if (signal === 'aborted') world.controller.abort()
    const result = await world.ctx().tools.execute(execution(world, scope, call, world.controller.signal))
    // Members without a value are not there.
    return JSON.parse(JSON.stringify(result))
  },
}

function where({ prepend, global }) {
  return { prepend: prepend === true, global: global === true }
}

function execution(world, scope, call, signal = signalOf('open')) {
  const agent = world.key(scope)
  return { ...call, signal, ...(agent === undefined ? {} : { agent }) }
}

function picked(from, names) {
  return Object.fromEntries(names.filter((name) => name in from).map((name) => [name, from[name]]))
}

// A tool definition in which functions stand for what a case says that they do.
function definition(world, { typed, execute, output, ...others }) {
  const made = { ...others, execute: body(world, execute ?? {}) }
  if (output !== undefined) made.output = outputOf(world, output)
  for (const name of ['projectContent', 'finalizeContent']) {
    if (name in made) made[name] = returning(world, made[name])
  }
  if ('isConcurrencySafe' in made) made.isConcurrencySafe = returning(world, made.isConcurrencySafe)
  return typed ? world.library.tools.defineTool(made) : made
}

function outputOf(world, output) {
  if (output === null || typeof output !== 'object' || output.render === null) return output
  const render = output.render === undefined ? (_args, value) => [shown(value)] : returning(world, output.render)
  const meta = 'presentationMeta' in output ? { presentationMeta: returning(world, output.presentationMeta) } : {}
  return { ...output, render, ...meta }
}

function shown(value) {
  return { type: 'text', text: typeof value === 'string' ? value : JSON.stringify(value) }
}

function returning(world, given) {
  return isProducer(given) ? world.function(given) : () => structuredClone(given)
}

function body(world, { as, returns, echo, throws, waits, aborts, defers = [], concludes }) {
  return async (args, exec) => {
    world.note(as)
    for (const message of defers) exec.deferContext(message)
    if (concludes) exec.concludeTurn()
    if (aborts) world.controller.abort()
    if (waits) await aborted(exec.signal)
    if (throws !== undefined) throw new Thrown(throws)
    return echo ? args : returns
  }
}

function aborted(signal) {
  if (signal.aborted) return Promise.resolve()
  return new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true }))
}

function decided(world, { as, decision, aborts }, kind) {
  return async (...args) => {
    const next = args[kind === 'pre' ? 1 : 2]
    world.note(as)
    if (aborts) world.controller.abort()
    if (decision === 'next') return next()
    if (decision.throws !== undefined) throw new Thrown(decision.throws)
    return structuredClone(decision)
  }
}

function around(world, { as, result, throws }) {
  return async (_exec, next) => {
    world.note(as)
    if (throws !== undefined) throw new Thrown(throws)
    return result === undefined ? next() : structuredClone(result)
  }
}
