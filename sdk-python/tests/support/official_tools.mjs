// Answers questions about tools with the official library, a line of JSON each; loaded by the official runtime as a plugin.
import readline from 'node:readline'

export const name = 'official-tools'
export const inject = ['tools']

export async function apply(ctx) {
  const tools = await ctx.loader.import('@deepseek-ai/dsh-tools')
  const { HarnessError } = await ctx.loader.import('@deepseek-ai/dsh-llm')
  const timeouts = await ctx.loader.import('@deepseek-ai/dsh-tool-call-timeout-policy')
  const asks = {
    subset: ({ schema }) => tools.assertSupportedJsonSchema(schema),
    object: ({ schema }) => tools.assertObjectJsonSchema(schema),
    parameters: ({ node }) => JSON.stringify(tools.parameterSchemaSpecToJsonSchema(node)),
    value: ({ node }) => JSON.stringify(tools.valueSchemaSpecToJsonSchema(node)),
    validate: ({ schema, value, path }) => tools.validateJsonSchemaValue(schema, value, path),
    run: (scenario) => run(ctx, tools, HarnessError, timeouts, scenario),
  }
  process.stdout.write('"ready"\n')
  for await (const line of readline.createInterface({ input: process.stdin })) {
    const { ask, ...question } = JSON.parse(line)
    let answer
    try {
      answer = { answer: (await asks[ask](question)) ?? null }
    } catch (error) {
      answer = { code: error.code ?? error.name, violations: error.violations, message: error.message }
    }
    process.stdout.write(ascii(JSON.stringify(answer)) + '\n')
  }
  process.exit(0)
}

function ascii(text) {
  return text.replace(/[\x7f-\uffff]/g, (unit) => '\\u' + unit.charCodeAt(0).toString(16).padStart(4, '0'))
}

// One call of one tool, inside listeners that do what the scenario says; see `official_tools.py`.
async function run(ctx, tools, HarnessError, timeouts, scenario) {
  const controller = new AbortController()
  const notes = []
  const undo = []
  const context = { controller, notes, HarnessError }
  if (scenario.tool !== null) undo.push(ctx.tools.register(definition(tools, scenario.tool, context)))
  for (const act of scenario.pre ?? []) undo.push(ctx.on('tools/pre-execute', (exec, next) => decide(act, next, context)))
  for (const act of scenario.guards ?? []) undo.push(ctx.tools.guard(() => perform(act, context) ?? undefined))
  if (scenario.tool?.timeoutMs !== undefined) {
    timeouts.apply({ tools: ctx.tools, on: (...listener) => undo.push(ctx.on(...listener)) })
  }
  for (const act of scenario.around ?? []) undo.push(ctx.on('tools/execute', (exec, next) => decide(act, next, context)))
  for (const act of scenario.post ?? []) {
    undo.push(ctx.on('tools/post-execute', (exec, result, next) => {
      notes.push(['post', result.isError])
      return decide(act, next, context)
    }))
  }
  undo.push(ctx.on('tools/result', (exec, result) => { notes.push(['result', exec.callId, result.isError]) }))
  if (scenario.signal === 'aborted') controller.abort()
  const mode = ctx.tools.executionMode({ name: scenario.call.name, arguments: scenario.call.arguments })
  try {
    const result = await ctx.tools.execute({ ...scenario.call, signal: controller.signal })
    return { text: JSON.stringify(result), notes, mode: mode.kind }
  } finally {
    for (const each of undo.reverse()) each()
  }
}

function definition(tools, { typed, body, output, projectContent, finalizeContent, isConcurrencySafe, ...tool }, context) {
  const { render, presentationMeta, schema } = output
  const made = {
    ...tool,
    output: {
      schema,
      render: (args, value) => (render === undefined ? [{ type: 'text', text: JSON.stringify(value) }] : perform(render, context)),
      ...(presentationMeta === undefined ? {} : { presentationMeta: () => perform(presentationMeta, context) }),
    },
    execute: async (args, exec) => {
      for (const message of body.defers ?? []) exec.deferContext(message)
      if (body.concludes) exec.concludeTurn()
      if (body.waits) await new Promise((resolve) => exec.signal.addEventListener('abort', resolve))
      return body.echo ? args : perform(body, context)
    },
    ...(projectContent === undefined ? {} : { projectContent: () => perform(projectContent, context) ?? undefined }),
    ...(finalizeContent === undefined ? {} : { finalizeContent: () => perform(finalizeContent, context) ?? undefined }),
    ...(isConcurrencySafe === undefined ? {} : { isConcurrencySafe: () => perform(isConcurrencySafe, context) }),
  }
  return typed ? tools.defineTool(made) : made
}

function perform({ returns, throws, coded, aborts, notes }, context) {
  if (notes !== undefined) context.notes.push(notes)
  if (aborts) context.controller.abort()
  if (throws !== undefined) throw new Error(throws)
  if (coded !== undefined) throw Object.assign(new context.HarnessError(coded.message, coded.code), { name: coded.name })
  return returns
}

// What a listener returns: the outcome of `next()` for the act `passes`, a result of its own where it has `result`.
async function decide(act, next, context) {
  if (act.first) await next()
  const returned = perform(act, context)
  return act.passes ? next() : returned
}
