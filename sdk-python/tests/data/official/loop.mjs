// A plugin for the official runtime: tools that end in every way, and hooks that do what the input asks for.
// `compared_loops.py` has the same for an agent of ours.
export const name = 'protocol-loop'
export const inject = ['agents', 'tools', 'systemPrompt']

export function apply(ctx) {
  const output = { schema: {}, render: (_arguments, value) => [{ type: 'text', text: String(value) }] }
  const tool = (name, execute, more = {}) =>
    ctx.tools.register({ name, description: `Does ${name}.`, parameters: { type: 'object' }, output, execute, ...more })
  const text = { type: 'object', properties: { text: { type: 'string' } }, required: ['text'] }
  tool('echo', async (given) => given.text, { parameters: text })
  tool('fail', async () => { throw new Error('it went wrong') })
  // Slow, so that all of a pool begin before one ends.
  tool('look', async () => { await new Promise((resolve) => setTimeout(resolve, 300)); return 'seen' }, { isConcurrencySafe: () => true })
  tool('note', async (_given, exec) => { exec.deferContext(message('A note.')); return 'noted' })
  tool('conclude', async (_given, exec) => { exec.concludeTurn(); return 'concluded' })
  tool('stop', async (_given, exec) => { exec.agent.cancel({ kind: 'hook', reason: 'the tool' }); return 'stopped' })
  tool('more', async (_given, exec) => { exec.agent.steer(message('Steered.')); return 'steered' })

  const verbose = new Set()
  const prompt = ({ agent }) => (verbose.has(agent) ? 'Be verbose.' : '')
  ctx.systemPrompt.section({ name: 'protocol:prompt', order: 900, text: prompt, interpolate: false })
  const asked = new Map()
  ctx.on('agent/pre-step', async ({ agent, messages }, next) => {
    const words = wordsOf(messages)
    if (messages.length > 0) asked.set(agent, words)
    if (words.includes('verbose')) verbose.add(agent)
    if (words.includes('reject')) return { kind: 'reject' }
    const decision = await next()
    return words.includes('series') ? { ...decision, startsRequestSeries: true } : decision
  })
  ctx.on('agent/request', async ({ agent }, next) => {
    const config = await next()
    return asked.get(agent)?.includes('warm') ? { ...config, temperature: 0.5 } : config
  })
  ctx.on('agent/turn-stopping', ({ agent }) => {
    if (asked.get(agent)?.includes('again')) agent.steer(message('One more.'))
  })
  ctx.on('agent/assistant-stream', ({ agent, frame }) => {
    if (frame.type === 'chunk' && frame.chunk.text?.includes('STOP')) agent.cancel({ kind: 'user' })
  })
}

let count = 0
function message(text) {
  return { content: [{ type: 'text', text }], source: { kind: 'user' }, role: 'user', id: `m-${++count}` }
}

function wordsOf(messages) {
  return messages.flatMap(({ content }) => content).map(({ text }) => text).join(' ')
}
