// The lines of a text in bounded memory, many at a time, without their line ends and without a byte order mark.

import { isAscii } from 'node:buffer';

export interface Line {
  /** From 1. */
  number: number;
  text: string;
}

/** A longer line is given in part. */
export const maxLineBytes = 8 * 1_048_576;
/** Of a log, whose lines are requests. */
export const maxLogLineBytes = 65_536;
const newline = 0x0a;

/** Lines are given in groups of so many. Objects made of larger groups live so long that V8 copies them. */
const linesAtOnce = 64;

/** Those lines that end in one chunk of the text come together, so many at most. A last line needs no line end. */
export async function* readLines(
  source: AsyncIterable<Buffer>,
  maxBytes = maxLineBytes,
): AsyncGenerator<Line[]> {
  let kept: Buffer[] = [];
  let keptBytes = 0;
  let number = 0;
  const keep = (part: Buffer): void => {
    const room = Math.max(0, maxBytes - keptBytes);
    if (room > 0) kept.push(part.subarray(0, room));
    keptBytes += Math.min(room, part.length);
  };
  const joined = (last: Buffer): string => {
    keep(last);
    const text = Buffer.concat(kept).toString('utf8');
    kept = [];
    keptBytes = 0;
    return text;
  };
  const lineOf = (text: string): Line => {
    number++;
    const start = number === 1 && text.startsWith('\ufeff') ? 1 : 0;
    return { number, text: text.slice(start, text.endsWith('\r') ? -1 : undefined) };
  };
  for await (const chunk of source) {
    // Of ASCII the bytes are copied, and not read.
    const encoding = isAscii(chunk) ? 'latin1' : 'utf8';
    let lines: Line[] = [];
    let from = 0;
    for (let end = chunk.indexOf(newline); end >= 0; end = chunk.indexOf(newline, from)) {
      const isWhole = keptBytes === 0 && end - from <= maxBytes;
      const text = isWhole
        ? chunk.toString(encoding, from, end)
        : joined(chunk.subarray(from, end));
      lines.push(lineOf(text));
      from = end + 1;
      if (lines.length < linesAtOnce) continue;
      yield lines;
      lines = [];
    }
    if (from < chunk.length) keep(Buffer.from(chunk.subarray(from)));
    if (lines.length > 0) yield lines;
  }
  if (keptBytes > 0) yield [lineOf(joined(Buffer.alloc(0)))];
}
