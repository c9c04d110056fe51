// Opens what a command names: files, folders, archives and standard input. The first bytes tell what a file holds,
// never its name: vendors name Parquet .zst, and people save archives as .gz.

import { createReadStream } from 'node:fs';
import { open, readdir, stat } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { pipeline, type Readable } from 'node:stream';
import { createGunzip } from 'node:zlib';
import { freeMemory } from '../../platform/memory/free-memory.ts';
import { UnreadableFile } from './unreadable-file.ts';
import { entryBytes, readZipEntries, type ZipEntry } from './zip.ts';

/** Hears of the bytes of each chunk that is read, as the file has them. */
export type OnBytes = (bytes: number) => void;

export interface Input {
  /** For a person. */
  name: string;
  /** Of all that is read; 0 where nobody knows. */
  bytes: number;
  content:
    | { kind: 'bytes'; open(onBytes: OnBytes): AsyncIterable<Buffer> }
    | { kind: 'parquet'; path: string };
}

export const standardInput = '-';
/** Of a read: with node's usual 64 KiB, lines cost half as much again. */
const highWaterMark = 262_144;
const maxFiles = 100_000;
const gzipMagic = '1f8b';
const zipMagic = '504b0304';
const parquetMagic = '50415231';
/** What an unreadable file is, by its first bytes in hex. Some forms begin in two ways. */
const unreadable: ReadonlyMap<string, string> = new Map([
  ['28b52ffd', 'packed by zstd: unpack it first with `zstd -d`'],
  ['04224d18', 'packed by lz4: unpack it first with `lz4 -d`'],
  ['fffe', 'in UTF-16, as PowerShell writes with `>`: write it as UTF-8'],
  ['feff', 'in UTF-16: write it as UTF-8'],
]);
/** What is read where it is a file of its own, and not where it is packed in another one. */
const unreadableInside: ReadonlyMap<string, string> = new Map([
  ...unreadable,
  [parquetMagic, 'Parquet, which is read as a file of its own: unpack it first'],
  [zipMagic, 'a zip, which is read as a file of its own: unpack it first'],
]);

const insideGzip: ReadonlyMap<string, string> = new Map([
  ...unreadableInside,
  [gzipMagic, 'gzipped twice: unpack it first with `gunzip`'],
]);

/** The files of the paths, folders and zips taken apart, in the order of their names. Throws an UnreadableFile. */
export async function openInputs(paths: readonly string[]): Promise<Input[]> {
  const inputs: Input[] = [];
  for (const path of paths) {
    if (path === standardInput) inputs.push(fromStandardInput());
    else for (const file of await filesIn(path)) inputs.push(...(await inputsOf(file)));
    if (inputs.length > maxFiles) throw new UnreadableFile(`more than ${maxFiles} files`);
  }
  return inputs;
}

function fromStandardInput(): Input {
  const name = 'standard input';
  return {
    ...{ name, bytes: 0 },
    content: { kind: 'bytes', open: (onBytes) => unpacked(process.stdin, name, onBytes) },
  };
}

async function filesIn(path: string): Promise<string[]> {
  if (!(await stat(path)).isDirectory()) return [path];
  const entries = await readdir(path, { recursive: true, withFileTypes: true });
  return entries
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .filter((file) => !isHidden(relative(path, file)))
    .toSorted();
}

async function inputsOf(path: string): Promise<Input[]> {
  const { size: bytes } = await stat(path);
  const magic = await magicOf(path);
  checkReadable(path, magic, unreadable);
  switch (magic) {
    case parquetMagic:
      return [{ name: path, bytes, content: { kind: 'parquet', path } }];
    case zipMagic: {
      const entries = await readZipEntries(path);
      return entries.filter((entry) => !isHidden(entry.name)).map((entry) => fromZip(path, entry));
    }
    default:
      return [
        {
          ...{ name: path, bytes },
          content: {
            kind: 'bytes',
            open: (onBytes) => unpacked(createReadStream(path, { highWaterMark }), path, onBytes),
          },
        },
      ];
  }
}

function fromZip(path: string, entry: ZipEntry): Input {
  const name = `${path}: ${entry.name}`;
  return {
    ...{ name, bytes: entry.packedBytes },
    content: {
      kind: 'bytes',
      open: (onBytes) => unpacked(entryBytes(path, entry, onBytes), name),
    },
  };
}

/** Systems put files of their own into folders and archives. `./` and `../` name folders, and hide nothing. */
function isHidden(name: string): boolean {
  return /(?:^|\/)(?:\.(?!\.?\/)|__MACOSX\/)/.test(name);
}

function checkReadable(name: string, magic: string, whys: ReadonlyMap<string, string>): void {
  const why = whys.get(magic) ?? whys.get(magic.slice(0, 4));
  if (why !== undefined) throw new UnreadableFile(`${name} is ${why}`);
}

async function magicOf(path: string): Promise<string> {
  const file = await open(path);
  try {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(4), 0, 4, 0);
    return buffer.toString('hex', 0, bytesRead);
  } finally {
    await file.close();
  }
}

/**
 * A gzip of several members, one behind the other, is read to its end. A chunk is valid until the next is asked for.
 */
async function* unpacked(
  source: Readable,
  name: string,
  onBytes: OnBytes = () => {},
): AsyncGenerator<Buffer> {
  const chunks: AsyncIterator<Buffer> = source[Symbol.asyncIterator]();
  const first = await chunks.next();
  if (first.done === true) return;
  const rest = rejoined(first.value, chunks, onBytes);
  checkReadable(name, first.value.toString('hex', 0, 4), unreadableInside);
  if (first.value.toString('hex', 0, 2) !== gzipMagic) {
    for await (const chunk of rest) {
      yield chunk;
      // Whoever asks for more has read it. Small ones share their memory with others.
      if (chunk.length === chunk.buffer.byteLength) freeMemory(chunk);
    }
    return;
  }
  // An error of either stream ends the reading of the unpacked one.
  let isFirst = true;
  for await (const chunk of pipeline(rest, createGunzip(), () => {})) {
    if (isFirst) checkReadable(name, chunk.toString('hex', 0, 4), insideGzip);
    isFirst = false;
    yield chunk;
  }
}

async function* rejoined(
  first: Buffer,
  others: AsyncIterator<Buffer>,
  onBytes: OnBytes,
): AsyncGenerator<Buffer> {
  try {
    onBytes(first.length);
    yield first;
    for (;;) {
      const next = await others.next();
      if (next.done === true) return;
      onBytes(next.value.length);
      yield next.value;
    }
  } finally {
    // Whoever looked at the first rows alone leaves the file.
    await others.return?.();
  }
}
