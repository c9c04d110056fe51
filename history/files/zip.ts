// Reads the entries of a zip archive by its directory, which is at its end. Neither archives beyond 4 GiB nor encrypted
// ones: both are refused.

import { createReadStream } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { pipeline, Readable } from 'node:stream';
import { createInflateRaw } from 'node:zlib';
import { UnreadableFile } from './unreadable-file.ts';

export interface ZipEntry {
  name: string;
  packedBytes: number;
  /** Of its own header in the file. */
  offset: number;
  isDeflated: boolean;
}

const endMagic = 0x06054b50;
const endBytes = 22;
/** An archive's comment has at most this length. */
const maxCommentBytes = 65_535;
/** Of 100,000 entries with long names; a damaged archive may name any length. */
const maxDirectoryBytes = 64 * 1_048_576;
const entryMagic = 0x02014b50;
const entryHeaderBytes = 46;
const localHeaderBytes = 30;
/** In place of a size: it stands elsewhere, in 64 bits. */
const isElsewhere = 0xffff_ffff;
const stored = 0;
const deflated = 8;
const encryptedFlag = 1;

/** The files of the archive that are not empty, in the order of their names. Throws an UnreadableFile. */
export async function readZipEntries(path: string): Promise<ZipEntry[]> {
  const file = await open(path);
  try {
    const directory = await readDirectory(file, path);
    return entriesOf(directory, path).toSorted((one, other) => (one.name < other.name ? -1 : 1));
  } finally {
    await file.close();
  }
}

/** The bytes of an entry, inflated; `onBytes` hears of the packed ones. */
export function entryBytes(
  path: string,
  entry: ZipEntry,
  onBytes: (bytes: number) => void,
): Readable {
  const packed = Readable.from(packedBytes(path, entry, onBytes));
  return entry.isDeflated ? pipeline(packed, createInflateRaw(), () => {}) : packed;
}

async function* packedBytes(
  path: string,
  entry: ZipEntry,
  onBytes: (bytes: number) => void,
): AsyncGenerator<Buffer> {
  const file = await open(path);
  const header = await readAt(file, entry.offset, localHeaderBytes).finally(() => file.close());
  // The names and extra fields here may have other lengths than those in the directory.
  const start = entry.offset + localHeaderBytes + header.readUInt16LE(26) + header.readUInt16LE(28);
  for await (const chunk of createReadStream(path, { start, end: start + entry.packedBytes - 1 })) {
    onBytes(chunk.length);
    yield chunk;
  }
}

async function readDirectory(file: FileHandle, path: string): Promise<Buffer> {
  const { size } = await file.stat();
  const tailBytes = Math.min(size, endBytes + maxCommentBytes);
  const tail = await readAt(file, size - tailBytes, tailBytes);
  for (let at = tail.length - endBytes; at >= 0; at--) {
    if (tail.readUInt32LE(at) !== endMagic) continue;
    const bytes = tail.readUInt32LE(at + 12);
    const offset = tail.readUInt32LE(at + 16);
    if (offset === isElsewhere || bytes > maxDirectoryBytes) break;
    return readAt(file, offset, bytes);
  }
  throw new UnreadableFile(
    `${path} is no whole zip of less than 4 GiB: unpack it, and name the folder`,
  );
}

function entriesOf(directory: Buffer, path: string): ZipEntry[] {
  const entries: ZipEntry[] = [];
  let at = 0;
  while (at + entryHeaderBytes <= directory.length && directory.readUInt32LE(at) === entryMagic) {
    const method = directory.readUInt16LE(at + 10);
    const packedBytes = directory.readUInt32LE(at + 20);
    const nameEnd = at + entryHeaderBytes + directory.readUInt16LE(at + 28);
    const name = directory.toString('utf8', at + entryHeaderBytes, nameEnd);
    const offset = directory.readUInt32LE(at + 42);
    const isKnown = method === stored || method === deflated;
    const isEncrypted = (directory.readUInt16LE(at + 8) & encryptedFlag) !== 0;
    const isLarge = packedBytes === isElsewhere || offset === isElsewhere;
    if (!isKnown || isEncrypted || isLarge) {
      throw new UnreadableFile(
        `${path} holds ${name}, which cannot be unpacked here: unpack it first`,
      );
    }
    if (packedBytes > 0 && directory.readUInt32LE(at + 24) > 0) {
      entries.push({ name, packedBytes, offset, isDeflated: method === deflated });
    }
    at = nameEnd + directory.readUInt16LE(at + 30) + directory.readUInt16LE(at + 32);
  }
  return entries;
}

async function readAt(file: FileHandle, position: number, bytes: number): Promise<Buffer> {
  const { buffer, bytesRead } = await file.read(Buffer.alloc(bytes), 0, bytes, position);
  return buffer.subarray(0, bytesRead);
}
