// The lines of a log file, plain or gzipped, in bounded memory, without their line ends and without a byte order mark.

import { createReadStream } from 'node:fs';
import { open } from 'node:fs/promises';
import { pipeline, type Readable } from 'node:stream';
import { createGunzip } from 'node:zlib';

/** A longer line is given in part. */
export const maxLineBytes = 65_536;
const newline = 0x0a;

export async function* readLines(path: string): AsyncGenerator<string> {
  let isFirst = true;
  for await (const text of splitLines(await openLog(path))) {
    yield isFirst && text.startsWith('\ufeff') ? text.slice(1) : text;
    isFirst = false;
  }
}

async function openLog(path: string): Promise<Readable> {
  const file = await open(path);
  const { buffer, bytesRead } = await file.read(Buffer.alloc(2), 0, 2, 0);
  await file.close();
  const source = createReadStream(path);
  if (bytesRead < 2 || buffer[0] !== 0x1f || buffer[1] !== 0x8b) return source;
  // An error of either stream ends the reading of the unpacked stream.
  return pipeline(source, createGunzip(), () => {});
}

/** A last line needs no line end. */
async function* splitLines(source: Readable): AsyncGenerator<string> {
  let kept: Buffer[] = [];
  let keptBytes = 0;
  const keep = (part: Buffer): void => {
    const room = Math.max(0, maxLineBytes - keptBytes);
    if (room > 0) kept.push(part.subarray(0, room));
    keptBytes += Math.min(room, part.length);
  };
  const take = (): string => {
    const text = Buffer.concat(kept).toString('utf8');
    kept = [];
    keptBytes = 0;
    return text.endsWith('\r') ? text.slice(0, -1) : text;
  };
  for await (const chunk of source) {
    const bytes: Buffer = chunk;
    let from = 0;
    for (let end = bytes.indexOf(newline); end >= 0; end = bytes.indexOf(newline, from)) {
      keep(bytes.subarray(from, end));
      yield take();
      from = end + 1;
    }
    keep(bytes.subarray(from));
  }
  if (keptBytes > 0) yield take();
}
