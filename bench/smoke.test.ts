// Every bench runs in its smoke size, and its own check of the result holds. Its times are never looked at.
// Takes some 230 seconds.

import { afterAll, describe, expect, it } from 'vitest';
import { printTable, type Table } from './bench.ts';
import { benches } from './benches.ts';
import { goals } from './goals.ts';
import { createSession } from './harness/processes/session.ts';

const session = createSession();
afterAll(() => session.close());

const found = new Map<string, readonly Table[]>();

describe('the smoke run of', () => {
  it.each(benches.map((bench) => [bench.name, bench] as const))('%s', async (_, bench) => {
    const { tables, resultHash } = await bench.run('smoke', session);
    expect(resultHash).toMatch(/^[0-9a-f]{64}$/);
    expect(tables.length).toBeGreaterThan(0);
    for (const table of tables) {
      expect(table.rows.length).toBeGreaterThan(0);
      for (const row of table.rows) expect(row).toHaveLength(table.columns.length);
      expect(printTable(table)).not.toMatch(/NaN|Infinity|undefined/);
    }
    found.set(bench.name, tables);
  });
});

it('the benches print the columns that the goals are read from', () => {
  for (const { reached } of goals) {
    const { bench, column, where = {} } = reached;
    const names = [column, ...Object.keys(where)];
    const columns = found.get(bench)?.map((table) => table.columns);
    expect(columns).toContainEqual(expect.arrayContaining(names));
  }
});
