// An embedded engine for one bench, with the product's schema, in a directory that is removed with it.

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createClickHouse, type DatabaseClient } from '../../../platform/clickhouse/clickhouse.ts';
import { createLog } from '../../../platform/log.ts';
import { migrate } from '../../../sql/migrate.ts';
import { type OwnEngine, startEngineProcess } from '../processes/processes.ts';

interface MigratedEngine {
  /** For files that the engine is to read. */
  directory: string;
  engine: OwnEngine;
  client: DatabaseClient;
  close(): Promise<void>;
}

export async function openMigratedEngine(): Promise<MigratedEngine> {
  const directory = mkdtempSync(join(tmpdir(), 'millrace-bench-'));
  const engine = await startEngineProcess(join(directory, 'clickhouse'), 'millrace');
  const log = createLog('silent');
  const client = createClickHouse(engine.url, { log, maxConnections: 2 });
  const close = async (): Promise<void> => {
    await client.close();
    await engine.stop();
    rmSync(directory, { recursive: true, force: true });
  };
  try {
    await migrate(client, log);
  } catch (error) {
    await close();
    throw error;
  }
  return { directory, engine, client, close };
}
