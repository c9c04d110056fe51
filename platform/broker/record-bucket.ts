// Records in one of the broker's key-value buckets: JSON with a schema version, changed only by compare-and-set.
// Keeping a bucket in memory is watched-bucket.ts; the list of buckets is buckets.ts, their room bucket-room.ts.

import type { BucketRoom } from './bucket-room.ts';
import { messageTooLarge, storeFailed, wrongLastSequence } from './connection/error-codes.ts';
import { apiErrorCode, type KV, type KvEntry, type NatsConnection } from './nats.ts';
import { despiteSlowBroker } from './start/slow-broker.ts';

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

/** The bucket has no room for more. Nothing was written. */
export class BucketFull extends Error {}

/** The record would grow beyond its quota. Nothing was written. */
export class RecordFull extends Error {
  constructor(maxBytes: number) {
    super(`a record takes at most ${maxBytes} bytes`);
  }
}

/**
 * One bucket. Keys match `[-/_=.a-zA-Z0-9]+`. All calls throw NatsError where the broker does not answer within 5 s; a
 * write that throws it may have happened. Writes throw BucketFull and RecordFull.
 */
export interface RecordBucket<T extends VersionedRecord> {
  readonly name: string;
  readonly kv: KV;
  readonly read: RecordReader<T>;
  /**
   * Reads from the stream's leader: never older than a write that was acknowledged before the call, but for a cluster's
   * new leader that has not applied its log yet. A change of what was read then meets a conflict.
   */
  get(key: string): Promise<ReadResult<T>>;
  /** Writes only where the key holds nothing. */
  create(key: string, record: T): Promise<WriteResult>;
  /** Writes only where `revision` is still the key's newest. */
  update(key: string, record: T, revision: number): Promise<WriteResult>;
}

const requestTimeoutMs = 5_000;

/**
 * What a record may grow by at any time: the time of a key's revocation, a session's spent token. The smallest thing
 * that a caller can add to a record, a key without a name, takes more.
 */
const graceBytes = 128;

/**
 * Opens a bucket that exists: ensureTopology makes them all. Without `room` the writer may use all of it, as the
 * operator's commands do.
 */
export async function openBucket<T extends VersionedRecord>(
  connection: NatsConnection,
  name: string,
  read: RecordReader<T>,
  room?: BucketRoom,
): Promise<RecordBucket<T>> {
  const js = connection.jetstream({ timeout: requestTimeoutMs });
  // bindOnly also turns "direct get" off, which any replica may answer with an older value.
  const kv = await despiteSlowBroker(`the bucket ${name} is opened`, () =>
    js.views.kv(name, { bindOnly: true }),
  );
  return {
    name,
    kv,
    read,
    async get(key) {
      const entry = await kv.get(key);
      return entry === null ? { kind: 'absent' } : readEntry(entry, read);
    },
    async create(key, record) {
      const text = JSON.stringify(record);
      const bytes = Buffer.byteLength(text);
      refuseBeyond(room, bytes);
      room?.added(bytes);
      return written(kv.create(key, text), room);
    },
    async update(key, record, revision) {
      const text = JSON.stringify(record);
      const bytes = Buffer.byteLength(text);
      // The former size is asked for only where it matters.
      if (room !== undefined && (room.isScarce() || bytes > room.maxRecordBytes)) {
        const before = (await kv.get(key))?.length ?? 0;
        if (bytes > before + graceBytes) refuseBeyond(room, bytes);
      }
      return written(kv.update(key, text, revision), room);
    },
  };
}

function refuseBeyond(room: BucketRoom | undefined, bytes: number): void {
  if (room === undefined) return;
  if (bytes > room.maxRecordBytes) throw new RecordFull(room.maxRecordBytes);
  if (!room.isScarce()) return;
  room.refused();
  throw new BucketFull('the bucket is nearly full');
}

/** Narrows an object to one whose fields `names` are all strings: the larger part of every record's reader. */
export function hasTexts<N extends string>(
  value: object,
  names: readonly N[],
): value is Record<N, string> {
  return names.every((name) => typeof Reflect.get(value, name) === 'string');
}

export function hasNumbers(value: object, names: readonly string[]): boolean {
  return names.every((name) => Number.isFinite(Reflect.get(value, name)));
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

async function written(write: Promise<number>, room?: BucketRoom): Promise<WriteResult> {
  try {
    return { kind: 'written', revision: await write };
  } catch (error) {
    switch (apiErrorCode(error)) {
      case wrongLastSequence:
        return { kind: 'conflict' };
      case storeFailed:
        room?.refused();
        throw new BucketFull('the broker has no room for the record', { cause: error });
      case messageTooLarge:
        throw new BucketFull('the broker takes no record of this size', { cause: error });
      default:
        throw error;
    }
  }
}
