// The ledger on a real broker: one writer at a time, and writes whose answers are lost.

import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { buckets } from '../../platform/broker/buckets.ts';
import { connectBroker, type NatsConnection } from '../../platform/broker/nats.ts';
import {
  openBucket,
  type ReadResult,
  type WriteResult,
} from '../../platform/broker/record-bucket.ts';
import { ensureTopology } from '../../platform/broker/topology.ts';
import { keepHour, type LedgerHour, readHours } from '../../platform/ledger/ledger-hours.ts';
import { readShardAccount } from '../../platform/ledger/shard-account.ts';
import { createLog } from '../../platform/log.ts';
import { useBroker } from '../../test/harness/servers/use-servers.ts';
import { type Ledger, type LedgerBucket, type LedgerOptions, takeOverLedger } from './ledger.ts';
import { type LedgerRecord, type Pending, rangesOf, readLedgerRecord } from './ledger-record.ts';

const broker = useBroker();
let nats: NatsConnection;
let bucket: LedgerBucket;
let shard = 0;

beforeAll(async () => {
  nats = await connectBroker(broker.url, createLog('silent'));
  await ensureTopology(nats, { eventsMaxBytes: 64 * 1_048_576, shards: 1 });
  bucket = await openBucket(nats, buckets.ledger, readLedgerRecord);
});

afterAll(async () => {
  await nats.close();
});

const created = '2026-11-20T10:00:00.123456789Z';

function options(writer: string, override: Partial<LedgerOptions> = {}): LedgerOptions {
  const key = `shard.${shard}`;
  return { bucket, key, streamCreated: created, writer, retry: (call) => call(), ...override };
}

async function open(writer: string, override: Partial<LedgerOptions> = {}): Promise<Ledger> {
  return (await takeOverLedger(options(writer, override))).ledger;
}

function pendingOf(first: number, last: number): Pending {
  return {
    seqs: [[first, last]],
    dropped: Buffer.from([5]).toString('base64'),
    inserts: [{ month: 202611, token: `t:${first}-${last}`, rows: 3, idsHash: 'h' }],
    counts: { accepted: 6, stored: 3, duplicates: 2, deadLetters: 1 },
  };
}

