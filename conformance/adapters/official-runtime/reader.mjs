// Stored logs, by the reader that the runtime opens sessions with.
import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import zlib from 'node:zlib'
import { attempt, refused } from './answers.mjs'
import { restored } from './logs.mjs'

const LOG_NAME = /^session(?:\.v[1-9][0-9]*)?\.jsonl(\.zstd)?$/
const TYPES_OF_LATER_READERS = new Set(['image/offload', 'workspace/changes'])
const ZSTD_MAGIC = Buffer.from([0x28, 0xb5, 0x2f, 0xfd])

export function readerOps(library) {
  return {
    'path.encode': ({ cwd, id, compressed }) =>
      attempt(() => {
        const located = reader(library, '/root', compressed ? 'zstd' : 'none').locate(defined({ id, cwd }))
        const [file, session, project] = located.path.split('/').reverse()
        return { project, session, file }
      }),
    'seqs.decode': (given) => attempt(() => ({ seqs: decodedSeqs(library, given) })),
    frames: (given) => inFolder((root) => frames(library, stored(library, root, logBytes(given), 'zstd'))),
    check: (given, format) => inFolder((root) => check(library, root, given, format)),
  }
}

// A range list by itself has no reader: it is read as the sources of the last row of a log of ignorable events.
function decodedSeqs(library, { seqs, seq }) {
  const header = { type: 'session', version: library.version, id: 's', createdAt: 1, isSeeded: false, delegationDepth: 0 }
  const restore = library.catalog.sessionFormatCatalog.createRestore(header, { recovery: 'strict', validation: 'transformed' })
  const row = (number) => ({ type: 'x', seq: number, time: 1, data: {}, ignorable: true })
  for (let number = 0; number < seq; number++) restore.decodeRow(row(number))
  restore.decodeRow({ ...row(seq), sourceEventSeqs: seqs })
  return restore.finish().events.at(-1).sourceEventSeqs
}

async function frames(library, { place, header }) {
  try {
    const { events } = await read(library, place)
    const rows = events.map((event) => library.catalog.sessionFormatCatalog.encodeCurrentEvent(event))
    return { ok: { lines: [header, ...rows.map((row) => JSON.stringify(row))] } }
  } catch (error) {
    return refused(error)
  }
}

// A log is sound when the reader takes all of its rows, a session can be built from them, and no value is lost.
async function check(library, root, given, format) {
  if (format < library.version && !(given.events ?? []).some(({ type }) => TYPES_OF_LATER_READERS.has(type))) {
    return { unsupported: 'the release whose own format this is has the say' }
  }
  const located = given.files === undefined ? storedAsGiven(library, root, given) : placed(library, root, given)
  if (located.unsupported) return located
  const answer = await opened(library, located.place)
  // The catalog knows rows of the release's own format; frames are the store's matter.
  return format === library.version && located.place.compression === 'none' ? { ...answer, valid: isValid(library, located.place.bytes) } : answer
}

async function opened(library, place) {
  let log
  try {
    log = await read(library, place)
  } catch (error) {
    return { ...refused(error), readable: false }
  }
  try {
    if (log.dropsRows) throw new Error('the reader drops rows')
    restored(library, log)
    library.format.snapshotSessionFormatJson(log.events, 'events')
    if (library.version === 3) checkAsCurrent(library, log)
  } catch (error) {
    return { ...refused(error), readable: true }
  }
  return { ok: { events: log.events.length } }
}

// Whether the catalog restores every complete row of a log; null for a log that has to be migrated first.
function isValid({ version, catalog: { sessionFormatCatalog: catalog } }, bytes) {
  const rows = text(bytes, 'none').split('\n').slice(0, -1)
  const named = identity(rows[0]).version
  if (named < version && !Object.is(named, -0)) return null
  try {
    const [header, ...events] = rows.map((row) => JSON.parse(row))
    const restore = catalog.createRestore(header, { recovery: 'strict', validation: 'current' })
    for (const event of events) restore.decodeRow(event)
    restore.finish()
    return true
  } catch {
    return false
  }
}

// Release 0.1.5 looks at rules between events only when it validates its own format, which its reader does not ask for.
function checkAsCurrent({ catalog: { sessionFormatCatalog: catalog } }, { header, events, inherited }) {
  const first = catalog.encodeCurrentHeader(header, inherited)
  const restore = catalog.createRestore(first, { recovery: 'strict', validation: 'current' })
  for (const event of events) restore.decodeRow(catalog.encodeCurrentEvent(event))
  restore.finish()
}

// ---- Where a log lies ---------------------------------------------------------------------------

function storedAsGiven(library, root, given) {
  const bytes = logBytes(given)
  return stored(library, root, bytes, bytes.subarray(0, 4).equals(ZSTD_MAGIC) ? 'zstd' : 'none')
}

