// Writes the files of a backup, so that what is there after a cut of the power is whole, and hashes them while it does.

import { createHash } from 'node:crypto';
import {
  closeSync,
  constants,
  createReadStream,
  fsyncSync,
  linkSync,
  mkdirSync,
  openSync,
  readdirSync,
  renameSync,
  rmSync,
  writeSync,
} from 'node:fs';
import { copyFile as copy } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { SavedFile } from './manifest.ts';

const pieceBytes = 1_048_576;

export function makeDirectory(path: string): void {
  mkdirSync(path, { recursive: true, mode: 0o700 });
}

/** A file that is written piece by piece. */
export interface FileWriter {
  write(piece: Uint8Array): void;
  /** Gives the file the name that `nameOf` makes of its hash. */
  end(nameOf: (sha256: string) => string): SavedFile;
  /** Leaves what was written. */
  abandon(): void;
}

/** Writes into `path` until the end. */
export function openFile(path: string): FileWriter {
  makeDirectory(dirname(path));
  const file = openSync(path, 'w', 0o600);
  const hash = createHash('sha256');
  let bytes = 0;
  return {
    write(piece) {
      for (let from = 0; from < piece.length; ) from += writeSync(file, piece, from);
      hash.update(piece);
      bytes += piece.length;
    },
    end(nameOf) {
      fsyncSync(file);
      closeSync(file);
      const sha256 = hash.digest('hex');
      const name = nameOf(sha256);
      renameSync(path, name);
      syncPath(dirname(name));
      return { bytes, sha256 };
    },
    abandon: () => closeSync(file),
  };
}

/** Reads beside all else: engines that this process watches must not seem silent. Throws where it cannot be read. */
export async function hashFile(path: string): Promise<SavedFile> {
  const hash = createHash('sha256');
  let bytes = 0;
  for await (const piece of createReadStream(path, { highWaterMark: pieceBytes })) {
    hash.update(piece);
    bytes += piece.length;
  }
  return { bytes, sha256: hash.digest('hex') };
}

/** A copy with bytes of its own. */
export async function copyFile(from: string, to: string): Promise<void> {
  await copy(from, to, constants.COPYFILE_FICLONE);
  syncPath(to);
}

/** The same bytes under a second name where both are on one disk, else a copy. */
export async function linkOrCopy(from: string, to: string): Promise<void> {
  try {
    linkSync(from, to);
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && linkRefusals.has(String(error.code)))) {
      throw error;
    }
    await copyFile(from, to);
  }
}

/** Another disk, one without links, and too many of one file. */
const linkRefusals = new Set(['EXDEV', 'EPERM', 'ENOTSUP', 'EMLINK']);

/**
 * Has `fill` write a directory, which is there whole or not at all. Answers with its files. What a killed command has
 * left of it is removed first.
 */
export async function writeDirectory(
  path: string,
  fill: (directory: string) => Promise<void>,
): Promise<Record<string, SavedFile>> {
  const beside = `${path}.part`;
  rmSync(beside, { recursive: true, force: true });
  makeDirectory(beside);
  await fill(beside);
  const files: Record<string, SavedFile> = {};
  for (const name of readdirSync(beside).sort()) files[name] = await hashFile(join(beside, name));
  syncPath(beside);
  rmSync(path, { recursive: true, force: true });
  renameSync(beside, path);
  syncPath(dirname(path));
  return files;
}

export function syncPath(path: string): void {
  const file = openSync(path, 'r');
  try {
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
}
