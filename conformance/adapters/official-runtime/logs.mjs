// What logical events amount to: a Session of the library, built from them.
import { attempt } from './answers.mjs'

export function logOps(library) {
  const of = (value) => (given) => attempt(() => value(restored(library, given)))
  const ops = {
    fold: of(({ surface }) => ({
      nodes: [...surface.nodes],
      replaceGeneration: surface.replaceGeneration,
      // Release 0.1.5 has no other changes of what messages say than replacements.
      contentGeneration: surface.contentGeneration ?? surface.replaceGeneration,
    })),
    messages: of((session) => session.deriveMessages()),
    'header.fold': of((session) => ({ header: session.requestHeader() ?? null })),
  }
  return library.version >= 4 ? { ...ops, 'tools.history': of((session) => session.toolHistory()) } : ops
}

// A session as it is after a restart, from the events that a reader gave.
export function restored({ session, projections }, { header, events }) {
  const { type, ...logical } = header
  const inherited = logical.isSeeded ? inheritedCount(events) : 0
  return session.Session.fromRestore(logical.id, structuredClone(events), logical, inherited, 'owned', projections)
}

function inheritedCount(events) {
  const marker = events.findLast((event) => event.type === 'session/end-seed' && event.data?.inherited === true)
  return marker?.seq ?? 0
}
