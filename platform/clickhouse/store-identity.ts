// Tells the ClickHouse that a broker's events are stored in from every other one: it holds an id that stands at the
// broker too. Two processes of one broker that have a ClickHouse each would answer from half of the events. What is in
// the store, and what a start does about another one, is not known here.

import { randomUUID } from 'node:crypto';
import { ClickHouseError } from '@clickhouse/client';
import { buckets } from '../broker/buckets.ts';
import type { NatsConnection } from '../broker/nats.ts';
import { hasTexts, openBucket } from '../broker/record-bucket.ts';
import type { DatabaseClient } from './clickhouse.ts';

/** `unclaimed`: the broker has not met a store, or only by a version that did not tell them apart. */
export type StoreMatch = 'this' | 'another' | 'unclaimed';

type Store = Pick<DatabaseClient, 'query'>;

interface StoreOptions {
  nats: NatsConnection;
  clickhouse: DatabaseClient;
}

/** In the instance bucket. */
interface StoreRecord {
  schemaVersion: 1;
  storeId: string;
}

const recordKey = 'store';
const unknownTable = '60';
const unknownDatabase = '81';

function readStore(value: unknown): StoreRecord | undefined {
  if (typeof value !== 'object' || value === null) return undefined;
  if (!hasTexts(value, ['storeId']) || Reflect.get(value, 'schemaVersion') !== 1) return undefined;
  return { schemaVersion: 1, storeId: value.storeId };
}

/** Which store is the broker's. Throws one sentence where its record cannot be read. */
export async function matchStore({ nats, clickhouse }: StoreOptions): Promise<StoreMatch> {
  const found = await (await openBucket(nats, buckets.instance, readStore)).get(recordKey);
  if (found.kind === 'absent') return 'unclaimed';
  if (found.kind === 'unreadable')
    throw new Error("the broker's record of its store is unreadable");
  return (await hasId(clickhouse, found.record.storeId)) ? 'this' : 'another';
}

interface Claim {
  /** Whether this store takes the place of another one. */
  replaces: boolean;
  /** Whether the store gets a new id, so that a copy of it, which has the one of before, is another store. */
  renews: boolean;
}

/**
 * Makes this store the broker's where it has none, and in place of another one where `replaces` says so. Call it after
 * the migrations. Answers `another` where another one is the broker's, which may have become so just now.
 */
export async function claimStore(
  { nats, clickhouse }: StoreOptions,
  { replaces, renews }: Claim,
): Promise<Exclude<StoreMatch, 'unclaimed'>> {
  const bucket = await openBucket(nats, buckets.instance, readStore);
  const found = await bucket.get(recordKey);
  const match =
    found.kind === 'found' && (await hasId(clickhouse, found.record.storeId)) ? 'this' : 'another';
  if (match === 'this' && !renews) return match;
  if (match === 'another' && found.kind !== 'absent' && !replaces) return match;
  // The store is first to have the id: a start that is killed between the two, and one that another start on this
  // store has overtaken, leave an id in it that is nobody's, and the broker names one that it has.
  const record: StoreRecord = { schemaVersion: 1, storeId: await makeId(clickhouse) };
  const write =
    found.kind === 'absent'
      ? await bucket.create(recordKey, record)
      : await bucket.update(recordKey, record, found.revision);
  if (write.kind === 'written') return 'this';
  return (await matchStore({ nats, clickhouse })) === 'this' ? 'this' : 'another';
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
