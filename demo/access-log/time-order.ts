// Puts the lines of a log into the order of time, as far as a bounded memory reaches: the batches of a log that was
// joined from several files would else have events of many years, and each year of a batch is a part of its own.

import type { LogLine } from './log-line.ts';

export interface TakenLine {
  readonly line: LogLine;
  readonly text: string;
}

/** Some 100 MB with their parsed fields. */
const maxHeldLines = 100_000;
const maxHeldCharacters = 33_554_432;

/** Orders each stretch of lines that fits; lines of one moment stay in their order. */
export async function* inTimeOrder(
  lines: AsyncIterable<TakenLine>,
  maxLines = maxHeldLines,
): AsyncGenerator<TakenLine> {
  let held: TakenLine[] = [];
  let characters = 0;
  for await (const taken of lines) {
    held.push(taken);
    characters += taken.text.length;
    if (held.length < maxLines && characters < maxHeldCharacters) continue;
    yield* ordered(held);
    held = [];
    characters = 0;
  }
  yield* ordered(held);
}

function ordered(lines: TakenLine[]): TakenLine[] {
  return lines.sort((one, other) => one.line.timeMs - other.line.timeMs);
}
