// Has tables taken, or changed, at one moment at which no batch is half stored: no ledger promises one, and none
// changes until that is done. The deduplication tokens of inserts are in no copy of a table, so that a batch which is
// half in it could not be repeated. Writers are asked to stand still (pipeline/hold.ts); whether they did, the ledgers
// tell.

import { setTimeout as delay } from 'node:timers/promises';
import { buckets } from '../broker/buckets.ts';
import type { NatsConnection } from '../broker/nats.ts';
import { eventsLedgerKey, profilesLedgerKey } from '../broker/streams.ts';
import { hoursKey } from './ledger-hours.ts';
import { type HoldWord, longestHoldMs, writersHoldSubject } from './writers-hold.ts';

const tellEveryMs = 500;
const lookEveryMs = 50;
const tries = 6;
/** Where less is left of the time that writers stand still, nothing is begun. */
const leftMs = 2_000;

/** A key of a bucket at the moment of the tables. */
export interface SavedRecord {
  bucket: string;
  key: string;
  /** The record's text; null where there was none. */
  value: string | null;
}

interface Boundary<T> {
  taken: T;
  records: SavedRecord[];
  /** From the first word to the writers until the last one. */
  stoodMs: number;
}

interface BoundaryOptions<T> {
  connection: NatsConnection;
  shards: number;
  /** Takes the tables. What it took before is given up. `isStill` tells whether no ledger was written since. */
  take(records: readonly SavedRecord[], isStill: () => Promise<boolean>): Promise<T>;
}

/** Throws one sentence where the writers do not stand still. */
export async function atBoundary<T>(options: BoundaryOptions<T>): Promise<Boundary<T>> {
  const { connection } = options;
  for (let attempt = 1; attempt <= tries; attempt++) {
    const tell = (word: HoldWord): void => connection.publish(writersHoldSubject, word);
    tell('hold');
    const telling = setInterval(() => tell('hold'), tellEveryMs);
    const startedMs = performance.now();
    try {
      const taken = await takeWhileStill(options, startedMs + longestHoldMs);
      if (taken !== undefined) {
        return { ...taken, stoodMs: Math.round(performance.now() - startedMs) };
      }
    } finally {
      clearInterval(telling);
      tell('go');
      await connection.flush();
    }
    // As long as the writers stood still they go on before they stand still again.
    await delay(performance.now() - startedMs + tellEveryMs);
  }
  throw new Error(
    `the writers did not stand still in ${tries} tries: a batch is being stored for a long time, or their broker user ` +
      `may not subscribe to ${writersHoldSubject}`,
  );
}

async function takeWhileStill<T>(
  { connection, shards, take }: BoundaryOptions<T>,
  untilMs: number,
): Promise<Omit<Boundary<T>, 'stoodMs'> | undefined> {
  const lastWrite = await ledgerWrites(connection);
  while (performance.now() < untilMs) {
    const before = await lastWrite();
    const records = await ledgerRecords(connection, shards);
    if (!records.some(isPromising)) {
      const isStill = async () =>
        performance.now() < untilMs - leftMs && (await lastWrite()) === before;
      const taken = await take(records, isStill);
      if ((await lastWrite()) === before) return { taken, records };
    }
    await delay(lookEveryMs);
  }
  return undefined;
}

/** The sequence of the last write of any ledger. */
async function ledgerWrites(connection: NatsConnection): Promise<() => Promise<number>> {
  const { streams } = await connection.jetstreamManager();
  return async () => (await streams.info(`KV_${buckets.ledger}`)).state.last_seq;
}

/** Ledgers before hours: an hour leaves a ledger only after its bucket has it. */
async function ledgerRecords(connection: NatsConnection, shards: number): Promise<SavedRecord[]> {
  const every = Array.from({ length: shards }, (_, shard) => shard);
  const keys = [
    ...every.flatMap((shard) => [
      { bucket: buckets.ledger, key: eventsLedgerKey(shard) },
      { bucket: buckets.ledger, key: profilesLedgerKey(shard) },
    ]),
    ...every.map((shard) => ({ bucket: buckets.ledgerHours, key: hoursKey(shard) })),
  ];
  const records: SavedRecord[] = [];
  for (const { bucket, key } of keys) {
    const kv = await connection.jetstream().views.kv(bucket, { bindOnly: true });
    const entry = await kv.get(key);
    const value = entry?.operation === 'PUT' ? entry.string() : null;
    records.push({ bucket, key, value });
  }
  return records;
}

function isPromising({ bucket, value }: SavedRecord): boolean {
  if (bucket !== buckets.ledger || value === null) return false;
  const record: unknown = JSON.parse(value);
  return typeof record === 'object' && record !== null && Reflect.has(record, 'pending');
}
