// The embedded engine as the service starts it, with the least memory that it may have and the product's schema, in a
// directory that is removed with it: for questions about what the service's engine does in the long run.

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createClickHouse, type DatabaseClient } from '../../../platform/clickhouse/clickhouse.ts';
import { startEmbeddedEngine } from '../../../platform/engines/embedded-engine.ts';
import { createLog } from '../../../platform/log.ts';
import { leastEngineMemoryMiB } from '../../../platform/memory/engine-memory.ts';
import { readsAtOnce } from '../../../query/calls/turn-bounds.ts';
import { migrate, reloadViews } from '../../../sql/migrate.ts';
import { compiledEngine } from '../../../test/harness/compiled-entries.ts';

export interface ServiceEngine {
  clickhouseUrl: string;
  client: DatabaseClient;
  /** Changes where the engine is started again. */
  pid(): number;
  close(): Promise<void>;
}

const MiB = 1_048_576;
const stopGraceMs = 10_000;

/** The engine takes `inserts` at once. */
export async function openServiceEngine(inserts: number): Promise<ServiceEngine> {
  const dataDir = mkdtempSync(join(tmpdir(), 'millrace-bench-'));
  const log = createLog('silent');
  const engine = await startEmbeddedEngine({
    ...{ dataDir, entry: compiledEngine(), log },
    memoryBytes: leastEngineMemoryMiB * MiB,
    reads: readsAtOnce(1),
  });
  const client = createClickHouse(engine.url, { log, maxConnections: inserts });
  const close = async (): Promise<void> => {
    await client.close();
    await engine.stop(stopGraceMs);
    rmSync(dataDir, { recursive: true, force: true });
  };
  try {
    await migrate(client, log);
    await reloadViews(client);
  } catch (error) {
    await close();
    throw error;
  }
  return { clickhouseUrl: engine.url, client, pid: () => engine.pid() ?? 0, close };
}
