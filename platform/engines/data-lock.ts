// Lets one Millrace at a time use a data directory: two brokers on one JetStream store would destroy it. The lock is a
// file with its owner's process id and start time; the lock of a process that is gone, even killed, is taken over.

import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

/** In a data directory. */
export const lockName = 'millrace.lock';
/** There while a restore into it is not finished; see backup/restore/half-restored.ts. */
export const restoringName = 'restoring';

/** Takes the lock and returns its release. Throws one sentence where another process holds it. */
export function lockDataDir(dataDir: string): () => void {
  makeDirectory(dataDir);
  const path = join(dataDir, lockName);
  const own = `${process.pid} ${startTime(process.pid) ?? ''}`;
  for (let attempt = 0; attempt < 2; attempt++) {
    try {
      writeFileSync(path, own, { flag: 'wx', mode: 0o600 });
      return () => rmSync(path, { force: true });
    } catch (error) {
      if (!isTaken(error)) {
        rmSync(path, { force: true });
        throw unusable(dataDir, error);
      }
      const pid = holderOf(dataDir);
      if (pid !== undefined) {
        throw new Error(`${dataDir} is in use by another Millrace (process ${pid})`);
      }
      rmSync(path, { force: true });
    }
  }
  throw new Error(`${path} cannot be written`);
}

/** Throws one sentence where a restore has not been finished: a start would take what is there for all. */
export function refuseHalfRestored(dataDir: string): void {
  if (!existsSync(join(dataDir, restoringName))) return;
  throw new Error(
    `the restore into ${dataDir} was not finished: run the same restore again, or remove the directory`,
  );
}

/** The process that has the lock. */
export function holderOf(dataDir: string): number | undefined {
  const path = join(dataDir, lockName);
  const [pid = '', ...started] = existsSync(path) ? readFileSync(path, 'utf8').split(' ') : [];
  return pid !== '' && isSameProcess(Number(pid), started.join(' ')) ? Number(pid) : undefined;
}

function makeDirectory(dataDir: string): void {
  try {
    mkdirSync(dataDir, { recursive: true, mode: 0o700 });
  } catch (error) {
    throw unusable(dataDir, causeOf(error, dataDir));
  }
}

/** Making several directories at once, Node says ENOENT whatever the cause; making the first alone, it tells. */
function causeOf(error: unknown, directory: string): unknown {
  let first = directory;
  while (!existsSync(dirname(first))) first = dirname(first);
  try {
    mkdirSync(first, { mode: 0o700 });
  } catch (cause) {
    return cause;
  }
  return error;
}

function unusable(dataDir: string, error: unknown): Error {
  const why = isTaken(error) ? 'it is a file' : whyUnusable(error);
  return new Error(`the data directory ${dataDir} cannot be used: ${why}`, { cause: error });
}

function isTaken(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'EEXIST';
}

/** Why a directory cannot be written, in words where the system's code is a usual one. */
export function whyUnusable(error: unknown): string {
  const code = error instanceof Error && 'code' in error ? error.code : undefined;
  switch (code) {
    case 'ENOSPC':
      return 'its disk is full (ENOSPC): free some room, then start again';
    case 'EDQUOT':
      return "the user's share of its disk is used up (EDQUOT)";
    case 'EROFS':
      return 'its disk is read-only (EROFS)';
    case 'EACCES':
    case 'EPERM':
      return `this user may not write there (${code})`;
    default:
      return typeof code === 'string' ? code : String(error);
  }
}

/** True while the process that started at `started` still runs under this id. */
function isSameProcess(pid: number, started: string): boolean {
  return Number.isInteger(pid) && pid > 0 && startTime(pid) === started;
}

/** A text that differs between two processes that had the same id; undefined where no process has it. */
function startTime(pid: number): string | undefined {
  try {
    if (existsSync('/proc/self/stat')) {
      // Field 22 (see proc(5)), counted from the end of the command's name, which may hold spaces.
      const stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
      return stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19];
    }
    return execFileSync('ps', ['-o', 'lstart=', '-p', String(pid)], { encoding: 'utf8' }).trim();
  } catch {
    return undefined;
  }
}
