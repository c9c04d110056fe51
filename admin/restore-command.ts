// `npm run admin -- restore DIR`: a backup into an empty data directory, or into servers of one's own where NATS_URL
// and CLICKHOUSE_URL name some. All of it is checked before anything is written.

import { copyFileSync } from 'node:fs';
import { join } from 'node:path';
import { keyFile, type Manifest } from '../backup/manifest.ts';
import { checkBackup } from '../backup/restore/check-backup.ts';
import {
  beginRestore,
  endRestore,
  noteTargets,
  placeOf,
  type RestoreTargets,
} from '../backup/restore/half-restored.ts';
import { requireEmptyBroker, restoreBroker } from '../backup/restore/restore-broker.ts';
import {
  type FillTable,
  partsFrom,
  requireEmptyStore,
  restoreTables,
  rowsFrom,
  rowsOfEngine,
} from '../backup/restore/restore-tables.ts';
import { syncPath } from '../backup/saved-files.ts';
import { connectBroker } from '../platform/broker/nats.ts';
import { createClickHouse, type DatabaseClient } from '../platform/clickhouse/clickhouse.ts';
import type { Config } from '../platform/config.ts';
import { startEmbeddedEngine } from '../platform/engines/embedded-engine.ts';
import type { Log } from '../platform/log.ts';
import { type Reach, reachEngines, requireOneServer } from './reach-engines.ts';

/** Of a statement that goes through all rows. */
const requestTimeoutMs = 3_600_000;
const graceMs = 10_000;

interface Restore {
  config: Config;
  log: Log;
  directory: string;
  manifest: Manifest;
  reach: Reach;
  /** The servers of an earlier restore of this directory that was cut. */
  before: RestoreTargets | undefined;
}

export async function restoreCommand(config: Config, log: Log, directory: string): Promise<string> {
  requireOneServer(config);
  const { manifest, files, bytes } = await checkBackup(directory);
  const taken = new Date(manifest.takenMs).toISOString();
  process.stdout.write(`the backup of ${taken} is whole: ${files} files, ${bytes} bytes\n`);
  const reach = reachEngines(config, log);
  try {
    reach.lock();
    const before = beginRestore(config.dataDir);
    const restore = { config, log, directory, manifest, reach, before };
    const rows = await restoreInto(restore);
    restoreKeys(restore);
    endRestore(config.dataDir);
    const { streams, store, keys } = manifest;
    const messages = streams.reduce((sum, stream) => sum + stream.messages, 0);
    return (
      `${streams.length} streams and buckets with ${messages} messages, ${store.tables.length} tables with ${rows} rows ` +
      `and ${Object.keys(keys).length} keys are back`
    );
  } finally {
    await reach.stop();
  }
}

/** Both are looked at before the first is written. */
async function restoreInto(restore: Restore): Promise<number> {
  const { config, log, directory, manifest, reach, before } = restore;
  const broker = await reach.broker('operator');
  const store = await reach.store();
  const connection = await connectBroker(broker.url, log);
  const clickhouse = createClickHouse(store.url, { log, maxConnections: 2, requestTimeoutMs });
  try {
    const targets = { broker: placeOf(config.natsUrl), store: placeOf(config.clickhouseUrl) };
    await requireEmptyBroker(connection, manifest, { again: before?.broker === targets.broker });
    const again = before?.store === targets.store;
    await requireEmptyStore(clickhouse, manifest.store, { again });
    noteTargets(config.dataDir, targets);
    await restoreBroker(connection, manifest, directory);
    const mergesAfter = config.clickhouseUrl !== undefined;
    return await withRows(restore, (fill) =>
      restoreTables(clickhouse, manifest.store, { fill, log, mergesAfter }),
    );
  } finally {
    await clickhouse.close();
    await connection.close();
  }
}

/** A server reads no files of ours: an engine of its own, which ends with the command, reads the parts. */
async function withRows(
  { config, log, directory, manifest: { store } }: Restore,
  use: (fill: FillTable) => Promise<number>,
): Promise<number> {
  if (store.kind === 'rows') return use(rowsFrom(directory));
  if (config.clickhouseUrl === undefined) return use(partsFrom(directory));
  const engine = await startEmbeddedEngine({
    dataDir: join(config.dataDir, 'parts'),
    entry: join(import.meta.dirname, '..', 'sql', 'engine', 'main.js'),
    memoryBytes: config.engineMemoryBytes,
    reads: 2,
    log,
  });
  let parts: DatabaseClient | undefined;
  try {
    parts = createClickHouse(engine.url, { log, maxConnections: 2, requestTimeoutMs });
    const fill = partsFrom(directory);
    await restoreTables(parts, store, { fill, log, mergesAfter: false });
    return await use(rowsOfEngine(parts));
  } finally {
    await parts?.close();
    await engine.stop(graceMs);
  }
}

function restoreKeys({ config, directory, manifest }: Restore): void {
  for (const [name, { sha256 }] of Object.entries(manifest.keys)) {
    const to = join(config.dataDir, name);
    copyFileSync(keyFile(directory, name, sha256), to);
    syncPath(to);
  }
  syncPath(config.dataDir);
}
