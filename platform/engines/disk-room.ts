// Follows the free space of the disk under the broker's store. Below a reserve nothing new is taken, so that whatever
// must be written still can be: events that were accepted, ledgers, revocations. A broker that meets a full disk hangs.

import { statfsSync } from 'node:fs';
import { statfs } from 'node:fs/promises';
import type { Log } from '../log.ts';
import type { Gauge, Metrics } from '../metrics.ts';

interface DiskRoomOptions {
  directory: string;
  /** 0: nothing is kept back. */
  reserveBytes: number;
  log: Log;
  metrics: Metrics;
}

const MiB = 1_048_576;
const lookEveryMs = 1_000;
/** Room is there again from the reserve and this part of it on, so that one small file does not go back and forth. */
const calmPart = 1 / 8;

/** 1,024 MiB or 5 % of the disk, whichever is less; in whole MiB. */
export function usualDiskReserve(directory: string): number {
  const { blocks, bsize } = statfsSync(directory);
  return Math.min(1_024, Math.max(1, Math.floor((blocks * bsize) / 20 / MiB))) * MiB;
}

/** Of the disk that holds `directory`. */
export async function freeBytes(directory: string): Promise<number> {
  const { bavail, bsize } = await statfs(directory);
  return bavail * bsize;
}

/** Looks at once and then every second, until it is closed. */
export function followDiskRoom(options: DiskRoomOptions): DiskRoom {
  const room = new DiskRoom(options);
  const { bavail, bsize } = statfsSync(options.directory);
  room.found(bavail * bsize);
  room.start();
  return room;
}

export class DiskRoom {
  readonly #options: DiskRoomOptions;
  readonly #freeBytes: Gauge;
  #timer: NodeJS.Timeout | undefined;
  #isScarce = false;
  #lastFreeBytes = 0;

  /** Use followDiskRoom. */
  constructor(options: DiskRoomOptions) {
    this.#options = options;
    this.#freeBytes = options.metrics.gauge(
      'millrace_disk_free_bytes',
      "Free space of the disk under the broker's store.",
    );
    const reserve = options.metrics.gauge(
      'millrace_disk_reserve_bytes',
      'Free space below which events and new records are refused.',
    );
    reserve.set(options.reserveBytes);
  }

  /** As of the last look, at most a second ago. */
  state(): { freeBytes: number; reserveBytes: number; isScarce: boolean } {
    const { reserveBytes } = this.#options;
    return { freeBytes: this.#lastFreeBytes, reserveBytes, isScarce: this.#isScarce };
  }

  /** Whether the rest of the disk is kept for what must be written. */
  isScarce(): boolean {
    return this.#isScarce;
  }

  start(): void {
    // The last answer stays: writing to such a directory fails by itself, and says why.
    const look = () => this.#look().catch(() => {});
    const again = async (): Promise<void> => {
      await look();
      this.#timer?.refresh();
    };
    this.#timer = setTimeout(() => void again(), lookEveryMs);
    this.#timer.unref();
  }

  close(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
  }

  found(freeBytes: number): void {
    const { reserveBytes, log } = this.#options;
    this.#freeBytes.set(freeBytes);
    this.#lastFreeBytes = freeBytes;
    const fields = { freeBytes, reserveBytes };
    if (!this.#isScarce && freeBytes < reserveBytes) {
      this.#isScarce = true;
      log.error(fields, 'the disk is nearly full: events and new records are refused');
    } else if (this.#isScarce && freeBytes >= reserveBytes * (1 + calmPart)) {
      this.#isScarce = false;
      log.info(fields, 'the disk has room again');
    }
  }

  async #look(): Promise<void> {
    this.found(await freeBytes(this.#options.directory));
  }
}
