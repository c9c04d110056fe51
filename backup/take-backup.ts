// Takes a backup of an instance while it runs, in the order in which nothing is lost:
//
// 1. The queues of events and profiles. A message of them is in the tables of 2, or was not stored before 2: then it
//    was still in its queue. The other order loses what was stored and deleted between the two.
// 2. The tables with their ledgers, at one moment between two batches. What was stored since 1 is in them, too.
// 3. The queues of deliveries. A delivery that a row of 2 made is in them, or was delivered.
// 4. The queue of records of attempts, then their table: a record is in one of them at least, and one of both is one.
// 5. All else: dead letters, records of people's settings, keys. Projects of the rows of 2 are among them.
//
// The salts of cookieless ids are left out: they live two days, and a backup longer.

import { chmodSync, copyFileSync, existsSync } from 'node:fs';
import { join } from 'node:path';
import { buckets } from '../platform/broker/buckets.ts';
import { readInstance } from '../platform/broker/instance.ts';
import type { NatsConnection } from '../platform/broker/nats.ts';
import { openBucket } from '../platform/broker/record-bucket.ts';
import { deadLetterStream, eventsStream, profilesStream } from '../platform/broker/streams.ts';
import type { DatabaseClient } from '../platform/clickhouse/clickhouse.ts';
import { systemClock } from '../platform/clock.ts';
import { whileNoErasure } from '../platform/erasure/hold-erasures.ts';
import { atBoundary } from '../platform/ledger/boundary.ts';
import {
  attemptLogStream,
  dueStream,
  parkStream,
  retryStream,
} from '../platform/webhooks/webhook-streams.ts';
import {
  keyFile,
  type Manifest,
  readManifest,
  type SavedFile,
  type SavedStream,
  type SavedTable,
  writeManifest,
} from './manifest.ts';
import { hashFile, makeDirectory, syncPath } from './saved-files.ts';
import {
  appliedMigrations,
  attemptsTable,
  type StoreTable,
  storeFunctions,
  storeTables,
} from './store-tables.ts';
import { saveStream } from './stream-snapshot.ts';
import { openKnownParts, saveTable, type TakenTables } from './taken-tables.ts';

interface BackupOptions {
  connection: NatsConnection;
  clickhouse: DatabaseClient;
  taken: TakenTables;
  dataDir: string;
  directory: string;
  nowMs: number;
}

export interface TakenBackup {
  manifest: Manifest;
  newParts: number;
  stoodMs: number;
  /** False where deliveries moved all the time: one that moved may be missing. */
  hasAllDeliveries: boolean;
}

/** Files of the data directory that the broker's records and people's tokens need. */
const keyNames = ['instance-key.json', 'signing-keys.json', 'demo.json', 'demo-admin.json'];
const leftOut: readonly string[] = [buckets.salts];
/** Snapshots of moving deliveries are taken so often. */
const deliveryTries = 10;

/**
 * Goes on with one that was cut, and adds to an earlier one. Waits for an erasure that is under way. Throws one
 * sentence where it cannot be taken.
 */
export async function takeBackup(options: BackupOptions): Promise<TakenBackup> {
  const parts = { connection: options.connection, clock: systemClock };
  return whileNoErasure(parts, () => takeNow(options));
}

async function takeNow(options: BackupOptions): Promise<TakenBackup> {
  const { connection, clickhouse, taken, directory } = options;
  makeDirectory(directory);
  // It may be older, or made by somebody else.
  chmodSync(directory, 0o700);
  const shards = await shardsOf(connection);
  const every = Array.from({ length: shards }, (_, shard) => shard);
  const save = (name: string): Promise<SavedStream> => saveStream(connection, name, directory);
  const saveAll = async (names: readonly string[]): Promise<SavedStream[]> => {
    const saved: SavedStream[] = [];
    for (const name of names) saved.push(await save(name));
    return saved;
  };
  const tables = await storeTables(clickhouse);
  const log = tables.filter(({ name }) => name === attemptsTable);
  const held = tables.filter(({ name }) => name !== attemptsTable);
  await taken.prepare(tables);
  try {
    const queues = await saveAll([...every.map(eventsStream), ...every.map(profilesStream)]);
    const take = async (some: readonly StoreTable[]): Promise<void> => {
      for (const table of some) await taken.take(table);
    };
    const { records, stoodMs } = await atBoundary({
      connection,
      shards,
      async take() {
        await taken.begin();
        await take(held);
      },
    });
    const deliveries = await saveDeliveries(connection, saveAll);
    const attempts = await save(attemptLogStream);
    await take(log);
    const others = await saveAll([deadLetterStream, ...bucketStreams()]);
    const { saved, newParts, settle } = await saveTables(options, tables);
    const manifest: Manifest = {
      takenMs: options.nowMs,
      shards,
      streams: [...queues, ...deliveries.saved, attempts, ...others],
      records,
      store: {
        kind: taken.kind,
        functions: await storeFunctions(clickhouse),
        migrations: await appliedMigrations(clickhouse),
        tables: saved,
      },
      keys: await saveKeys(options),
    };
    writeManifest(directory, manifest);
    settle(manifest);
    return { manifest, newParts, stoodMs, hasAllDeliveries: deliveries.isWhole };
  } finally {
    await taken.close();
  }
}

async function saveTables({ taken, directory }: BackupOptions, tables: readonly StoreTable[]) {
  const known = openKnownParts(directory, readManifest(directory));
  const saved: SavedTable[] = [];
  let newParts = 0;
  const onSaved = (): void => {
    newParts++;
  };
  for (const table of tables) {
    const parts = await taken.parts(table);
    saved.push(await saveTable(directory, table.name, parts, { known, onSaved }));
  }
  return { saved, newParts, settle: (manifest: Manifest) => known.settle(manifest) };
}

/**
 * A delivery moves from the due ones to those that wait, and back. Taken in this order the first way loses none; the
 * second way adds to the first stream, and then all are taken again. Where webhooks are delivered all the time no try
 * finds them at rest, and the last one counts.
 */
async function saveDeliveries(
  connection: NatsConnection,
  saveAll: (names: readonly string[]) => Promise<SavedStream[]>,
): Promise<{ saved: SavedStream[]; isWhole: boolean }> {
  const { streams } = await connection.jetstreamManager();
  const lastDue = async () => (await streams.info(dueStream)).state.last_seq;
  for (let left = deliveryTries; ; left--) {
    const before = await lastDue();
    const saved = await saveAll([dueStream, retryStream, parkStream]);
    if ((await lastDue()) === before) return { saved, isWhole: true };
    if (left === 0) return { saved, isWhole: false };
  }
}

const bucketStreams = (): string[] =>
  Object.values(buckets)
    .filter((name) => !leftOut.includes(name))
    .map((name) => `KV_${name}`);

async function shardsOf(connection: NatsConnection): Promise<number> {
  const bucket = await openBucket(connection, buckets.instance, readInstance);
  const found = await bucket.get('shards');
  if (found.kind !== 'found') throw new Error('the broker holds no instance of this version');
  return found.record.shards;
}

async function saveKeys({ dataDir, directory }: BackupOptions): Promise<Record<string, SavedFile>> {
  const saved: Record<string, SavedFile> = {};
  makeDirectory(join(directory, 'keys'));
  for (const name of keyNames) {
    const from = join(dataDir, name);
    if (!existsSync(from)) continue;
    const file = await hashFile(from);
    const to = keyFile(directory, name, file.sha256);
    copyFileSync(from, to);
    syncPath(to);
    saved[name] = file;
  }
  return saved;
}
