// The file through which an insert's data reaches chDB, which takes binary data from files only. It lives in the data
// directory as long as its request; the next process removes the files of a killed one.

import { closeSync, mkdirSync, openSync, rmSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { EngineError } from './errors.ts';

const maxUploadBytes = 512 * 1_048_576;

/** Empties the directory; call it once, before the first upload. */
export function clearDirectory(directory: string): void {
  rmSync(directory, { recursive: true, force: true });
  mkdirSync(directory, { recursive: true, mode: 0o700 });
}

/**
 * Writes `data` to a new file, calls `use` with its path, and removes the file in any case. Throws EngineError beyond
 * 512 MiB. Writes are synchronous: they end in the page cache, and the thread pool may be busy with statements.
 */
export async function withUpload<T>(
  directory: string,
  name: string,
  data: AsyncIterable<Buffer>,
  use: (path: string, bytes: number) => T | Promise<T>,
): Promise<T> {
  const path = join(directory, name);
  try {
    const bytes = await writeAll(path, data);
    return await use(path, bytes);
  } finally {
    rmSync(path, { force: true });
  }
}

async function writeAll(path: string, data: AsyncIterable<Buffer>): Promise<number> {
  const file = openSync(path, 'wx', 0o600);
  let bytes = 0;
  try {
    for await (const chunk of data) {
      bytes += chunk.length;
      if (bytes > maxUploadBytes) {
        throw new EngineError(307, 'TOO_MANY_BYTES', `More than ${maxUploadBytes} bytes inserted`);
      }
      for (let written = 0; written < chunk.length; ) written += writeSync(file, chunk, written);
    }
  } finally {
    closeSync(file);
  }
  return bytes;
}
