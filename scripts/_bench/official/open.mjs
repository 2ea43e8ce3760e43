// What it costs the official library to open a log in full: a plugin that the runtime loads. Prints, as one line of
// JSON, the CPU seconds of this process (its own threads included) for each stage on the file that BENCH_LOG names.
import fs from 'node:fs'

export const name = 'bench-open'

export async function apply(ctx) {
  const get = (name) => ctx.loader.import('@deepseek-ai/dsh-' + name)
  const { Session } = await get('session')
  const { sessionFormatCatalog: catalog } = await get('session-format-catalog')
  const stages = {}
  const timed = (stage, work) => {
    const before = process.cpuUsage()
    const made = work()
    const { user, system } = process.cpuUsage(before)
    stages[stage] = (user + system) / 1e6
    return made
  }
  const lines = timed('read', () => fs.readFileSync(process.env.BENCH_LOG, 'utf8').split('\n').slice(0, -1))
  const [header, ...rows] = timed('parse', () => lines.map((line) => JSON.parse(line)))
  const found = timed('restore', () => restored(catalog, header, rows))
  const session = timed('session', () => opened(Session, found))
  const messages = timed('messages', () => session.deriveMessages())
  timed('header', () => session.requestHeader())
  const result = { stages, events: rows.length, messages: messages.length }
  process.stdout.write(JSON.stringify(result) + '\n', () => process.exit(0))
}

// Every row of the log, as the catalog takes it when it is asked to look at all that it looks at.
function restored(catalog, header, rows) {
  const restore = catalog.createRestore(header, { recovery: 'strict', validation: 'current' })
  for (const row of rows) restore.decodeRow(row)
  return restore.finish()
}

function opened(Session, { header, events, inheritedEventCount }) {
  const { type, ...logical } = header
  return Session.fromRestore(logical.id, events, logical, inheritedEventCount, 'owned', [])
}
