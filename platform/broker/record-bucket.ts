// Records in one of the broker's key-value buckets: JSON with a schema version, changed only by compare-and-set.
// Keeping a bucket in memory is watched-bucket.ts; the list of buckets is buckets.ts.

import { apiErrorCode, type KV, type KvEntry, type NatsConnection } from './nats.ts';

/** Every record names the version of its schema, so that a reader can tell an older record from a newer one. */
export interface VersionedRecord {
  schemaVersion: number;
}

/** Narrows parsed JSON to a record; undefined where it is not one that this code can read. */
type RecordReader<T> = (value: unknown) => T | undefined;

export type ReadResult<T> =
  | { kind: 'found'; record: T; revision: number }
  | { kind: 'absent' }
  | { kind: 'unreadable'; revision: number };

/** `conflict`: another write came first, and nothing was written. */
export type WriteResult = { kind: 'written'; revision: number } | { kind: 'conflict' };

/**
 * One bucket. Keys match `[-/_=.a-zA-Z0-9]+`. All calls throw NatsError where the broker does not answer within 5 s; a
 * write that throws may have happened.
 */
export interface RecordBucket<T extends VersionedRecord> {
  readonly name: string;
  readonly kv: KV;
  readonly read: RecordReader<T>;
  /** Reads from the stream's leader: never older than a write that was acknowledged before the call. */
  get(key: string): Promise<ReadResult<T>>;
  /** Writes only where the key holds nothing. */
  create(key: string, record: T): Promise<WriteResult>;
  /** Writes only where `revision` is still the key's newest. */
  update(key: string, record: T, revision: number): Promise<WriteResult>;
}

const requestTimeoutMs = 5_000;
const wrongLastSequence = 10_071;

/** Opens a bucket that exists: ensureTopology makes them all. */
export async function openBucket<T extends VersionedRecord>(
  connection: NatsConnection,
  name: string,
  read: RecordReader<T>,
): Promise<RecordBucket<T>> {
  const js = connection.jetstream({ timeout: requestTimeoutMs });
  // bindOnly also turns "direct get" off, which any replica may answer with an older value.
  const kv = await js.views.kv(name, { bindOnly: true });
  return {
    name,
    kv,
    read,
    async get(key) {
      const entry = await kv.get(key);
      return entry === null ? { kind: 'absent' } : readEntry(entry, read);
    },
    create: (key, record) => written(kv.create(key, JSON.stringify(record))),
    update: (key, record, revision) => written(kv.update(key, JSON.stringify(record), revision)),
  };
}

/** Narrows an object to one whose fields `names` are all strings: the larger part of every record's reader. */
export function hasTexts<N extends string>(
  value: object,
  names: readonly N[],
): value is Record<N, string> {
  return names.every((name) => typeof Reflect.get(value, name) === 'string');
}

/** The record in one entry of a key's history. */
export function readEntry<T>(entry: KvEntry, read: RecordReader<T>): ReadResult<T> {
  if (entry.operation !== 'PUT') return { kind: 'absent' };
  const { revision } = entry;
  let value: unknown;
  try {
    value = entry.json();
  } catch {
    return { kind: 'unreadable', revision };
  }
  const record = read(value);
  return record === undefined
    ? { kind: 'unreadable', revision }
    : { kind: 'found', record, revision };
}

async function written(write: Promise<number>): Promise<WriteResult> {
  try {
    return { kind: 'written', revision: await write };
  } catch (error) {
    if (apiErrorCode(error) === wrongLastSequence) return { kind: 'conflict' };
    throw error;
  }
}
