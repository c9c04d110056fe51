// Salts over days, restarts and failures, on a real broker whose files are searched for erased ones.

import { execFileSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { buckets } from '../../platform/broker/buckets.ts';
import { connectBroker, type NatsConnection } from '../../platform/broker/nats.ts';
import { ensureTopology } from '../../platform/broker/topology.ts';
import { dayMs, systemClock } from '../../platform/clock.ts';
import { createLog } from '../../platform/log.ts';
import { useBroker } from '../../test/harness/servers/use-servers.ts';
import { freeze } from '../../test/harness/services/ingest-service.ts';
import { type DaySalt, dayOf, type SaltBucket, Salts, saltKey } from './salt.ts';
import { openSaltBucket } from './salt-bucket.ts';

const broker = useBroker();
let nats: NatsConnection;
const log = createLog('silent');

beforeAll(async () => {
  nats = await connectBroker(broker.url, log);
  await ensureTopology(nats, { eventsMaxBytes: 64 * 1_048_576, shards: 1 });
});

afterAll(async () => {
  await nats.close();
});

/** A clock that stands still until it is set. Each test has its own years, because the bucket is shared. */
let nextDay = dayOf(Date.UTC(2030, 0, 1));
function clockAt(offsetMs = 12 * 3_600_000) {
  nextDay += 400;
  const day = nextDay;
  let ms = day * dayMs + offsetMs;
  const set = (to: number): void => {
    ms = day * dayMs + to;
  };
  return { day, nowMs: () => ms, set };
}

/** The broker's bucket, on a broker whose time is the test's. */
async function bucketAt(clock: { nowMs(): number }): Promise<SaltBucket> {
  return { ...(await openSaltBucket(nats)), brokerNowMs: async () => clock.nowMs() };
}

async function openSaltsAt(clock: { nowMs(): number }, bucket?: SaltBucket): Promise<Salts> {
  const salts = new Salts({ bucket: bucket ?? (await bucketAt(clock)), clock, log });
  await salts.start();
  onTestFinished(() => salts.close());
  return salts;
}

function hexOf(salt: DaySalt): string {
  return salt.kind === 'salt' ? salt.salt.toString('hex') : salt.kind;
}

async function put(key: string, text: string): Promise<void> {
  const kv = await nats.jetstream().views.kv(buckets.salts, { bindOnly: true });
  await kv.put(key, text);
}

/** Whether any file of the broker holds the text. */
function isOnDisk(text: string): boolean {
  try {
    execFileSync('grep', ['-rlaF', text, broker.dir]);
    return true;
  } catch {
    return false;
  }
}

describe('a salt', () => {
  it('is 32 random bytes of its day, at once from memory, and the same after a restart', async () => {
    const clock = clockAt();
    const salts = await openSaltsAt(clock);
    const today = salts.of(clock.day);
    expect(today).not.toBeInstanceOf(Promise);
    expect(hexOf(await today)).toMatch(/^[0-9a-f]{64}$/);
    expect(hexOf(await salts.of(clock.day - 1))).not.toBe(hexOf(await today));
    const restarted = await openSaltsAt(clock);
    expect(hexOf(await restarted.of(clock.day))).toBe(hexOf(await today));
  });

  it('is the same in all processes that create it at once', async () => {
    const clock = clockAt();
    const connections = await Promise.all(
      Array.from({ length: 12 }, () => connectBroker(broker.url, log)),
    );
    const opened = await Promise.all(
      connections.map(async (connection) => {
        const bucket = await openSaltBucket(connection);
        return new Salts({ bucket, clock, log });
      }),
    );
    const found = await Promise.all(opened.map((salts) => salts.of(clock.day)));
    expect(new Set(found.map(hexOf)).size).toBe(1);
    expect(found[0]?.kind).toBe('salt');
    for (const connection of connections) await connection.close();
  });

  it('is read once for requests that need it at the same time', async () => {
    const clock = clockAt();
    const bucket = await openSaltBucket(nats);
    let reads = 0;
    const counting: SaltBucket = {
      ...bucket,
      get: (key) => {
        reads++;
        return bucket.get(key);
      },
    };
    const salts = new Salts({ bucket: counting, clock, log });
    await Promise.all(Array.from({ length: 50 }, () => salts.of(clock.day)));
    expect(reads).toBe(1);
  });

  it('is made before its day begins and not used until then', async () => {
    const clock = clockAt();
    const salts = await openSaltsAt(clock);
    clock.set(dayMs - 30_000);
    await salts.tick();
    expect(salts.of(clock.day + 1)).toEqual({ kind: 'outside' });
    clock.set(dayMs);
    const tomorrow = salts.of(clock.day + 1);
    expect(tomorrow).toMatchObject({ kind: 'salt' });
    expect(await salts.of(clock.day)).toMatchObject({ kind: 'salt' });
  });

  it('is usable until the end of the next day, at every hour', async () => {
    const clock = clockAt(0);
    const salts = await openSaltsAt(clock);
    const usable = fc.asyncProperty(fc.integer({ min: 0, max: 400 * 24 }), async (hours) => {
      clock.set(hours * 3_600_000 + 1_799_999);
      const today = clock.day + Math.floor(hours / 24);
      for (let day = today - 3; day <= today + 2; day++) {
        const { kind } = await salts.of(day);
        expect([day - today, kind]).toEqual([
          day - today,
          day === today || day === today - 1 ? 'salt' : 'outside',
        ]);
      }
    });
    await fc.assert(usable, { numRuns: 40 });
  });

  it('is overwritten in memory once it is out of use', async () => {
    const clock = clockAt();
    const salts = await openSaltsAt(clock);
    const today = await salts.of(clock.day);
    const bytes = today.kind === 'salt' ? today.salt : Buffer.alloc(0);
    clock.set(2 * dayMs);
    await salts.tick();
    expect(bytes.equals(Buffer.alloc(32))).toBe(true);
  });
});

describe('erasing', () => {
  it('removes a salt from the broker’s disk once the day after it is over, and no other salt', async () => {
    const clock = clockAt();
    const salts = await openSaltsAt(clock);
    const texts: string[] = [];
    const base64 = async (day: number) => {
      const salt = await salts.of(day);
      return salt.kind === 'salt' ? salt.salt.toString('base64') : '';
    };
    texts.push(await base64(clock.day - 1), await base64(clock.day));
    clock.set(dayMs + 1_000);
    await salts.tick();
    texts.push(await base64(clock.day + 1));
    // The bucket's messages are JSON, so the salt's text is on disk as written.
    expect(texts.every((text) => text.length === 44)).toBe(true);
    expect(texts.map(isOnDisk)).toEqual([false, true, true]);
    clock.set(2 * dayMs - 1);
    await salts.tick();
    expect(texts.map(isOnDisk)).toEqual([false, true, true]);
    clock.set(2 * dayMs);
    await salts.tick();
    expect(texts.map(isOnDisk)).toEqual([false, false, true]);
    const bucket = await openSaltBucket(nats);
    const keys = (await bucket.entries()).map(({ key }) => key);
    expect(keys).toContain(saltKey(clock.day + 2));
    expect(keys.every((key) => key >= saltKey(clock.day + 1))).toBe(true);
  });

  it('that was missed is done by a process that starts later', async () => {
    const clock = clockAt();
    const before = new Salts({ bucket: await openSaltBucket(nats), clock, log });
    const salt = await before.of(clock.day);
    const text = salt.kind === 'salt' ? salt.salt.toString('base64') : '';
    expect(isOnDisk(text)).toBe(true);
    clock.set(9 * dayMs);
    await openSaltsAt(clock);
    expect(isOnDisk(text)).toBe(false);
  });

  it('that fails is tried again', async () => {
    const clock = clockAt();
    const bucket = await bucketAt(clock);
    let failures = 2;
    const erased: number[] = [];
    const failing: SaltBucket = {
      ...bucket,
      async erase(revision) {
        if (failures-- > 0) throw new Error('not now');
        erased.push(revision);
        await bucket.erase(revision);
      },
    };
    const salts = await openSaltsAt(clock, failing);
    failures = 2;
    erased.length = 0;
    clock.set(2 * dayMs);
    await salts.tick();
    expect(erased).toEqual([]);
    await salts.tick();
    await salts.tick();
    expect(erased.length).toBeGreaterThan(0);
    expect((await bucket.entries()).map(({ key }) => key)).not.toContain(saltKey(clock.day));
  });
});

describe('a clock that is wrong', () => {
  const wrong = (days: number) => ({ nowMs: () => systemClock.nowMs() + days * dayMs });
  const usedAt = async (clock: { nowMs(): number }): Promise<string[]> => {
    const salts = await openSaltsAt(clock, await openSaltBucket(nats));
    await salts.tick();
    const today = dayOf(clock.nowMs());
    const found = [today - 1, today].map(async (day) => hexOf(await salts.of(day)));
    return Promise.all(found);
  };

  it('by three days, for a moment, ends no salt that others use by the broker’s time', async () => {
    const before = await usedAt(systemClock);
    let offsetDays = 3;
    const clock = { nowMs: () => wrong(offsetDays).nowMs() };
    const salts = await openSaltsAt(clock, await openSaltBucket(nats));
    await salts.tick();
    offsetDays = 0;
    await salts.tick();
    expect(await usedAt(systemClock)).toEqual(before);
  });

  it('and behind ends none that its own process uses', async () => {
    const behind = wrong(-3);
    expect(await usedAt(behind)).toEqual(await usedAt(behind));
  });
});

describe('a missing salt', () => {
  it('is corrupt where its record cannot be decoded, until it is repaired', async () => {
    const clock = clockAt();
    const good = randomBytes(32).toString('base64');
    const bad = [
      'nonsense',
      '{}',
      '{"schemaVersion":2,"salt":"x"}',
      `{"schemaVersion":1,"salt":"${good.slice(4)}"}`,
    ];
    for (const text of bad) {
      await put(saltKey(clock.day), text);
      const salts = new Salts({ bucket: await openSaltBucket(nats), clock, log });
      expect(await salts.of(clock.day)).toEqual({ kind: 'corrupt' });
      expect(await salts.of(clock.day - 1)).toMatchObject({ kind: 'salt' });
    }
    const salts = await openSaltsAt(clock);
    expect(salts.of(clock.day)).toEqual({ kind: 'corrupt' });
    await put(saltKey(clock.day), `{"schemaVersion":1,"salt":"${good}"}`);
    clock.set(13 * 3_600_000);
    expect(hexOf(await salts.of(clock.day))).toBe(Buffer.from(good, 'base64').toString('hex'));
  });

  it('is unavailable while the broker does not answer, and there once it does', async () => {
    const clock = clockAt();
    const connection = await connectBroker(broker.url, log);
    const bucket = await openSaltBucket(connection);
    const salts = new Salts({ bucket, clock, log });
    await freeze(broker, connection);
    expect(await salts.of(clock.day)).toEqual({ kind: 'unavailable' });
    // The next request does not wait for the broker again.
    expect(salts.of(clock.day)).toEqual({ kind: 'unavailable' });
    broker.resume();
    clock.set(13 * 3_600_000);
    expect(await salts.of(clock.day)).toMatchObject({ kind: 'salt' });
    await connection.close();
  });
});
