// Ends every nats-server that still runs on a data directory: one that outlived a killed Millrace has the store open,
// and two servers on one store would destroy it. A server is known by its command line, never by a file of ours that a
// later server may have overwritten.

import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { basename, dirname, isAbsolute } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';

const termGraceMs = 10_000;
const killGraceMs = 5_000;
const lookEveryMs = 50;

/** Resolves once none runs with this configuration. Throws one sentence where one cannot be ended. */
export async function endStaleBrokers(configFile: string): Promise<void> {
  for (const [signal, graceMs] of [
    ['SIGTERM', termGraceMs],
    ['SIGKILL', killGraceMs],
  ] as const) {
    for (const pid of brokersWith(configFile)) send(pid, signal);
    for (let waitedMs = 0; waitedMs < graceMs; waitedMs += lookEveryMs) {
      if (brokersWith(configFile).length === 0) return;
      await delay(lookEveryMs);
    }
  }
  const [pid] = brokersWith(configFile);
  if (pid !== undefined) {
    throw new Error(`an older nats-server (process ${pid}) still uses ${configFile}: end it`);
  }
}

function send(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch {
    // It is gone, or another user's: the next look tells.
  }
}

function brokersWith(configFile: string): number[] {
  return existsSync('/proc/self/cmdline') ? listed(configFile) : listedByPs(configFile);
}

function listed(configFile: string): number[] {
  return readdirSync('/proc').flatMap((name) => {
    if (!/^\d+$/.test(name)) return [];
    const [, flag, file = '', end] = commandLine(name);
    const isOurs = flag === '-c' && end === '' && isSameFile(name, file, configFile);
    return isOurs ? [Number(name)] : [];
  });
}

function commandLine(pid: string): string[] {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0');
  } catch {
    return [];
  }
}

/**
 * Told by the directory itself: a link may lead to it, and a process in a container of its own may have another
 * directory under the same path.
 */
function isSameFile(pid: string, its: string, configFile: string): boolean {
  if (!isAbsolute(its) || basename(its) !== basename(configFile)) return false;
  try {
    const own = statSync(dirname(configFile));
    const other = statSync(`/proc/${pid}/root${dirname(its)}`);
    return own.dev === other.dev && own.ino === other.ino;
  } catch {
    return false;
  }
}

function listedByPs(configFile: string): number[] {
  const text = execFileSync('ps', ['-ww', '-axo', 'pid=,command='], { encoding: 'utf8' });
  const lines = text.split('\n').filter((line) => line.endsWith(` -c ${configFile}`));
  return lines.map((line) => Number.parseInt(line, 10));
}
