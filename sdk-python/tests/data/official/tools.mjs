// A plugin for the official runtime: one tool that gives its text back, so that a test needs nobody else's tools.
export const name = 'protocol-tools'
export const inject = ['tools']
export function apply(ctx) {
  ctx.tools.register({
    name: 'echo',
    description: 'Give a text back.',
    parameters: { type: 'object', properties: { text: { type: 'string' } }, required: ['text'] },
    output: { schema: { type: 'string' }, render: (_arguments, value) => [{ type: 'text', text: value }] },
    execute: async (given) => String(given.text),
  })
}
