// Keeps mails as .eml files where no mail server is configured. Strangers make such files by asking for sign-in links,
// so each write removes old ones. Composing the mail is send.ts's.

import { randomUUID } from 'node:crypto';
import { chmodSync, mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { dayMs } from '../clock.ts';

/** More than anybody reads; some 3 MB. */
const maxFiles = 1_000;
/** As long as the longest link in a mail works, an invitation's. */
const maxAgeMs = 7 * dayMs;
/** One write shortens a directory that is far too long by so many files, and no request waits for more. */
const maxRemovals = 200;
const ownName = /^\d{4}-\d\d-\d\dT\d\d-\d\d-\d\d\.\d{3}Z-[0-9a-f]{8}\.eml$/;

/** Returns the file's path. Only the owner of the process can read it, for it lets its reader in. */
export function writeEmlFile(directory: string, bytes: Buffer, nowMs: number): string {
  mkdirSync(directory, { recursive: true, mode: 0o700 });
  // The directory may be older than this rule, or made by hand.
  chmodSync(directory, 0o700);
  removeOldFiles(directory, nowMs);
  const file = join(directory, `${timeInName(nowMs)}-${randomUUID().slice(0, 8)}.eml`);
  writeFileSync(file, bytes, { mode: 0o600, flag: 'wx' });
  return file;
}

/** Leaves room for one more. Files of other names are not ours. */
function removeOldFiles(directory: string, nowMs: number): void {
  // A name begins with its time, so the order of names is the order of time.
  const names = readdirSync(directory)
    .filter((name) => ownName.test(name))
    .sort();
  const oldest = timeInName(nowMs - maxAgeMs);
  const expired = names.filter((name) => name < oldest).length;
  const surplus = Math.max(expired, names.length - (maxFiles - 1));
  for (const name of names.slice(0, Math.min(surplus, maxRemovals))) {
    // Another process of the instance may have removed it.
    rmSync(join(directory, name), { force: true });
  }
}

function timeInName(atMs: number): string {
  return new Date(atMs).toISOString().replaceAll(':', '-');
}
