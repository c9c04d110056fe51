// Tells a data directory that a restore is being made in, or that a restore has left when it was killed. A start on it
// would take what is there for all.

import { existsSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const markName = 'restoring';
const lockName = 'millrace.lock';

/** Throws one sentence where a restore has not been finished. */
export function refuseHalfRestored(dataDir: string): void {
  if (!existsSync(join(dataDir, markName))) return;
  throw new Error(
    `the restore into ${dataDir} was not finished: run the same restore again, or remove the directory`,
  );
}

/**
 * Marks a locked data directory, and empties it where an earlier restore has left something. Answers whether one has.
 * Throws one sentence where the directory holds anything else.
 */
export function beginRestore(dataDir: string): boolean {
  const mark = join(dataDir, markName);
  const again = existsSync(mark);
  const others = readdirSync(dataDir).filter((name) => name !== lockName && name !== markName);
  if (!again && others.length > 0) {
    throw new Error(`${dataDir} holds ${others[0]}: restore into an empty data directory`);
  }
  writeFileSync(mark, '', { mode: 0o600 });
  for (const name of others) rmSync(join(dataDir, name), { recursive: true });
  return again;
}

export function endRestore(dataDir: string): void {
  rmSync(join(dataDir, markName));
}
