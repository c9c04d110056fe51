// The writer of profiles on a real broker and engine: what it stores, and how it goes on after a crash between the
// steps of a batch.

import type { ClickHouseClient } from '@clickhouse/client';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { createClickHouse } from '../platform/clickhouse.ts';
import { systemClock } from '../platform/clock.ts';
import { openBucket, type RecordBucket } from '../platform/kv.ts';
import { createLog } from '../platform/log.ts';
import { createMetrics } from '../platform/metrics.ts';
import { connectBroker, type NatsConnection } from '../platform/nats.ts';
import {
  buckets,
  ensureTopology,
  profilesLedgerKey,
  profilesStream,
  profilesSubject,
} from '../platform/topology.ts';
import { encodeContext, encodeFrame } from '../proto/wire/frame.ts';
import { encodeChange, type ProfileChange } from '../proto/wire/profile-change.ts';
import { startBroker, type TestBroker } from '../test/broker.ts';
import { startEngine, type TestEngine } from '../test/engine.ts';
import { streamCreated } from './event-stream.ts';
import { type LedgerRecord, readLedgerRecord } from './ledger.ts';
import { createPipelineMetrics } from './pipeline-metrics.ts';
import { newRecord } from './profile-record.ts';
import { runProfileShard } from './profile-shard.ts';
import { blockOf, insertBlock, isStored, loadMembers, loadRecords } from './profile-store.ts';
import { ProfileTraits } from './profile-traits.ts';

const log = createLog('silent');
let broker: TestBroker;
let engine: TestEngine;
let nats: NatsConnection;
let clickhouse: ClickHouseClient;
let ledger: RecordBucket<LedgerRecord>;
beforeAll(async () => {
  broker = await startBroker();
  engine = await startEngine();
  nats = await connectBroker(broker.url, log);
  await ensureTopology(nats, { eventsMaxBytes: 64 * 1_048_576, shards: 1 });
  clickhouse = createClickHouse(engine.url, { log, maxConnections: 4 });
  ledger = await openBucket(nats, buckets.ledger, readLedgerRecord);
}, 60_000);
afterAll(async () => {
  await clickhouse.close();
  await nats.close();
  await Promise.all([broker.stop(), engine.stop()]);
});

/** One frame of these changes; returns its sequence. */
async function publish(projectId: string, ...changes: ProfileChange[]): Promise<number> {
  const context = encodeContext({ projectId, credential: 'private', receiveTimeMs: Date.now() });
  const requests = changes.map((change) => ({ context, body: encodeChange(change), events: 1 }));
  return (await nats.jetstream().publish(profilesSubject(0), encodeFrame(requests))).seq;
}

function startWriter() {
  const stop = new AbortController();
  const ended = runProfileShard({
    nats,
    clickhouse,
    shard: 0,
    clock: systemClock,
    log,
    metrics: createPipelineMetrics(createMetrics()),
    stop: stop.signal,
    abort: new AbortController().signal,
    onState: () => {},
  });
  return {
    async done(seq: number): Promise<void> {
      while ((await hwm()) < seq) await new Promise((resolve) => setTimeout(resolve, 10));
    },
    async stop(): Promise<unknown> {
      stop.abort();
      return ended;
    },
  };
}

async function hwm(): Promise<number> {
  const read = await ledger.get(profilesLedgerKey(0));
  return read.kind === 'found' ? read.record.hwm : 0;
}

function identify(externalId: string, traits: [string, string][], anonymousId = ''): ProfileChange {
  return { kind: 'identify', externalId, anonymousId, deviceId: '', traits };
}

async function traitsOf(projectId: string, distinctId: string): Promise<unknown> {
  const [found] = await loadRecords(clickhouse, [{ projectId, distinctId }]);
  return found && Object.fromEntries(found.traits?.values ?? []);
}

/** What a writer leaves that died after the promise, before or after its insert. */
async function promise(seq: number): Promise<string> {
  const created = await streamCreated(nats, profilesStream(0));
  const second = BigInt(Math.floor(Date.parse(created) / 1_000) - Date.UTC(2020, 0, 1) / 1_000);
  const version = String((second << 34n) + BigInt(seq));
  const read = await ledger.get(profilesLedgerKey(0));
  if (read.kind !== 'found') throw new Error('no ledger');
  const counts = { accepted: 1, stored: 1, duplicates: 0, deadLetters: 0 };
  const inserts = [{ month: 0, token: version, rows: 1, idsHash: '' }];
  const pending = { seqs: [[seq, seq]] as [number, number][], inserts, counts };
  await ledger.update(profilesLedgerKey(0), { ...read.record, pending }, read.revision);
  return version;
}

it('finishes a promised batch once, whether its block was inserted or not', async () => {
  const first = startWriter();
  await first.done(
    await publish('crash', identify('u', [['a', '1']]), identify('gone', [['a', '1']])),
  );
  expect(await first.stop()).toEqual({ kind: 'stopped' });

  const lost = await publish('crash', identify('u', [['b', '2']]), {
    kind: 'delete',
    distinctId: 'gone',
  });
  await promise(lost);
  const second = startWriter();
  await second.done(lost);
  await second.stop();
  expect(await traitsOf('crash', 'u')).toEqual({ a: '1', b: '2' });
  expect(await traitsOf('crash', 'gone')).toEqual({});

  const landed = await publish('crash', identify('u', [['c', '3']]));
  const version = await promise(landed);
  const own = {
    ...newRecord('crash', 'u'),
    named: true,
    traits: new ProfileTraits([['landed', '1']]),
  };
  await insertBlock(clickhouse, blockOf([own], 0, version));
  const third = startWriter();
  await third.done(landed);
  const next = await publish('crash', identify('u', [['d', '4']]));
  await third.done(next);
  await third.stop();
  // The block that was there is what counts: it is not computed anew.
  expect(await traitsOf('crash', 'u')).toEqual({ landed: '1', d: '4' });
});

