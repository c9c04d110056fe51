// Marks a data directory as long as a restore is being made in it, with the servers that were empty when it began: what
// a killed restore has left there and in the directory is the next one's to remove, and nothing else is.

import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { lockName, restoringName } from '../../platform/engines/data-lock.ts';

/** Without users and passwords. */
export interface RestoreTargets {
  broker: string;
  store: string;
}

const markOf = (dataDir: string): string => join(dataDir, restoringName);

/**
 * Marks a locked data directory, and empties it where an earlier restore has left something. Answers with the servers
 * of that one. Throws one sentence where the directory holds anything else.
 */
export function beginRestore(dataDir: string): RestoreTargets | undefined {
  const mark = markOf(dataDir);
  const again = existsSync(mark);
  const before = again ? readTargets(mark) : undefined;
  const others = readdirSync(dataDir).filter((name) => name !== lockName && name !== restoringName);
  if (!again && others.length > 0) {
    throw new Error(`${dataDir} holds ${others[0]}: restore into an empty data directory`);
  }
  if (!again) writeFileSync(mark, '', { mode: 0o600 });
  for (const name of others) rmSync(join(dataDir, name), { recursive: true });
  return before;
}

/** Notes the servers, once they were found empty. */
export function noteTargets(dataDir: string, targets: RestoreTargets): void {
  writeFileSync(markOf(dataDir), JSON.stringify(targets), { mode: 0o600 });
}

export function endRestore(dataDir: string): void {
  rmSync(markOf(dataDir));
}

/** Where a server of one's own is; of embedded engines, which the directory has, the same word. */
export function placeOf(url: string | undefined): string {
  return url === undefined ? 'embedded' : url.replaceAll(/\/\/[^/@]*@/g, '//').replace(/\?.*$/, '');
}

/** Undefined of a restore that was cut before. */
function readTargets(mark: string): RestoreTargets | undefined {
  const text = readFileSync(mark, 'utf8');
  if (text === '') return undefined;
  const { broker, store }: Partial<RestoreTargets> = JSON.parse(text);
  return broker === undefined || store === undefined ? undefined : { broker, store };
}