// A log that is given as bytes, written to the place that its header names.
export function stored(library, root, bytes, compression) {
  const header = text(bytes, compression).split('\n', 1)[0]
  const { id, cwd, version } = identity(header)
  if (id === '' || cwd === '') return { unsupported: 'no store has a place for an empty id or cwd' }
  const folder = path.dirname(reader(library, root, compression).locate(defined({ id, cwd })).path)
  fs.mkdirSync(folder, { recursive: true })
  fs.writeFileSync(path.join(folder, fileName(version ?? library.version, compression)), bytes)
  return { header, place: { root, id, compression, bytes } }
}

// Files that are given with their places.
function placed(library, root, { files, path: opened }) {
  for (const [name, content] of Object.entries(files)) {
    fs.mkdirSync(path.dirname(path.join(root, name)), { recursive: true })
    fs.writeFileSync(path.join(root, name), logBytes(content))
  }
  const file = logFile(path.join(root, opened))
  if (file === undefined) return { place: { root, id: 'none', compression: 'none', bytes: Buffer.alloc(0) } }
  const bytes = fs.readFileSync(file)
  const named = LOG_NAME.exec(path.basename(file))
  // A file of another name is judged by its content alone.
  if (named === null) return storedAsGiven(library, root, { base64: bytes.toString('base64') })
  const folder = path.dirname(file)
  const compression = named[1] === undefined ? 'none' : 'zstd'
  return { place: { root: path.dirname(path.dirname(folder)), id: decoded(path.basename(folder)), compression, bytes } }
}

function logFile(place) {
  if (!fs.existsSync(place)) return undefined
  if (!fs.statSync(place).isDirectory()) return place
  const inside = fs.readdirSync(place).map((name) => path.join(place, name))
  const logs = inside.filter((file) => LOG_NAME.test(path.basename(file)) && fs.statSync(file).isFile())
  if (logs.length > 0) return logs.sort().at(-1)
  return inside.map(logFile).find((found) => found !== undefined)
}

// What the header says about its place; a header that the reader refuses lies anywhere.
function identity(header) {
  let found = {}
  try {
    found = JSON.parse(header) ?? {}
  } catch {}
  const { id, cwd, version } = found
  return {
    id: typeof id === 'string' ? id : 's-1',
    cwd: typeof cwd === 'string' ? cwd : undefined,
    version: Number.isSafeInteger(version) && version >= 0 ? version : undefined,
  }
}

function fileName(version, compression) {
  const generation = version === 0 ? '' : `.v${version}`
  return `session${generation}.jsonl${compression === 'zstd' ? '.zstd' : ''}`
}

function decoded(segment) {
  return segment.replace(/~([0-9A-F]{4})/g, (_, digits) => String.fromCharCode(parseInt(digits, 16)))
}

export function logBytes(given) {
  if (given.base64 !== undefined) return Buffer.from(given.base64, 'base64')
  const lines = given.lines ?? [given.header, ...given.events].map((row) => JSON.stringify(row))
  return Buffer.from(lines.map((line) => line + '\n').join('') + (given.tail ?? ''), 'utf8')
}

// The text of a log, as far as it can be had; of a compressed one frame by frame, the last of which may be torn.
function text(bytes, compression) {
  if (compression === 'none') return bytes.toString('utf8')
  const options = { finishFlush: zlib.constants.ZSTD_e_flush, info: true }
  const parts = []
  try {
    for (let at = 0; at < bytes.length; ) {
      const { buffer, engine } = zlib.zstdDecompressSync(bytes.subarray(at), options)
      parts.push(buffer)
      if (engine.bytesWritten === 0) break
      at += engine.bytesWritten
    }
  } catch {}
  return Buffer.concat(parts).toString('utf8')
}

// ---- The reader ---------------------------------------------------------------------------------

// A copy of the runtime's own store that looks below another folder and remembers nothing.
function reader(library, root, compression) {
  const live = library.ctx.get('sessionPersistence')
  const copy = Object.create(Object.getPrototypeOf(live))
  for (const name of Object.getOwnPropertyNames(live)) {
    Object.defineProperty(copy, name, { value: live[name], writable: true, configurable: true, enumerable: true })
  }
  return Object.assign(copy, {
    root,
    compression,
    rootEncodingCheck: undefined,
    coldLogMemo: new Map(),
    migrationPreparations: new Map(),
    config: { ...live.config, root, compression },
  })
}

export async function read(library, { root, id, compression, bytes }) {
  const store = reader(library, root, compression)
  await store.ensureRootEncoding()
  const { meta, events, inheritedEventCount } = await store.requireStoredLog(id)
  const completeRows = text(bytes, compression).split('\n').length - 2
  return { header: meta, events, inherited: inheritedEventCount, dropsRows: completeRows > events.length }
}

export async function inFolder(work) {
  const root = fs.mkdtempSync(path.join(os.tmpdir(), 'logs-'))
  try {
    return await work(root)
  } finally {
    fs.rmSync(root, { recursive: true, force: true })
  }
}

export function defined(members) {
  return Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined))
}