describe('the ledger', () => {
  it('starts empty, and remembers promised batches and done ones', async () => {
    shard++;
    const { ledger, found } = await takeOverLedger(options('a'));
    expect([found, ledger.hwm, ledger.pending]).toEqual(['fresh', 0, undefined]);
    expect(await ledger.begin(pendingOf(1, 9))).toBe('written');
    expect(ledger.hwm).toBe(0);
    const seen = await takeOverLedger(options('b'));
    expect([seen.found, seen.ledger.hwm, seen.ledger.pending]).toEqual([
      'current',
      0,
      pendingOf(1, 9),
    ]);
    expect(await seen.ledger.finish()).toBe('written');
    expect([seen.ledger.hwm, seen.ledger.pending]).toEqual([9, undefined]);
    const after = await open('c');
    expect([after.hwm, after.pending]).toEqual([9, undefined]);
    expect(await after.begin(pendingOf(10, 10))).toBe('written');
    expect(await after.finish()).toBe('written');
    expect(after.totals).toEqual({ accepted: 12, stored: 6, duplicates: 4, deadLetters: 2 });
  });

  it('lets only the latest writer write', async () => {
    shard++;
    const first = await open('a');
    const second = await open('b');
    expect(await first.begin(pendingOf(1, 2))).toBe('lost');
    expect(await second.begin(pendingOf(1, 2))).toBe('written');
    expect(await first.begin(pendingOf(1, 2))).toBe('lost');
    const third = await open('c');
    expect(await second.finish()).toBe('lost');
    expect(third.pending).toEqual(pendingOf(1, 2));
    expect(await third.finish()).toBe('written');
  });

  it('leaves exactly one of several writers that start at the same time', async () => {
    shard++;
    const writers = await Promise.all(['a', 'b', 'c', 'd', 'e'].map((name) => open(name)));
    const written = await Promise.all(writers.map((ledger) => ledger.begin(pendingOf(1, 2))));
    expect(written.toSorted()).toEqual(['lost', 'lost', 'lost', 'lost', 'written']);
  });

  it('recognises its own write whose answer was lost', async () => {
    shard++;
    const flaky = loseAnswers(bucket);
    const retry = async <T>(call: () => Promise<T>): Promise<T> => {
      for (;;) {
        try {
          return await call();
        } catch (error) {
          if (!(error instanceof Error) || error.message !== 'no answer') throw error;
        }
      }
    };
    const ledger = await open('a', { bucket: flaky, retry });
    expect(await ledger.begin(pendingOf(1, 2))).toBe('written');
    expect(await ledger.finish()).toBe('written');
    expect(await ledger.begin(pendingOf(3, 3))).toBe('written');
    await open('b');
    expect(await ledger.finish()).toBe('lost');
  });

  it('takes no older record of a new leader for another writer’s', async () => {
    shard++;
    const older: ReadResult<LedgerRecord>[] = [];
    let staleReads = 0;
    const waitsMs: number[] = [];
    const young: LedgerBucket = {
      create: (...record) => bucket.create(...record),
      // Each write happens, and its answer says that another one came first.
      async update(...record) {
        await bucket.update(...record);
        return { kind: 'conflict' };
      },
      async get(key) {
        const stale = older[0];
        return stale !== undefined && staleReads-- > 0 ? stale : bucket.get(key);
      },
    };
    const wait = async (ms: number) => void waitsMs.push(ms);
    const ledger = await open('a', { bucket: young, wait });
    older.push(await bucket.get(`shard.${shard}`));
    staleReads = 100;
    expect(await ledger.begin(pendingOf(1, 2))).toBe('written');
    expect(waitsMs).toHaveLength(100);
    staleReads = 121;
    await expect(ledger.finish()).rejects.toThrow('an older record');
    staleReads = 0;
    await open('b');
    expect(await ledger.finish()).toBe('lost');
  });

  it('keeps only the totals of an earlier stream', async () => {
    shard++;
    const ledger = await open('a');
    await ledger.begin(pendingOf(1, 9));
    await ledger.finish();
    await ledger.begin(pendingOf(10, 12));
    const later = await takeOverLedger(options('b', { streamCreated: '2026-11-21T00:00:00Z' }));
    expect([later.found, later.ledger.hwm, later.ledger.pending]).toEqual([
      'recreated',
      0,
      undefined,
    ]);
    expect(later.ledger.totals.accepted).toBe(6);
    expect(await ledger.finish()).toBe('lost');
  });

  it('throws on another version or junk instead of guessing', async () => {
    shard++;
    const kv = await nats.jetstream().views.kv(buckets.ledger);
    for (const junk of ['{"schemaVersion":2}', '[]', 'x', 'null', '{"schemaVersion":1,"hwm":1}']) {
      await kv.put(`shard.${shard}`, junk);
      await expect(open('a')).rejects.toThrow(`ledger: the record shard.${shard} cannot be read`);
    }
  });

  it('holds its caller to the order of effects', async () => {
    shard++;
    const ledger = await open('a');
    await expect(ledger.finish()).rejects.toThrow('no batch is pending');
    await ledger.begin(pendingOf(1, 4));
    await expect(ledger.begin(pendingOf(5, 6))).rejects.toThrow('pending already');
    await ledger.finish();
    await expect(ledger.begin(pendingOf(4, 6))).rejects.toThrow('done already');
  });
});

