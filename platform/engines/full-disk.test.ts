// The embedded broker and the embedded engine on a disk that is full: neither loses or doubles anything, both go on by
// themselves once there is room, and a start says in one sentence why it cannot be.

import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import pino from 'pino';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import {
  hasSmallDisks,
  mountSmallDisk,
  type SmallDisk,
} from '../../test/harness/servers/small-disk.ts';
import { connectBroker } from '../broker/nats.ts';
import { eventsStream, eventsSubject } from '../broker/streams.ts';
import { ensureTopology } from '../broker/topology.ts';
import { readBrokerUrl } from './broker-configuration.ts';
import { lockDataDir } from './data-lock.ts';
import { startEmbeddedBroker } from './embedded-broker.ts';
import { startEmbeddedEngine } from './embedded-engine.ts';

const MiB = 1_048_576;
let disk: SmallDisk;
let lines: { level: number; msg: string; child?: string; part?: string }[];
const write = (line: string): void => void lines.push(JSON.parse(line));
const log = pino({ level: 'trace' }, { write });
// The rest of a broker that hangs again ends with the full disk, or not at all.
const pings = { everyMs: 100, timeoutMs: 1_000, restMs: 3_600_000 };
const started = (): number => lines.filter(({ msg }) => msg === 'Server is ready').length;

beforeEach(async () => {
  lines = [];
  if (hasSmallDisks) disk = await mountSmallDisk(32);
});
afterEach(async () => {
  if (hasSmallDisks) await disk.close();
});

const start = () =>
  startEmbeddedBroker({ dataDir: disk.directory, binary: 'nats-server', log, pings });

describe.runIf(hasSmallDisks)('a full disk', () => {
  it('hangs the broker only until it is ended: all that was acknowledged is there, and it goes on', async () => {
    const broker = await start();
    const nats = await connectBroker(readBrokerUrl(disk.directory, 'service'), log);
    const publish = async (data: Buffer): Promise<boolean> => {
      // Longer than a busy machine takes, and short beside the time that a hung broker has.
      const jetstream = nats.jetstream({ timeout: 5_000 });
      return jetstream.publish(eventsSubject(0), data).then(
        () => true,
        () => false,
      );
    };
    try {
      await ensureTopology(nats, { eventsMaxBytes: 16 * MiB, shards: 1 });
      const frame = Buffer.alloc(256 * 1_024, 'event');
      expect(await publish(frame)).toBe(true);
      const hung = broker.pid();
      disk.fill(frame.length);
      let acknowledged = 1;
      while (await publish(frame)) acknowledged++;
      await expect.poll(() => broker.pid()).not.toBe(hung);
      expect(lines).toContainEqual(
        expect.objectContaining({
          level: log.levels.values['error'],
          child: 'nats-server',
          msg: 'a child does not answer any more, ending it',
        }),
      );

      await expect.poll(started).toBe(2);
      // As one that met the full disk again: whether it does is chance.
      const again = broker.pid();
      process.kill(again ?? Number.NaN, 'SIGSTOP');
      disk.free();
      await expect.poll(() => broker.pid()).not.toBe(again);
      await expect.poll(() => publish(frame)).toBe(true);
      const { streams } = await nats.jetstreamManager();
      const { state } = await streams.info(eventsStream(0));
      // A frame whose acknowledgement never came may be there too.
      expect(state.messages).toBeGreaterThan(acknowledged);
    } finally {
      await nats.close();
      await broker.stop(0);
    }
  });

  it('is named where Millrace starts on it', async () => {
    mkdirSync(join(disk.directory, 'nats'));
    mkdirSync(join(disk.directory, 'clickhouse'));
    disk.fill();
    const full = 'cannot be used: its disk is full (ENOSPC): free some room, then start again';
    expect(() => lockDataDir(disk.directory)).toThrow(
      `the data directory ${disk.directory} ${full}`,
    );
    await expect(start()).rejects.toThrow(
      `the broker's directory ${join(disk.directory, 'nats')} ${full}`,
    );
    await expect(startEngine()).rejects.toThrow(
      `the engine's directory ${join(disk.directory, 'clickhouse')} ${full}`,
    );
  });
});

const startEngine = () =>
  startEmbeddedEngine({ dataDir: disk.directory, entry: 'none', memoryBytes: 0, reads: 6, log });

it.runIf(hasSmallDisks)('a read-only disk is named where Millrace starts on it', async () => {
  mkdirSync(join(disk.directory, 'nats'));
  mkdirSync(join(disk.directory, 'clickhouse'));
  disk.remount('ro');
  const readOnly = 'cannot be used: its disk is read-only (EROFS)';
  for (const dataDir of [disk.directory, join(disk.directory, 'new', 'data')]) {
    expect(() => lockDataDir(dataDir)).toThrow(`the data directory ${dataDir} ${readOnly}`);
  }
  await expect(start()).rejects.toThrow(readOnly);
  await expect(startEngine()).rejects.toThrow(readOnly);
});
