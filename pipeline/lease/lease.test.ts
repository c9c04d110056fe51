// Who has the shards, on a real broker. Each pause of a process is ended by the test.

import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { connectBroker, type NatsConnection } from '../../platform/broker/nats.ts';
import { shardsOwnerKey } from '../../platform/broker/streams.ts';
import { ensureTopology } from '../../platform/broker/topology.ts';
import { createLog } from '../../platform/log.ts';
import { useBroker } from '../../test/harness/servers/use-servers.ts';
import { StepwisePauses } from '../../test/harness/stepwise-pauses.ts';
import {
  createLease,
  type LeaseOptions,
  lookEveryMs,
  refuseOlderOwners,
  renewEveryMs,
  restMs,
  type Term,
  unchangedLooks,
} from './lease.ts';
import { openOwnerBucket } from './owner-record.ts';

const broker = useBroker();
const log = createLog('silent');
let nats: NatsConnection;
let bucket: Awaited<ReturnType<typeof openOwnerBucket>>;
let stops: AbortController[] = [];

beforeAll(async () => {
  nats = await connectBroker(broker.url, log);
  await ensureTopology(nats, { eventsMaxBytes: 64 * 1_048_576, shards: 1 });
  bucket = await openOwnerBucket(nats);
});
beforeEach(async () => {
  for (const stop of stops) stop.abort(new Error('the test is over'));
  stops = [];
  await bucket.kv.delete(shardsOwnerKey);
});
afterAll(() => nats.close());

/** One process that asks for the shards until the test is over. */
class Process {
  readonly pauses = new StepwisePauses();
  readonly options: LeaseOptions;
  readonly taken: Promise<Term>;
  waits = 0;
  term: Term | undefined;

  constructor(owner: string, override: Partial<LeaseOptions> = {}) {
    const stop = new AbortController();
    stops.push(stop);
    const pause: LeaseOptions['pause'] = (ms, signal) => this.pauses.pause(ms, signal);
    this.options = { bucket, owner, migrations: 1, log, pause, ...override };
    this.taken = this.#take(stop.signal);
    this.taken.catch(() => {});
  }

  async #take(stop: AbortSignal): Promise<Term> {
    const lease = createLease(this.options);
    this.term = await lease.take({ stop, onWait: () => void this.waits++ });
    return this.term;
  }

  /** Has the process look or renew so many times. */
  async step(times = 1): Promise<void> {
    for (let time = 0; time < times; time++) await this.pauses.next();
  }
}

async function ownerNow(): Promise<string | undefined> {
  const read = await bucket.get(shardsOwnerKey);
  return read.kind === 'found' ? read.record.owner : read.kind;
}

it('robs no owner that lives, however late it renews and however long another one waits', async () => {
  const first = new Process('first');
  const term = await first.taken;
  const second = new Process('second');
  for (let round = 0; round < 3; round++) {
    await second.step(unchangedLooks - 1);
    await first.step();
  }
  expect(second.waits).toBeGreaterThan(2 * unchangedLooks);
  expect(second.term).toBeUndefined();
  expect(term.lost.aborted).toBe(false);
  expect(await ownerNow()).toBe('first');
  // Two renewals may be lost.
  expect(unchangedLooks * lookEveryMs).toBeGreaterThan(3 * renewEveryMs);
});

it('takes the shards at the last of the looks that find nothing changed, and the former owner hears of it', async () => {
  const first = new Process('first');
  const term = await first.taken;
  const second = new Process('second');
  await second.step(unchangedLooks - 1);
  expect(second.term).toBeUndefined();
  await second.pauses.end();
  await second.taken;
  expect(await ownerNow()).toBe('second');
  expect(term.lost.aborted).toBe(false);
  await first.pauses.end();
  await expect.poll(() => term.lost.aborted).toBe(true);
  await term.end();
  expect(await ownerNow()).toBe('second');
});

it('takes at its next look what an owner has given up', async () => {
  const first = new Process('first');
  const term = await first.taken;
  const second = new Process('second');
  await second.pauses.paused();
  await term.end();
  expect(await ownerNow()).toBeUndefined();
  await second.pauses.end();
  await second.taken;
});

it('waits for no process that was killed on its own data directory', async () => {
  const names: string[] = [];
  const keepName = (owner: string) => void names.push(owner);
  await new Process('killed', { keepName }).taken;
  await new Process('next', { previous: 'killed', keepName }).taken;
  expect(names).toEqual(['killed', 'next']);
  const other = new Process('other', { previous: 'killed' });
  await other.step(2);
  expect(other.term).toBeUndefined();
});

it('counts no look that the broker does not answer, and begins anew after it', async () => {
  await new Process('first').taken;
  let isAway = false;
  const get: typeof bucket.get = (key) =>
    isAway ? Promise.reject(new Error('no answer')) : bucket.get(key);
  const second = new Process('second', { bucket: { ...bucket, get } });
  await second.step(unchangedLooks - 1);
  isAway = true;
  await second.step(3 * unchangedLooks);
  isAway = false;
  await second.step(unchangedLooks);
  expect(second.term).toBeUndefined();
  await second.pauses.end();
  await second.taken;
});

it('an owner keeps the shards whose renewal was not answered, or met an older record', async () => {
  const lies: ('conflict' | 'throws' | 'old')[] = ['conflict', 'throws', 'old'];
  let former: Awaited<ReturnType<typeof bucket.get>> | undefined;
  let lie: (typeof lies)[number] | undefined;
  const first = new Process('first', {
    bucket: {
      ...bucket,
      async update(key, record, revision) {
        former = await bucket.get(key);
        if (lie === 'old') return { kind: 'conflict' };
        const written = await bucket.update(key, record, revision);
        if (lie === 'throws') throw new Error('no answer');
        return lie === 'conflict' ? { kind: 'conflict' } : written;
      },
      get: async (key) => (lie === 'old' && former !== undefined ? former : bucket.get(key)),
    },
  });
  const term = await first.taken;
  for (lie of lies) await first.step();
  lie = undefined;
  await first.step(2);
  expect(term.lost.aborted).toBe(false);
  await bucket.kv.delete(shardsOwnerKey);
  await first.step(2);
  expect(term.lost.aborted).toBe(false);
  expect(await ownerNow()).toBe('first');
});

it('one of two that find the shards free at once has them', async () => {
  const both = [new Process('first'), new Process('second')];
  await Promise.race(both.map(({ taken }) => taken));
  const waiting = both.find(({ term }) => term === undefined) ?? both[0];
  await waiting?.step(2);
  expect(both.filter(({ term }) => term !== undefined)).toHaveLength(1);
});

it('an older version does not take back what a newer one takes away before it changes tables', async () => {
  const older = new Process('older');
  const term = await older.taken;
  const newer = new StepwisePauses();
  const pause: LeaseOptions['pause'] = (ms, signal) => newer.pause(ms, signal);
  const options: LeaseOptions = { bucket, owner: 'newer', migrations: 2, log, pause };
  const refused = refuseOlderOwners(options);
  // For as long as an owner that lives needs to hear of it.
  await newer.paused();
  expect(newer.asked).toEqual([restMs]);
  await older.pauses.end();
  await expect.poll(() => term.lost.aborted).toBe(true);
  await newer.end();
  await refused;
  const again = new Process('again');
  await again.step(2 * unchangedLooks);
  expect(again.term).toBeUndefined();
  await new Process('newer', { migrations: 2 }).taken;
  // The same version is not refused, and nobody is waited for.
  await refuseOlderOwners(options);
  expect(await ownerNow()).toBe('newer');
});
