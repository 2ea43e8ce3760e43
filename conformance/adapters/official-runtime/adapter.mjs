// A conformance adapter that asks the official library. The official runtime loads it as a plugin; it then
// reads requests from standard input and writes answers to standard output, one line of JSON each, until the
// input ends. ../messages.schema.json describes the lines, README.md how to start it.

import process from 'node:process'
import readline from 'node:readline'

export const name = 'conformance-adapter'

/** Called by the runtime, which waits for it: nothing else of the runtime starts before the process ends. */
export async function apply(ctx) {
  const library = await load(ctx)
  say({ adapter: 'official-runtime', formats: FORMATS })
  for await (const line of readline.createInterface({ input: process.stdin })) {
    say(answer(library, JSON.parse(line)))
  }
  process.exit(0)
}

/** The formats that each op can be asked about. Older ones are read through the catalog alone. */
const FORMATS = { check: [3, 4], fold: [4], messages: [4] }

const OPS = { check, fold, messages }

function answer(library, { id, op, input }) {
  if (OPS[op] === undefined) return { id, unsupported: `no op ${op}` }
  try {
    const version = headerOf(input)?.version
    if (version < Math.min(...FORMATS[op])) return { id, unsupported: `format ${version}` }
    return { id, ok: OPS[op](library, input) }
  } catch (error) {
    return { id, refused: { name: String(error?.name), message: String(error?.message) } }
  }
}

// ---- Ops ------------------------------------------------------------------------------------------

/** The whole log by every rule that the library has for a stored one, relations between events included. */
function check(library, input) {
  return { events: restore(library, input, 'current').events.length }
}

function fold(library, input) {
  const { nodes, replaceGeneration, contentGeneration } = session(library, input).surface
  return { nodes: [...nodes], replaceGeneration, contentGeneration }
}

function messages(library, input) {
  return session(library, input).deriveMessages()
}

// ---- The library ----------------------------------------------------------------------------------

async function load(ctx) {
  const module = (package_) => ctx.loader.import(`@deepseek-ai/${package_}`)
  const [{ Session }, catalogs, offload] = await Promise.all(
    ['dsh-session', 'dsh-session-format-catalog', 'dsh-compaction-image-offload'].map(module),
  )
  return { Session, catalogs, projections: projectionsOf(offload) }
}

/** What the plugin for offloaded images would register with a running session host. */
function projectionsOf(offload) {
  const found = []
  offload.apply({ sessions: { registerMessageProjection: (one) => found.push(one) }, on() {} })
  return found
}

/** Stored rows to events; nothing is repaired and no row is dropped. */
function restore({ catalogs }, input, validation) {
  const header = headerOf(input)
  const current = catalogs.sessionFormatCatalog
  const catalog = header?.version < current.currentVersion ? catalogs.historicalSessionFormatCatalog : current
  const restoring = catalog.createRestore(header, { recovery: 'strict', validation })
  for (const row of rowsOf(input)) restoring.decodeRow(row)
  return restoring.finish()
}

function session(library, input) {
  const restored = input.lines === undefined ? held(input) : restore(library, input, 'transformed')
  const { header, events, inheritedEventCount } = restored
  return library.Session.fromRestore(
    header.id,
    events,
    header,
    inheritedEventCount,
    'owned',
    library.projections,
  )
}

/** Events as a program holds them are no stored rows; the marker of a seed says how many are inherited. */
function held({ header: { type, ...header }, events }) {
  const marker = events.findLast(({ type, data }) => type === 'session/end-seed' && data?.inherited === true)
  return { header, events, inheritedEventCount: marker?.seq ?? 0 }
}

// ---- Logs and lines -------------------------------------------------------------------------------

function headerOf(input) {
  return input.lines === undefined ? input.header : JSON.parse(input.lines[0])
}

function rowsOf(input) {
  return input.lines === undefined ? input.events : input.lines.slice(1).map((line) => JSON.parse(line))
}

function say(message) {
  process.stdout.write(JSON.stringify(message) + '\n')
}
