// Keeps other users of the machine out of the data directory. What it holds that is secret is 0600 or in directories of
// 0700 (keys, passwords of the engines, events, mails); the directory's own mode also covers what anybody adds, such as
// a copy, and the names.

import { chmodSync, readdirSync, statSync } from 'node:fs';
import type { Log } from '../log.ts';

export type Privacy =
  /** It was private already. */
  | { kind: 'private' }
  /** It is now; `mode` is the former one in octal. */
  | { kind: 'made_private'; mode: string }
  /** Others may enter or read it, and it was left so. */
  | { kind: 'open'; mode: string; why: string };

/** Directories of ours; the last is every disk's own. */
const ownDirectories = new Set(['nats', 'clickhouse', 'mail', 'lost+found']);

/** Makes it private, and says so in one line; one line too where it stays open. */
export function keepPrivate(dataDir: string, log: Log): void {
  const privacy = makePrivate(dataDir);
  switch (privacy.kind) {
    case 'private':
      return;
    case 'made_private':
      log.info({ dataDir, mode: privacy.mode }, 'the data directory was open to others: now 0700');
      return;
    case 'open': {
      const { mode, why } = privacy;
      log.warn(
        { dataDir, mode, why },
        'others may enter the data directory: make it the own directory of this user, with the mode 0700',
      );
      return;
    }
    default:
      privacy satisfies never;
  }
}

/**
 * Gives the directory, or the one that a symbolic link leads to, the mode 0700. Leaves it where that is not ours to do.
 * `chmod` is for tests.
 */
export function makePrivate(directory: string, chmod = chmodSync): Privacy {
  const before = statSync(directory);
  const isOurs = before.uid === process.getuid?.();
  if (isPrivate(before.mode) && isOurs) return { kind: 'private' };
  const mode = (before.mode & 0o7777).toString(8).padStart(4, '0');
  const open = (why: string): Privacy => ({ kind: 'open', mode, why });
  if (!isOurs) return open('it belongs to another user');
  // Started by root with /var/lib or the like, we would lock everybody out of it.
  if (hasOthersDirectories(directory)) return open('it holds directories that are not ours');
  try {
    chmod(directory, 0o700);
  } catch (error) {
    const code = error instanceof Error ? Reflect.get(error, 'code') : undefined;
    return open(`its mode cannot be changed (${String(code)})`);
  }
  // Some mounts give every file one mode, and say nothing.
  if (!isPrivate(statSync(directory).mode)) return open('its disk gives every file one mode');
  return { kind: 'made_private', mode };
}

function isPrivate(mode: number): boolean {
  return (mode & 0o077) === 0;
}

function hasOthersDirectories(directory: string): boolean {
  return readdirSync(directory, { withFileTypes: true }).some(
    (entry) => entry.isDirectory() && !ownDirectories.has(entry.name),
  );
}
