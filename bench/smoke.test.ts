// Every bench in its smoke size: that it runs and that its own check of the result holds. Never what it measures.

import { afterAll, describe, expect, it } from 'vitest';
import { printTable } from './bench.ts';
import { benches } from './benches.ts';
import { createSession } from './session.ts';

const session = createSession();
afterAll(() => session.close());

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
  });
});