describe('messages that are done before earlier ones', () => {
  const turn = (seqs: [number, number][], completeTo: number): Pending => {
    return { ...pendingOf(0, 0), seqs, completeTo };
  };

  it('are known, also by the next writer, until the mark has passed them', async () => {
    shard++;
    const ledger = await open('a');
    await ledger.begin(
      turn(
        [
          [1, 2],
          [5, 6],
          [9, 9],
        ],
        2,
      ),
    );
    await ledger.finish();
    expect([ledger.hwm, ledger.ahead, ledger.lastDone]).toEqual([
      2,
      [
        [5, 6],
        [9, 9],
      ],
      9,
    ]);
    const next = await open('b');
    expect([next.hwm, next.ahead, next.lastDone]).toEqual([
      2,
      [
        [5, 6],
        [9, 9],
      ],
      9,
    ]);
    const done = Array.from({ length: 11 }, (_, seq) => next.isDone(seq));
    expect(done.map(Number).join('')).toBe('11100110010');
    await expect(
      next.begin(
        turn(
          [
            [3, 3],
            [6, 7],
          ],
          4,
        ),
      ),
    ).rejects.toThrow('done already');
    await next.begin(
      turn(
        [
          [3, 4],
          [7, 7],
        ],
        7,
      ),
    );
    await next.finish();
    expect([next.hwm, next.ahead, next.lastDone]).toEqual([7, [[9, 9]], 9]);
    await next.begin(
      turn(
        [
          [8, 8],
          [10, 10],
        ],
        10,
      ),
    );
    await next.finish();
    expect([next.hwm, next.ahead, next.lastDone]).toEqual([10, [], 10]);
    expect(await bucket.get(`shard.${shard}`)).toMatchObject({ record: { lostMessages: 0 } });
  });

  it('are not counted as lost, and messages between them that never were are', async () => {
    shard++;
    const ledger = await open('a');
    await ledger.begin(
      turn(
        [
          [1, 1],
          [6, 6],
        ],
        1,
      ),
    );
    await ledger.finish();
    // 2 to 4 never came.
    await ledger.begin(turn([[5, 5]], 6));
    await ledger.finish();
    const read = await bucket.get(`shard.${shard}`);
    expect(read).toMatchObject({ record: { hwm: 6, lostMessages: 3 } });
  });

  it('are unreadable where the record is damaged', async () => {
    shard++;
    const ledger = await open('a');
    await ledger.begin(turn([[2, 2]], 1));
    await ledger.finish();
    const read = await bucket.get(`shard.${shard}`);
    if (read.kind !== 'found') throw new Error('no record');
    for (const ahead of [5, [5], [[5]], [[5, 'x']], [[1, 2, 3]]]) {
      expect(readLedgerRecord({ ...read.record, ahead })).toBeUndefined();
    }
  });
});

it('ranges hold exactly the sequences of a batch', () => {
  expect(rangesOf([])).toEqual([]);
  expect(rangesOf([5])).toEqual([[5, 5]]);
  expect(rangesOf([1, 2, 3, 5, 7, 8])).toEqual([
    [1, 3],
    [5, 5],
    [7, 8],
  ]);
});

/** A bucket in which every write happens and loses its first answer. */
function loseAnswers(real: LedgerBucket): LedgerBucket {
  let lose = true;
  const lost = async (write: Promise<WriteResult>): Promise<WriteResult> => {
    const result = await write;
    lose = !lose;
    if (!lose) throw new Error('no answer');
    return result;
  };
  return {
    get: (key) => real.get(key),
    create: (key, record) => lost(real.create(key, record)),
    update: (key, record, revision) => lost(real.update(key, record, revision)),
  };
}

