// Tells the ClickHouse that a broker's events are stored in from every other one: it holds an id that stands at the
// broker too. Two processes of one broker that have a ClickHouse each would answer from half of the events. What is in
// the store, and what a start does about another one, is not known here.

import { randomUUID } from 'node:crypto';
import { ClickHouseError } from '@clickhouse/client';
import { buckets } from '../broker/buckets.ts';
import type { NatsConnection } from '../broker/nats.ts';
import { hasTexts, openBucket, type ReadResult } from '../broker/record-bucket.ts';
import type { DatabaseClient } from './clickhouse.ts';

/**
 * `unclaimed`: the broker has not met a store, or only by a version that did not tell them apart. `another`: the group
 * at this place is not the broker's, though as many are. `otherCount`: the broker's store has another number of groups.
 * `otherOrder`: its groups are named in another order.
 */
export type StoreMatch =
  | { kind: 'this' | 'unclaimed' | 'otherOrder' }
  | { kind: 'another'; place: number }
  | { kind: 'otherCount'; kept: number };

type Store = Pick<DatabaseClient, 'query'>;

interface StoreOptions {
  nats: NatsConnection;
  /** Of each group, in the order of the setting. */
  groups: readonly DatabaseClient[];
}

/** In the instance bucket: an id of each group, in their order. */
type StoreRecord =
  | { schemaVersion: 1; storeId: string }
  | { schemaVersion: 2; storeIds: readonly string[] };

const recordKey = 'store';
const unknownTable = '60';
const unknownDatabase = '81';

function readStore(value: unknown): StoreRecord | undefined {
  if (typeof value !== 'object' || value === null) return undefined;
  if (Reflect.get(value, 'schemaVersion') === 1 && hasTexts(value, ['storeId'])) {
    return { schemaVersion: 1, storeId: value.storeId };
  }
  const storeIds: unknown = Reflect.get(value, 'storeIds');
  if (Reflect.get(value, 'schemaVersion') !== 2 || !Array.isArray(storeIds)) return undefined;
  if (!storeIds.every((id) => typeof id === 'string')) return undefined;
  return { schemaVersion: 2, storeIds };
}

/** A version that knows no groups cannot read a record of several, and refuses it. */
function recordOf(storeIds: readonly string[]): StoreRecord {
  const [storeId = '', ...others] = storeIds;
  return others.length === 0 ? { schemaVersion: 1, storeId } : { schemaVersion: 2, storeIds };
}

function idsOf(record: StoreRecord): readonly string[] {
  return record.schemaVersion === 1 ? [record.storeId] : record.storeIds;
}

/** Whether the groups are the broker's. Throws one sentence where its record of them cannot be read. */
export async function matchStore({ nats, groups }: StoreOptions): Promise<StoreMatch> {
  const bucket = await openBucket(nats, buckets.instance, readStore);
  return matchRecord(groups, await bucket.get(recordKey));
}

async function matchRecord(
  groups: readonly DatabaseClient[],
  read: ReadResult<StoreRecord>,
): Promise<StoreMatch> {
  if (read.kind === 'absent') return { kind: 'unclaimed' };
  if (read.kind === 'unreadable') throw new Error("the broker's record of its store is unreadable");
  const ids = idsOf(read.record);
  if (groups.length !== ids.length) return { kind: 'otherCount', kept: ids.length };
  const held = await Promise.all(
    groups.map((clickhouse) => Promise.all(ids.map((id) => hasId(clickhouse, id)))),
  );
  const place = held.findIndex((ofGroup, at) => ofGroup[at] !== true);
  if (place === -1) return { kind: 'this' };
  const isKnown = held.every((ofGroup) => ofGroup.includes(true));
  return isKnown ? { kind: 'otherOrder' } : { kind: 'another', place };
}

interface Claim {
  /** Whether this store takes the place of another one. */
  replaces: boolean;
  /** Whether the store gets a new id, so that a copy of it, which has the one of before, is another store. */
  renews: boolean;
}

/**
 * Makes these groups the broker's store where it has none, and in place of another one where `replaces` says so. Call
 * it after the migrations. Answers another kind than `this` where another one is the broker's, which may have become so
 * just now. Shards would be looked for in the wrong group where their number or order changed: nothing replaces that.
 */
export async function claimStore(
  { nats, groups }: StoreOptions,
  { replaces, renews }: Claim,
): Promise<StoreMatch> {
  const bucket = await openBucket(nats, buckets.instance, readStore);
  const found = await bucket.get(recordKey);
  const match = await matchRecord(groups, found);
  if (match.kind === 'this' && !renews) return match;
  if (match.kind === 'another' && !replaces) return match;
  if (match.kind === 'otherCount' || match.kind === 'otherOrder') return match;
  // The store is first to have the id: a start that is killed between the two, and one that another start on this
  // store has overtaken, leave an id in it that is nobody's, and the broker names one that it has.
  const record = recordOf(await Promise.all(groups.map(makeId)));
  if (found.kind === 'found') await bucket.update(recordKey, record, found.revision);
  else await bucket.create(recordKey, record);
  return matchStore({ nats, groups });
}

async function makeId(clickhouse: DatabaseClient): Promise<string> {
  const storeId = randomUUID();
  await clickhouse.command({
    query: 'INSERT INTO store_identity SELECT {storeId:String}, now64(3)',
    query_params: { storeId },
  });
  return storeId;
}

/** False where the migrations have not made the table. */
export async function hasId(clickhouse: Store, storeId: string): Promise<boolean> {
  return (await idsWhere(clickhouse, 'store_id = {storeId:String}', storeId)).length > 0;
}

/** One id of the store, which keeps it for ever; undefined where it has none yet. */
export async function oneId(clickhouse: Store): Promise<string | undefined> {
  return (await idsWhere(clickhouse, 'true'))[0];
}

async function idsWhere(clickhouse: Store, where: string, storeId = ''): Promise<string[]> {
  try {
    const result = await clickhouse.query({
      query: `SELECT store_id FROM store_identity WHERE ${where} LIMIT 1`,
      query_params: { storeId },
      format: 'JSONEachRow',
    });
    return (await result.json<{ store_id: string }>()).map(({ store_id }) => store_id);
  } catch (error) {
    const code = error instanceof ClickHouseError ? error.code : undefined;
    if (code === unknownTable || code === unknownDatabase) return [];
    throw error;
  }
}
