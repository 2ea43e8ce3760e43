// Plain values: JSON text, ranges of numbers, request headers, assistant streams.
import { attempt } from './answers.mjs'

export function valueOps({ session, format, llm }) {
  return {
    // The library's own question whether a value survives being written.
    'json.roundtrip': ({ text }) =>
      attempt(() => ({ text: JSON.stringify(format.snapshotSessionFormatJson(JSON.parse(text), 'value')) })),
    'seqs.encode': ({ seqs }) => attempt(() => ({ seqs: session.encodeSeqRanges(seqs) })),
    'header.canonical': ({ header }) =>
      attempt(() => {
        const canonical = session.canonicalHeader(header)
        return { header: canonical, text: JSON.stringify(canonical) }
      }),
    'header.equals': ({ a, b }) =>
      attempt(() => ({ equal: session.headerEquals(session.canonicalHeader(a), session.canonicalHeader(b)) })),
    'stream.accumulate': ({ chunks }) =>
      attempt(() => {
        const accumulator = new llm.AssistantStreamAccumulator()
        for (const chunk of chunks) accumulator.push(chunk)
        return { stream: accumulator.snapshot() }
      }),
    'stream.expand': ({ stream }) => attempt(() => ({ chunks: [...llm.expandAssistantStream(stream)] })),
    'stream.assemble': ({ stream }) =>
      attempt(() => {
        const assembler = llm.assembleAssistantStream(stream)
        return {
          content: assembler.blocks(),
          finish: assembler.finish,
          interrupted: assembler.interruptedBlocks(),
          usage: assembler.usage,
          replayState: assembler.replayState,
        }
      }),
  }
}
