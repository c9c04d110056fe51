// Takes the tables of an embedded engine by hard links of their parts (FREEZE): some milliseconds a table, of any size.
// The links lie in the engine's directory until they are saved; those of a killed command are removed by the next one.

import { createHash, randomUUID } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import type { DatabaseClient } from '../platform/clickhouse/clickhouse.ts';
import { linkOrCopy } from './saved-files.ts';
import { run, type StoreTable } from './store-tables.ts';
import type { TakenPart, TakenTables } from './taken-tables.ts';

const prefix = 'millrace_backup_';

/** `directory` is the engine's. */
export function freezeTables(clickhouse: DatabaseClient, directory: string): TakenTables {
  const shadow = join(directory, 'shadow');
  let name = '';
  const forget = (): void => {
    if (!existsSync(shadow)) return;
    for (const one of readdirSync(shadow)) {
      if (one.startsWith(prefix)) rmSync(join(shadow, one), { recursive: true, force: true });
    }
  };
  return {
    kind: 'parts',
    async prepare() {
      forget();
    },
    async begin() {
      forget();
      name = `${prefix}${randomUUID().replaceAll('-', '')}`;
    },
    async take(table) {
      await run(clickhouse, `ALTER TABLE ${table.name} FREEZE WITH NAME '${name}'`);
    },
    async parts(table) {
      return partsIn(join(shadow, name, 'store', table.uuid.slice(0, 3), table.uuid), table);
    },
    async close() {
      forget();
    },
  };
}

/** A table without rows has no directory. */
function partsIn(directory: string, table: StoreTable): TakenPart[] {
  if (!existsSync(directory)) return [];
  return readdirSync(directory)
    .sort()
    .map((name) => {
      const part = join(directory, name);
      return {
        name,
        id: partId(table.name, part),
        rows: Number(readFileSync(join(part, 'count.txt'), 'utf8')),
        async save(to: string) {
          for (const file of readdirSync(part)) await linkOrCopy(join(part, file), join(to, file));
        },
      };
    });
}

/** The list of hashes that ClickHouse keeps of a part's files tells the part. */
function partId(table: string, directory: string): string {
  const sums = readFileSync(join(directory, 'checksums.txt'));
  return createHash('sha256').update(table).update(sums).digest('hex').slice(0, 32);
}
