// What a live session takes, what a fork inherits, what ends an interrupted turn.
import { attempt, refusedWithCode } from './answers.mjs'
import { restored } from './logs.mjs'

export function writingOps(library) {
  return {
    append: (given) => attempt(() => append(restored(library, given), given.append)),
    fork: ({ events, boundary }) => {
      try {
        return { ok: fork(library.session, events, boundary) }
      } catch (error) {
        return refusedWithCode(error)
      }
    },
    repair: ({ events }) => attempt(() => ({ events: library.session.interruptedTurnClosers(events) })),
  }
}

function append(live, { type, data, ...metadata }) {
  const { seq } = live.append(type, data, metadata)
  return { seq, nodes: [...live.surface.nodes], replaceGeneration: live.surface.replaceGeneration }
}

// The parts of the session store's own fork: a store would announce each child on standard output.
function fork({ SessionStore, buildForkSeed }, events, boundary) {
  const store = SessionStore.prototype
  if (buildForkSeed === undefined) return { inherited: store._forkSeed(source(events), boundary).length, added: [] }
  const last = store._forkBoundary('source', events, boundary)
  if (last === undefined) return { inherited: 0, added: [] }
  return { inherited: last + 1, added: buildForkSeed(events, last).slice(last + 1) }
}

// What the store asks of the session that is forked.
function source(events) {
  return {
    id: 'source',
    seq: events.length,
    eventAt: (seq) => events[seq],
    snapshotEvents: (from = 0, to = events.length) => events.slice(from, to),
  }
}