it('applies the changes of one batch in order, and stores a batch as one part', async () => {
  const writer = startWriter();
  const seq = await publish(
    'order',
    identify('u', [['a', '1']], 'anon-1'),
    { kind: 'delete', distinctId: 'anon-1' },
    identify('u', [['b', 'null']]),
    { kind: 'alias', previousId: 'u', externalId: 'root' },
    identify('u', [['b', '2']]),
    { kind: 'unmerge', distinctId: 'anon-1' },
    identify('v', [], 'anon-1'),
  );
  await writer.done(seq);
  await writer.stop();
  expect(await traitsOf('order', 'root')).toEqual({ b: '2' });
  const [anonymous] = await loadRecords(clickhouse, [{ projectId: 'order', distinctId: 'anon-1' }]);
  expect(anonymous).toMatchObject({ owner: 'v', root: 'v', named: false, mergeSource: 'identify' });
});

it('takes an id from its owner with all that was merged into it, though it remembers none of them', async () => {
  const first = startWriter();
  const merged = await publish(
    'unmerge',
    identify('b', [['b', '1']]),
    { kind: 'alias', previousId: 'b', externalId: 'c' },
    identify('c', [], 'anon-c'),
    { kind: 'alias', previousId: 'c', externalId: 'd' },
    identify('b', [], 'anon-b'),
  );
  await first.done(merged);
  await first.stop();
  const second = startWriter();
  await second.done(await publish('unmerge', { kind: 'unmerge', distinctId: 'c' }));
  await second.stop();
  const names = ['anon-b', 'anon-c', 'b', 'c', 'd'].map((distinctId) => {
    return { projectId: 'unmerge', distinctId };
  });
  const found = await loadRecords(clickhouse, names);
  expect(Object.fromEntries(found.map(({ distinctId, root }) => [distinctId, root]))).toEqual({
    'anon-b': 'c',
    'anon-c': 'c',
    b: 'c',
    c: '',
    d: '',
  });
});

it('forgets no merge over a batch that only passes by it', async () => {
  const writer = startWriter();
  await writer.done(
    await publish(
      'passing',
      { kind: 'alias', previousId: 'b', externalId: 'c' },
      { kind: 'alias', previousId: 'c', externalId: 'd' },
    ),
  );
  // To see what must go with x, the owners of b are followed past c, which the batch does not name.
  await writer.done(
    await publish(
      'passing',
      identify('b', []),
      { kind: 'alias', previousId: 'x', externalId: 'd' },
      { kind: 'unmerge', distinctId: 'x' },
    ),
  );
  await writer.done(await publish('passing', { kind: 'alias', previousId: 'c', externalId: 'e' }));
  await writer.stop();
  const [found] = await loadRecords(clickhouse, [{ projectId: 'passing', distinctId: 'c' }]);
  expect(found).toMatchObject({ owner: 'd', root: 'd' });
});

it('reads back what it stored, of many ids and of few, and tells blocks apart', async () => {
  const odd = ["it's", 'a b:c', '\\', '😀', '{p:String}'];
  const ids = [...odd, ...Array.from({ length: 20_000 }, (_, index) => `id-${index}`)];
  const records = ids.map((distinctId) => ({
    ...newRecord('many', distinctId),
    named: true,
    traits: new ProfileTraits([[distinctId, JSON.stringify(distinctId)]]),
    owner: 'owner',
    root: 'owner',
    wasClaimed: true,
  }));
  await insertBlock(clickhouse, blockOf(records, 3, '77'));
  const result = await clickhouse.query({
    query: 'SELECT uniqExact(_part) AS parts, count() AS n FROM profiles WHERE version = 77',
    format: 'JSONEachRow',
  });
  expect(await result.json()).toEqual([{ parts: '1', n: '40010' }]);
  expect(await isStored(clickhouse, 3, '77')).toBe(true);
  expect(await isStored(clickhouse, 3, '78')).toBe(false);
  expect(await isStored(clickhouse, 4, '77')).toBe(false);

  const names = ids.map((distinctId) => ({ projectId: 'many', distinctId }));
  for (const asked of [names, names.slice(0, 7)]) {
    const found = await loadRecords(clickhouse, asked);
    expect(found.map(({ distinctId }) => distinctId).sort()).toEqual(
      asked.map(({ distinctId }) => distinctId).sort(),
    );
    const one = found.find(({ distinctId }) => distinctId === "it's");
    expect(one).toMatchObject({
      named: true,
      owner: 'owner',
    });
    expect(one?.traits?.values).toEqual(new Map([["it's", `"it's"`]]));
  }
  expect(await loadRecords(clickhouse, [{ projectId: 'other', distinctId: 'id-1' }])).toEqual([]);
  expect((await loadMembers(clickhouse, [{ projectId: 'many', distinctId: 'owner' }])).length).toBe(
    ids.length,
  );
});
