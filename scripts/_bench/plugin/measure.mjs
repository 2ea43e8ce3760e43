// What the official library needs for a piece of work: a plugin that the runtime loads. Prints the CPU seconds of this process, all
// of its threads included, as one line of JSON. BENCH_LOG names a log to open in full; without it a fold is measured.
import fs from 'node:fs'

const NODES = 100_000
const REPLACEMENTS = 1000

export const name = 'bench'

export async function apply(ctx) {
  const get = (name) => ctx.loader.import('@deepseek-ai/dsh-' + name)
  const library = { session: await get('session'), catalog: await get('session-format-catalog') }
  const log = process.env.BENCH_LOG
  const work = log === undefined ? folding(library) : opening(library, log)
  const before = process.cpuUsage()
  const seen = work()
  const { user, system } = process.cpuUsage(before)
  process.stdout.write(JSON.stringify({ seconds: (user + system) / 1e6, seen }) + '\n', () => process.exit(0))
}

// Open: read and parse every row, let the catalog restore them with all of its checks, build the session and derive what a
// request needs.
function opening({ session: { Session }, catalog: { sessionFormatCatalog: catalog } }, log) {
  return () => {
    const lines = fs.readFileSync(log, 'utf8').split('\n').slice(0, -1)
    const [first, ...rows] = lines.map((line) => JSON.parse(line))
    const restore = catalog.createRestore(first, { recovery: 'strict', validation: 'current' })
    for (const row of rows) restore.decodeRow(row)
    const { header, events, inheritedEventCount } = restore.finish()
    const { type, ...logical } = header
    const session = Session.fromRestore(logical.id, events, logical, inheritedEventCount, 'owned', [])
    session.requestHeader()
    return session.deriveMessages().length
  }
}

// Fold: as many appends, and replacements near the end.
function folding({ session: { foldSurface } }) {
  const events = Array.from({ length: NODES }, (_, seq) => message(seq, 'append', {}))
  for (let node = NODES - REPLACEMENTS; node < NODES; node++) {
    const surfaceOp = { op: 'replace', startSeq: node, endSeq: node }
    events.push(message(node + REPLACEMENTS, surfaceOp, { sourceEventSeqs: [node] }))
  }
  return () => foldSurface(events, []).nodes.length
}

function message(seq, surfaceOp, more) {
  const data = { content: [{ type: 'text', text: 'x' }], source: { kind: 'user' }, role: 'user', id: `m${seq}` }
  return { type: 'user/message', seq, time: 1_700_000_000_000, data, surfaceOp, ...more }
}
