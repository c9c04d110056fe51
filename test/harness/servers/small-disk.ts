// A disk of a few MiB for one test: a tmpfs in a mount namespace of its own, which only its holder's processes see and
// which is gone with the last of them. Everybody else reaches it through the holder's root in /proc.

import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import {
  closeSync,
  mkdtempSync,
  openSync,
  rmdirSync,
  rmSync,
  statfsSync,
  writeSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

export interface SmallDisk {
  /** Its path for this process. */
  directory: string;
  /** Its path for a program that is started behind the words `enter`. */
  inside: string;
  enter: readonly string[];
  /** A path on the disk as this process must name it. */
  outside(path: string): string;
  freeBytes(): number;
  /** Takes room until so many bytes are left. */
  fill(leftBytes?: number): void;
  /** Gives back what `fill` took. */
  free(): void;
  remount(option: 'ro' | 'rw'): void;
  close(): Promise<void>;
}

const MiB = 1_048_576;

/** Whether this machine lets us mount one. */
export const hasSmallDisks =
  spawnSync('unshare', ['-rm', 'mount', '-t', 'tmpfs', '-o', 'size=1m', 'tmpfs', tmpdir()])
    .status === 0;

/** Ends with this process, however that dies. */
export async function mountSmallDisk(sizeMiB: number): Promise<SmallDisk> {
  const inside = mkdtempSync(join(tmpdir(), 'millrace-disk-'));
  const script =
    'mount -t tmpfs -o "size=$0m,mode=700" tmpfs "$1" && echo mounted && exec cat >/dev/null';
  const holder = spawn('unshare', ['-rm', 'sh', '-c', script, String(sizeMiB), inside], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  await once(holder.stdout, 'data');
  const directory = `/proc/${holder.pid}/root${inside}`;
  const filler = join(directory, 'filler');
  const enter = [
    ...['nsenter', '--target', String(holder.pid), '--user', '--mount', '--preserve-credentials'],
    ...[`--wd=${inside}`, '--'],
  ];
  const freeBytes = (): number => {
    const { bavail, bsize } = statfsSync(directory);
    return bavail * bsize;
  };
  return {
    directory,
    inside,
    enter,
    freeBytes,
    fill(leftBytes = 0) {
      const file = openSync(filler, 'a');
      try {
        while (freeBytes() > leftBytes) {
          writeSync(file, Buffer.alloc(Math.min(MiB, freeBytes() - leftBytes)));
        }
      } catch (error) {
        // Somebody else took the last of it.
        if (!(error instanceof Error && 'code' in error && error.code === 'ENOSPC')) throw error;
      } finally {
        closeSync(file);
      }
    },
    free: () => rmSync(filler, { force: true }),
    remount(option) {
      const [command = '', ...words] = [...enter, 'mount', '-o', `remount,${option}`, inside];
      const { status, stderr } = spawnSync(command, words, { encoding: 'utf8' });
      if (status !== 0) throw new Error(`remount: ${stderr}`);
    },
    outside: (path) => path.replace(inside, directory),
    async close() {
      await end(holder);
      rmdirSync(inside);
    },
  };
}

async function end(holder: ChildProcess): Promise<void> {
  const ended = once(holder, 'exit');
  holder.stdin?.end();
  await ended;
}
