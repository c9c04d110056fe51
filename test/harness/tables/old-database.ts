// A database before one of the migrations, and that migration interrupted after each of its statements: for tests of
// its effect on rows that are there, and on rows that come meanwhile.

import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'vitest';
import { createClickHouse, type DatabaseClient } from '../../../platform/clickhouse/clickhouse.ts';
import { createLog } from '../../../platform/log.ts';
import { migrate, splitStatements } from '../../../sql/migrate.ts';
import { startEngine } from '../servers/engine.ts';

export interface OldDatabase {
  client: DatabaseClient;
  /** The migration's statements, in order. */
  statements: string[];
  /** Applies the migration up to each of its statements but the last, with a crash after each. */
  interruptMigration(): Promise<void>;
  /** Applies the whole migration. */
  finishMigration(): Promise<void>;
  stop(): Promise<void>;
}

const log = createLog('silent');
/** Today's writer of profiles stores the rows of these tests, so the columns that it writes are there before. */
const writersColumns = '0025_profile_members.sql';
const migrations = join(import.meta.dirname, '..', '..', '..', 'sql', 'migrations');

/** Starts an engine with all migrations before the one in the file `name`. */
export async function startOldDatabase(name: string): Promise<OldDatabase> {
  const engine = await startEngine({ migrated: false });
  const client = createClickHouse(engine.url, { log, maxConnections: 2 });
  const directory = mkdtempSync(join(tmpdir(), 'millrace-migrations-'));
  for (const file of readdirSync(migrations).filter((one) => one < name)) {
    cpSync(join(migrations, file), join(directory, file));
  }
  await migrate(client, log, directory);
  await client.command({ query: readFileSync(join(migrations, writersColumns), 'utf8') });
  const text = readFileSync(join(migrations, name), 'utf8');
  const statements = splitStatements(text);
  return {
    client,
    statements,
    async interruptMigration() {
      for (let count = 1; count < statements.length; count++) {
        const stopped = [...statements.slice(0, count), 'SELECT throwIf(1)'].join(';\n');
        writeFileSync(join(directory, name), stopped);
        await expect(migrate(client, log, directory)).rejects.toMatchObject({ code: '395' });
      }
    },
    async finishMigration() {
      writeFileSync(join(directory, name), text);
      await migrate(client, log, directory);
    },
    async stop() {
      await client.close();
      await engine.stop();
      rmSync(directory, { recursive: true });
    },
  };
}
