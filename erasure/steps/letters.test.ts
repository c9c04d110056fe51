// What the broker and the log of webhooks have of persons, on a real broker and engine: a batch of many is as many
// statements as one of few, and whoever goes on after a death finds the rows of letters that are erased already.

import { randomUUID } from 'node:crypto';
import { beforeAll, expect, it, vi } from 'vitest';
import { buckets } from '../../platform/broker/buckets.ts';
import { headers, type NatsConnection } from '../../platform/broker/nats.ts';
import { openBucket } from '../../platform/broker/record-bucket.ts';
import { deadLetterStream, deadLetterSubject } from '../../platform/broker/streams.ts';
import type { WatchedBucket } from '../../platform/broker/watched-bucket.ts';
import type { DatabaseClient } from '../../platform/clickhouse/clickhouse.ts';
import { oneGroup } from '../../platform/clickhouse/groups.ts';
import {
  type ErasureRecord,
  packIds,
  readErasureWork,
} from '../../platform/erasure/erasure-record.ts';
import { createLog } from '../../platform/log.ts';
import { LeaseLost } from '../../platform/turns/held-record.ts';
import { openErasureStores } from '../../test/harness/erasures/erasure-stores.ts';
import { useBroker, useEngine } from '../../test/harness/servers/use-servers.ts';
import { deliveries, storeAttempts } from '../../test/harness/tables/stored-attempts.ts';
import type { ErasureParts, StepContext } from '../erasure-parts.ts';
import { selectRows } from '../tables/select-rows.ts';
import { eraseLetters } from './letters.ts';
import { rowsLeft } from './settle.ts';

const broker = useBroker();
const engine = useEngine();
const log = createLog('silent');
let nats: NatsConnection;
let clickhouse: DatabaseClient;
let requests: WatchedBucket<ErasureRecord>;

beforeAll(async () => {
  const stores = await openErasureStores(broker.url, engine.url, log);
  ({ nats, clickhouse, requests } = stores);
  return () => stores.close();
});

async function partsOf(): Promise<ErasureParts> {
  return {
    ...{ nats, requests, shards: 1, log, clock: { nowMs: () => Date.now() } },
    clickhouse: oneGroup(clickhouse),
    work: await openBucket(nats, buckets.instance, readErasureWork),
    profiles: { change: async () => {} },
    box: { open: (sealed) => sealed },
  };
}

async function requestOf(projectId: string, distinctId: string): Promise<ErasureRecord> {
  const sql = `SELECT lower(hex(millraceProfileHash('${projectId}', '${distinctId}')))`;
  const [[id] = []] = await selectRows(clickhouse, sql);
  const profileId = String(id);
  return {
    ...{ schemaVersion: 1, requestId: randomUUID(), projectId, status: 'processing' },
    ...{ profileId, ids: packIds([profileId]), sealedId: distinctId, events: 0, error: '' },
    ...{ requestedAtMs: Date.now(), completedAtMs: 0 },
  };
}

let renewals = 0;
const contextOf = (some: readonly ErasureRecord[]): StepContext => ({
  batch: {
    ...{ id: randomUUID(), requestIds: some.map(({ requestId }) => requestId), group: 0 },
    ...{ step: 'letters', round: 1, cuts: 0, stored: [], storedBefore: [], events: {} },
  },
  ...{ requests: some, store: clickhouse, keep: async () => {}, change: async () => {} },
  renew: async () => void renewals++,
});

/** A dead letter of each, with its row. */
async function storeLetters(projectId: string, distinctIds: readonly string[]): Promise<void> {
  for (const [at, distinctId] of distinctIds.entries()) {
    const named = headers();
    named.set('Millrace-Project', projectId);
    named.set('Millrace-Stream-Seq', String(at));
    const data = JSON.stringify({ distinctId });
    await nats.jetstream().publish(deadLetterSubject(0), data, { headers: named });
  }
  const rows = distinctIds.map((_, at) => `('${projectId}', now64(3), 0, ${at})`);
  await clickhouse.command({
    query: `INSERT INTO dead_letters (project_id, time, shard, stream_seq) VALUES ${rows.join(', ')}`,
  });
}

const letterRows = (projectId: string) =>
  selectRows(
    clickhouse,
    `SELECT stream_seq FROM dead_letters WHERE project_id = '${projectId}' ORDER BY 1`,
  );

it('asks the store no more for many persons than for one, and keeps the lease meanwhile', async () => {
  const projectId = randomUUID();
  const many = Array.from({ length: 20 }, (_, at) => `person${at}`);
  const parts = await partsOf();
  const requestsOf = (ids: readonly string[]) =>
    Promise.all(ids.map((id) => requestOf(projectId, id)));
  const statementsOf = async (ids: readonly string[]): Promise<number> => {
    const everybody = [...ids, 'bob'];
    await storeLetters(projectId, everybody);
    await storeAttempts(
      clickhouse,
      projectId,
      Object.fromEntries(everybody.map((id) => [id, Date.now()])),
    );
    const context = contextOf(await requestsOf(ids));
    expect((await rowsLeft(parts, context)).get('webhook_attempts')).toBe(ids.length);
    const query = vi.spyOn(clickhouse, 'query');
    renewals = 0;
    await eraseLetters(parts, context);
    const asked = query.mock.calls.length;
    query.mockRestore();
    expect(renewals).toBeGreaterThan(2 * ids.length);
    await expect.poll(() => deliveries(clickhouse, projectId)).toEqual([['bob', '2']]);
    await expect.poll(() => letterRows(projectId)).toEqual([[String(ids.length)]]);
    expect((await rowsLeft(parts, context)).get('webhook_attempts')).toBe(0);
    await clickhouse.command({ query: 'TRUNCATE TABLE webhook_attempts' });
    await clickhouse.command({ query: 'TRUNCATE TABLE dead_letters' });
    return asked;
  };
  const few = await statementsOf(['ada']);
  expect(await statementsOf(many)).toBe(few);
});

it('finds the rows of letters again where their erasure ended between two of them', async () => {
  const projectId = randomUUID();
  await storeLetters(projectId, ['ada', 'ada', 'bob']);
  const context = contextOf([await requestOf(projectId, 'ada')]);
  let left = Number.POSITIVE_INFINITY;
  const renew = async (): Promise<void> => {
    if (left-- === 0) throw new LeaseLost('another process has the lease');
  };
  const { streams } = await nats.jetstreamManager();
  const messages = async () => (await streams.info(deadLetterStream)).state.messages;
  const before = await messages();
  // Each try goes on for one call longer: some end between the first letter and its row.
  for (let tries = 0; (await messages()) === before; tries++) {
    left = tries;
    await eraseLetters(await partsOf(), { ...context, renew }).catch((error: unknown) => {
      if (!(error instanceof LeaseLost)) throw error;
    });
  }
  left = Number.POSITIVE_INFINITY;
  await eraseLetters(await partsOf(), { ...context, renew });
  expect(await messages()).toBe(before - 2);
  await expect.poll(() => letterRows(projectId)).toEqual([['2']]);
});
