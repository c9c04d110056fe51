// Where the files of a test run are: in memory where the machine has plenty, otherwise in the usual folder. Engines and
// brokers wait for the disk at each insert and each message. What a killed process wrote is there afterwards in both
// places. Tests of a full disk mount a disk of their own.

import { existsSync, mkdtempSync, rmSync, statfsSync } from 'node:fs';
import { join } from 'node:path';

/** Linux keeps the files below it in memory. */
const memoryFolder = '/dev/shm';
/** A run has some hundred megabytes of files at a time; the engines need their memory besides. */
const leastFreeBytes = 6 * 1_024 ** 3;
/** Two seconds of tries at the end of a run. */
const maxTries = 20;
const pauseMs = 100;

/** Vitest calls it before a run, once for each project. */
export default function keepTemporaryFilesInMemory() {
  // Whoever names a folder wants the files there.
  if (process.env.TMPDIR !== undefined || !hasRoom()) return;
  const folder = mkdtempSync(join(memoryFolder, 'millrace-tests-'));
  process.env.TMPDIR = folder;
  process.once('exit', () => removeAtEnd(folder));
}

/**
 * An engine of a worker that was ended may still write for a moment: the next try removes what it wrote, which would
 * stay in memory.
 */
function removeAtEnd(folder) {
  const paused = new Int32Array(new SharedArrayBuffer(4));
  for (let tries = 0; tries < maxTries; tries++) {
    try {
      rmSync(folder, { recursive: true, force: true });
      return;
    } catch {
      Atomics.wait(paused, 0, 0, pauseMs);
    }
  }
}

function hasRoom() {
  if (!existsSync(memoryFolder)) return false;
  const { bavail, bsize } = statfsSync(memoryFolder);
  return Math.min(bavail * bsize, process.availableMemory()) >= leastFreeBytes;
}