describe('the hours', () => {
  const hour = 3_600_000;
  const first = Date.UTC(2026, 10, 20, 10);
  let nowMs = first;
  const clock = { nowMs: () => nowMs };
  const counted = (startMs: number, batches: number, lostMessages = 0) => ({
    startMs,
    accepted: 6 * batches,
    stored: 3 * batches,
    duplicates: 2 * batches,
    deadLetters: batches,
    lostMessages,
  });
  const hoursOf = (keep?: (closed: LedgerHour) => Promise<void>) => ({
    hours: {
      clock,
      keep: keep ?? (async (closed: LedgerHour) => void (await kept(closed))),
    },
  });
  const kept = async (closed: LedgerHour) => {
    const hours = await openBucket(nats, buckets.ledgerHours, readHours);
    return keepHour(hours, shard, closed);
  };
  const account = async () => {
    const { hours, totals } = await readShardAccount(nats, shard);
    return { hours: hours.toSorted((a, b) => a.startMs - b.startMs), totals };
  };
  const done = async (ledger: Ledger, from: number, to: number) => {
    expect(await ledger.begin(pendingOf(from, to))).toBe('written');
    expect(await ledger.finish()).toBe('written');
  };

  it('sum up to the totals, and hold the open hour too', async () => {
    shard++;
    nowMs = first + 1_000;
    const ledger = await open('a', hoursOf());
    expect(await account()).toEqual({
      hours: [],
      totals: { accepted: 0, stored: 0, duplicates: 0, deadLetters: 0, lostMessages: 0 },
    });
    await done(ledger, 1, 1);
    nowMs += hour - 1_001;
    await done(ledger, 2, 2);
    expect((await account()).hours).toEqual([counted(first, 2)]);
    nowMs = first + 5 * hour;
    await done(ledger, 3, 3);
    expect(await account()).toEqual({
      hours: [counted(first, 2), counted(first + 5 * hour, 1)],
      totals: { accepted: 18, stored: 9, duplicates: 6, deadLetters: 3, lostMessages: 0 },
    });
  });

  it('lose and double nothing where the writer dies between closing and keeping an hour', async () => {
    shard++;
    nowMs = first;
    const dead = await open(
      'a',
      hoursOf(async () => {
        throw new Error('killed');
      }),
    );
    await done(dead, 1, 1);
    nowMs = first + hour;
    await dead.begin(pendingOf(2, 2));
    await expect(dead.finish()).rejects.toThrow('killed');
    expect((await account()).hours).toEqual([counted(first, 1), counted(first + hour, 1)]);
    const next = await open('b', hoursOf());
    nowMs = first + 2 * hour;
    await done(next, 3, 3);
    await kept(counted(first, 1));
    const all = [0, 1, 2].map((n) => counted(first + n * hour, 1));
    expect((await account()).hours).toEqual(all);
  });

  it('a promised batch counts once, when the next writer has done it', async () => {
    shard++;
    nowMs = first;
    await (await open('a', hoursOf())).begin(pendingOf(1, 3));
    expect((await account()).hours).toEqual([]);
    const next = await open('b', hoursOf());
    nowMs = first + hour;
    await next.finish();
    expect((await account()).hours).toEqual([counted(first + hour, 1)]);
  });

  it('a clock that goes back counts to the open hour', async () => {
    shard++;
    nowMs = first + hour;
    const ledger = await open('a', hoursOf());
    await done(ledger, 1, 1);
    nowMs = first;
    await done(ledger, 2, 2);
    expect((await account()).hours).toEqual([counted(first + hour, 2)]);
  });

  it('count the messages that the broker lost', async () => {
    shard++;
    nowMs = first;
    const ledger = await open('a', hoursOf());
    await done(ledger, 1, 4);
    await done(ledger, 7, 8);
    await ledger.begin({
      ...pendingOf(9, 20),
      seqs: [
        [9, 9],
        [12, 20],
      ],
    });
    await ledger.finish();
    const { hours, totals } = await account();
    expect([hours, totals.lostMessages]).toEqual([[counted(first, 3, 4)], 4]);
  });

  it('are kept for 90 days', async () => {
    shard++;
    for (const n of [0, 1, 2_160]) await kept(counted(first + n * hour, 1));
    const starts = (await account()).hours.map(({ startMs }) => (startMs - first) / hour);
    expect(starts).toEqual([1, 2_160]);
  });
});
