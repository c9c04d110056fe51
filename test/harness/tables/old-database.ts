// A database before one of the migrations, and that migration interrupted after each of its statements: for tests of
// its effect on rows that are there, and on rows that come meanwhile.

import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'vitest';
import { createClickHouse, type DatabaseClient } from '../../../platform/clickhouse/clickhouse.ts';
import { createLog } from '../../../platform/log.ts';
import { migrate, splitStatements } from '../../../sql/migrate.ts';
import type { RemakeOptions } from '../../../sql/remake-table.ts';
import type { ChildServer } from '../servers/child-server.ts';
import { startEngine } from '../servers/engine.ts';

export interface OldDatabase {
  client: DatabaseClient;
  /** The migration's statements, in order. */
  statements: string[];
  /** Applies the migration up to each of its statements but the last, with a crash after each. */
  interruptMigration(): Promise<void>;
  /** Brings another database to where this one began. */
  migrateBefore(client: DatabaseClient): Promise<void>;
  /** Applies the whole migration, by `client` in place of its own. */
  finishMigration(options?: RemakeOptions, client?: DatabaseClient): Promise<void>;
  engine: ChildServer;
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
  const migrateBefore = async (of: DatabaseClient) => {
    await migrate(of, log, { directory });
    await of.command({ query: readFileSync(join(migrations, writersColumns), 'utf8') });
  };
  await migrateBefore(client);
  const text = readFileSync(join(migrations, name), 'utf8');
  const statements = splitStatements(text);
  return {
    client,
    engine,
    statements,
    async migrateBefore(of) {
      rmSync(join(directory, name), { force: true });
      await migrateBefore(of);
    },
    async interruptMigration() {
      for (let count = 1; count < statements.length; count++) {
        const stopped = [...statements.slice(0, count), 'SELECT throwIf(1)'].join(';\n');
        writeFileSync(join(directory, name), stopped);
        await expect(migrate(client, log, { directory })).rejects.toMatchObject({ code: '395' });
      }
    },
    async finishMigration(options = {}, by = client) {
      writeFileSync(join(directory, name), text);
      await migrate(by, log, { ...options, directory });
    },
    async stop() {
      await client.close();
      await engine.stop();
      rmSync(directory, { recursive: true });
    },
  };
}
