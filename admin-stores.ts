// The operator's commands that reach ClickHouse. Reading the command line is admin.ts's.

import { setTimeout as delay } from 'node:timers/promises';
import { reachEngines } from './admin-engines.ts';
import { createClickHouse } from './platform/clickhouse/clickhouse.ts';
import type { Config } from './platform/config.ts';
import type { Log } from './platform/log.ts';
import { checkTables, type Difference, maxDifferences } from './sql/check/compare-tables.ts';

/** Of a statement that goes through all rows. */
const requestTimeoutMs = 3_600_000;
const shownDifferences = 20;

/** Prints each table as it is done. Throws one sentence where one differs from the raw rows. */
export async function checkCommand(config: Config, log: Log): Promise<string> {
  const reach = reachEngines(config, log);
  try {
    const { url } = await reach.store();
    const clickhouse = createClickHouse(url, { log, maxConnections: 1, requestTimeoutMs });
    const different: string[] = [];
    try {
      for await (const { table, differences } of checkTables(clickhouse, delay)) {
        process.stdout.write(tableText(table, differences));
        if (differences.length > 0) different.push(table);
      }
    } finally {
      await clickhouse.close();
    }
    if (different.length === 0) return 'every derived table is what the raw rows say';
    throw new Error(`other rows than the raw ones say: ${different.join(', ')}`);
  } finally {
    await reach.stop();
  }
}

function tableText(table: string, differences: readonly Difference[]): string {
  if (differences.length === 0) return `${table}: as the raw rows say\n`;
  const more = differences.length === maxDifferences ? ' or more' : '';
  const shown = differences.slice(0, shownDifferences).map(lineOf).join('');
  return `${table}: ${differences.length}${more} different rows\n${shown}`;
}

function lineOf({ in: side, row }: Difference): string {
  return `  ${side === 'derived' ? 'only there' : 'missing'}: ${row}\n`;
}
