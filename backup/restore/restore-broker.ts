// Puts the streams and buckets of a backup into a broker that has none of them, and the ledgers of the tables' moment.

import { buckets } from '../../platform/broker/buckets.ts';
import { noSuchStream } from '../../platform/broker/connection/error-codes.ts';
import { ensureBucket, unlessCode } from '../../platform/broker/ensure-stream.ts';
import type { NatsConnection } from '../../platform/broker/nats.ts';
import {
  eventsLedgerKey,
  eventsStream,
  eventsSubject,
  profilesLedgerKey,
  profilesStream,
  profilesSubject,
  shardsOwnerKey,
} from '../../platform/broker/streams.ts';
import type { SavedRecord } from '../../platform/ledger/boundary.ts';
import type { Manifest } from '../manifest.ts';
import { restoreStream } from '../stream-snapshot.ts';

const atOnce = 256;
const nothing = new Uint8Array();

/** Throws one sentence where the broker holds a stream of the backup; with `again` a restore has left it. */
export async function requireEmptyBroker(
  connection: NatsConnection,
  { streams }: Manifest,
  { again }: { again: boolean },
): Promise<void> {
  const manager = await connection.jetstreamManager();
  const names = [...streams.map(({ name }) => name), `KV_${buckets.salts}`];
  for (const name of names) {
    const found = await unlessCode(noSuchStream, manager.streams.info(name));
    if (found === undefined) continue;
    if (!again) {
      throw new Error(`the broker holds the stream ${name} already: restore into an empty one`);
    }
    await manager.streams.delete(name);
  }
}

/** `connection` is of a user who may restore streams. */
export async function restoreBroker(
  connection: NatsConnection,
  manifest: Manifest,
  directory: string,
): Promise<void> {
  for (const stream of manifest.streams) await restoreStream(connection, stream, directory);
  // No backup has salts. A start would take the missing bucket for a lost one.
  await ensureBucket(connection, buckets.salts, 1);
  // Its process is not of this broker.
  await putRecord(connection, { bucket: buckets.instance, key: shardsOwnerKey, value: null });
  for (const record of manifest.records) await putRecord(connection, record);
  for (let shard = 0; shard < manifest.shards; shard++) {
    for (const queue of queuesOf(shard)) await passMissing(connection, manifest, queue);
  }
}

async function putRecord(
  connection: NatsConnection,
  { bucket, key, value }: SavedRecord,
): Promise<void> {
  const kv = await connection.jetstream().views.kv(bucket, { bindOnly: true });
  if (value === null) await kv.purge(key);
  else await kv.put(key, value);
}

interface Queue {
  stream: string;
  subject: string;
  ledgerKey: string;
}

const queuesOf = (shard: number): Queue[] => [
  { stream: eventsStream(shard), subject: eventsSubject(shard), ledgerKey: eventsLedgerKey(shard) },
  {
    stream: profilesStream(shard),
    subject: profilesSubject(shard),
    ledgerKey: profilesLedgerKey(shard),
  },
];

/**
 * Fills a queue up to its ledger's mark with messages that hold nothing. Messages that came between the snapshot of the
 * queue and the tables' moment are in the tables, and a new message must not have the sequence of one of them.
 */
async function passMissing(
  connection: NatsConnection,
  { records }: Manifest,
  { stream, subject, ledgerKey }: Queue,
): Promise<void> {
  const ledger = records.find(({ bucket, key }) => bucket === buckets.ledger && key === ledgerKey);
  const lastDone = lastDoneOf(ledger?.value ?? null);
  const manager = await connection.jetstreamManager();
  const { state } = await manager.streams.info(stream);
  const jetstream = connection.jetstream();
  for (let seq = state.last_seq; seq < lastDone; seq += atOnce) {
    const count = Math.min(atOnce, lastDone - seq);
    await Promise.all(Array.from({ length: count }, () => jetstream.publish(subject, nothing)));
  }
}

/** The last sequence that a ledger has as done. */
function lastDoneOf(text: string | null): number {
  const record: unknown = text === null ? {} : JSON.parse(text);
  if (typeof record !== 'object' || record === null) return 0;
  const ahead: unknown = Reflect.get(record, 'ahead');
  const hwm: unknown = Reflect.get(record, 'hwm');
  const last: unknown = Array.isArray(ahead) ? ahead.at(-1)?.[1] : undefined;
  return typeof last === 'number' ? last : typeof hwm === 'number' ? hwm : 0;
}
