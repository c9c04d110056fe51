// The words by which an operator's command asks every writer to stand still between two batches, while it takes the
// tables as they are at one moment. They are core messages: nobody keeps them, and a writer waits only while they come.

export const writersHoldSubject = 'writers.hold';

export type HoldWord = 'hold' | 'go';

/** A writer goes on by itself so long after the last word: whoever asks says it again and again. */
export const holdLeaseMs = 2_000;
/** The longest that writers stand still, whoever asks; the same time passes before they stand still again. */
export const longestHoldMs = 10_000;

export function readHoldWord(content: Uint8Array): HoldWord | undefined {
  const text = Buffer.from(content).toString('latin1');
  return text === 'hold' || text === 'go' ? text : undefined;
}
