// Payloads, by the check that every event of a format 2 log passes before the library converts it: no later format is looked
// at so closely. It is asked about types that format 2 had, each payload alone and not in its place in a log.

const NAMES_OF_FORMAT_2 = {
  'tool/ptc-dispatch-start': 'tool/code-dispatch-start',
  'tool/ptc-dispatch': 'tool/code-dispatch',
}
// These came by without being part of format 2.
const TAKEN_ALL_THE_SAME = ['feedback/message-delete', 'feedback/message-put']
const SCHEMA = /^session\/v[34]\/event$/
const LONGEST_LOG = 10_000

export function admissionOps(library) {
  if (library.version < 4) return {}
  const types = new Set([...library.eventTypesOfFormat2, ...TAKEN_ALL_THE_SAME])
  return { validate: ({ schema, value }) => admit(library, types, schema, value) }
}

function admit({ conversion }, types, schema, value) {
  if (!SCHEMA.test(schema) || !isObject(value)) return { unsupported: 'it is no event' }
  const event = asOfFormat2(value)
  if (!types.has(event.type)) return { unsupported: 'format 2 did not have the type' }
  const before = Number.isSafeInteger(event.seq) && event.seq >= 0 ? event.seq : 0
  if (before > LONGEST_LOG) return { unsupported: 'the event stands too far behind in its log' }
  const stage = conversion.createStage({ sourceHeader: header(2, event), targetHeader: header(3, event) })
  // As if that many events had been converted, a prompt and an open step among them.
  Object.assign(stage, { mapping: [...Array(before).keys()], targetSeq: before, head: 0, step: { turn: 1, step: 1 } })
  try {
    stage.transformEvent(event, { emitEvent() {} })
    return { ok: { valid: true } }
  } catch (error) {
    return { refused: true, note: String(error?.message ?? error).slice(0, 300) }
  }
}

function header(version, { type, data }) {
  const isSeeded = type === 'session/end-seed' && data?.inherited === true
  return { version, id: 's', createdAt: 1, isSeeded, delegationDepth: 0 }
}

function asOfFormat2(event) {
  const old = { ...event, type: NAMES_OF_FORMAT_2[event.type] ?? event.type }
  const { startSeq: start, endSeq: end, ...operation } = isObject(event.surfaceOp) ? event.surfaceOp : {}
  if (start !== undefined && end !== undefined) old.surfaceOp = { ...operation, start, end }
  if (String(event.type).startsWith('team/') && isObject(event.data)) old.data = teamOfFormat2(event.data)
  return old
}

// Version 1 of a team's payloads is version 2, with a way of delivery in queued messages.
function teamOfFormat2(data) {
  const old = { ...data }
  if (typeof data.version === 'number') old.version = data.version - 1
  if (isObject(data.message)) old.message = { delivery: 'quiet', ...data.message }
  return old
}

function isObject(value) {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
