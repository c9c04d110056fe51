import { tmpdir } from 'node:os';
import pino from 'pino';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { hasSmallDisks, mountSmallDisk } from '../../test/harness/servers/small-disk.ts';
import { createMetrics, type Metrics, metricValue } from '../metrics.ts';
import { DiskRoom, followDiskRoom, usualDiskReserve } from './disk-room.ts';

const MiB = 1_048_576;
let said: string[];
let metrics: Metrics;
const write = (line: string): void => void said.push(JSON.parse(line).msg);
const log = pino({ level: 'info' }, { write });

beforeEach(() => {
  said = [];
  metrics = createMetrics();
});

const full = 'the disk is nearly full: events and new records are refused';
const calm = 'the disk has room again';

it('is scarce below the reserve, until there is an eighth more than it, and says each change once', () => {
  const room = new DiskRoom({ directory: tmpdir(), reserveBytes: 800, log, metrics });
  const scarceAt = (bytes: number): boolean => {
    room.found(bytes);
    return room.isScarce();
  };
  expect([800, 799, 0, 800, 899, 900, 800].map(scarceAt)).toEqual([
    false,
    true,
    true,
    true,
    true,
    false,
    false,
  ]);
  expect(said).toEqual([full, calm]);
});

it('is never scarce without a reserve', () => {
  const room = new DiskRoom({ directory: tmpdir(), reserveBytes: 0, log, metrics });
  room.found(0);
  expect(room.isScarce()).toBe(false);
});

const closing: (() => Promise<void> | void)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0)) await close();
});

it.runIf(hasSmallDisks)(
  'looks at the disk again and again; its usual reserve is a twentieth',
  async () => {
    const disk = await mountSmallDisk(64);
    closing.push(() => disk.close());
    const { directory } = disk;
    const reserveBytes = usualDiskReserve(directory);
    expect(reserveBytes).toBe(3 * MiB);
    const room = followDiskRoom({ directory, reserveBytes, log, metrics });
    closing.unshift(() => room.close());
    expect(room.isScarce()).toBe(false);
    disk.fill(2 * MiB);
    await expect.poll(() => room.isScarce()).toBe(true);
    expect(await metricValue(metrics, 'millrace_disk_free_bytes')).toBe(2 * MiB);
    expect(await metricValue(metrics, 'millrace_disk_reserve_bytes')).toBe(reserveBytes);
    disk.free();
    await expect.poll(() => room.isScarce()).toBe(false);
    expect(said).toEqual([full, calm]);
  },
);
