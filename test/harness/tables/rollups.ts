// Fails where a table of sums has other rows than those of `events`. What it must hold, sql/check/derived-tables.ts
// says.

import { expect } from 'vitest';
import type { DatabaseClient } from '../../../platform/clickhouse/clickhouse.ts';
import { columnsOfRollups, differencesOf } from '../../../sql/check/compare-tables.ts';
import { rollupsOf } from '../../../sql/check/derived-tables.ts';

/** Fails where a rollup has other rows than those of `events`, or none. */
export async function expectRollupsOfEvents(
  clickhouse: Pick<DatabaseClient, 'query'>,
  { where = 'true' } = {},
): Promise<void> {
  for (const one of rollupsOf(await columnsOfRollups(clickhouse))) {
    const found = await differencesOf(clickhouse, one, { where });
    expect(found.slice(0, 5), one.table).toEqual([]);
    const count = await clickhouse.query({
      query: `SELECT count() > 0 FROM (${one.derived})`,
      format: 'JSONCompactEachRow',
    });
    expect(await count.json(), one.table).toEqual([[1]]);
  }
}
