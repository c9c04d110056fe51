// Marks a data directory as long as a restore is being made in it. What a killed one has left is removed by the next.

import { existsSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { lockName, restoringName } from '../../platform/engines/data-lock.ts';

/**
 * Marks a locked data directory, and empties it where an earlier restore has left something. Answers whether one has.
 * Throws one sentence where the directory holds anything else.
 */
export function beginRestore(dataDir: string): boolean {
  const mark = join(dataDir, restoringName);
  const again = existsSync(mark);
  const others = readdirSync(dataDir).filter((name) => name !== lockName && name !== restoringName);
  if (!again && others.length > 0) {
    throw new Error(`${dataDir} holds ${others[0]}: restore into an empty data directory`);
  }
  writeFileSync(mark, '', { mode: 0o600 });
  for (const name of others) rmSync(join(dataDir, name), { recursive: true });
  return again;
}

export function endRestore(dataDir: string): void {
  rmSync(join(dataDir, restoringName));
}
