// Where the files of a test run are: in memory where the machine has plenty, otherwise in the usual folder. Engines and
// brokers wait for the disk at each insert and each message. What a killed process wrote is there afterwards in both
// places. Tests of a full disk mount a disk of their own.

import { existsSync, mkdtempSync, rmSync, statfsSync } from 'node:fs';
import { join } from 'node:path';

/** Linux keeps the files below it in memory. */
const memoryFolder = '/dev/shm';
/** A run has some hundred megabytes of files at a time; the engines need their memory besides. */
const leastFreeBytes = 6 * 1_024 ** 3;

/** Vitest calls it before a run, once for each project. */
export default function keepTemporaryFilesInMemory() {
  // Whoever names a folder wants the files there.
  if (process.env.TMPDIR !== undefined || !hasRoom()) return;
  const folder = mkdtempSync(join(memoryFolder, 'millrace-tests-'));
  process.env.TMPDIR = folder;
  process.once('exit', () => rmSync(folder, { recursive: true, force: true }));
}

function hasRoom() {
  if (!existsSync(memoryFolder)) return false;
  const { bavail, bsize } = statfsSync(memoryFolder);
  return Math.min(bavail * bsize, process.availableMemory()) >= leastFreeBytes;
}
