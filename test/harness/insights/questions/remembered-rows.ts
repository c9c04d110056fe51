// Rows of statements that were asked before: read services over one database that nothing is stored in meanwhile ask
// many statements that others have asked, such as the types of a question's properties.

import type { RowReader } from '../../../../platform/clickhouse/select-rows.ts';

/** The most that are held; a statement beyond is asked each time. */
const maxRows = 500_000;

export class RememberedRows {
  readonly #rows = new Map<string, readonly string[]>();
  #count = 0;

  /** `store` as a reader that asks each statement once; failed and cut off ones are asked again. */
  readonly over = (store: RowReader): RowReader => ({
    select: async (select, onRow) => {
      const { sql, params, settings, database } = select;
      const key = JSON.stringify([sql, params, settings, database], withIntegers);
      const known = this.#rows.get(key);
      if (known !== undefined) {
        for (const row of known) if (!onRow(row)) return;
        return;
      }
      const rows: string[] = [];
      let isWhole = true;
      await store.select(select, (row) => {
        rows.push(row);
        isWhole = onRow(row);
        return isWhole;
      });
      if (!isWhole || this.#count + rows.length > maxRows) return;
      this.#count += rows.length;
      this.#rows.set(key, rows);
    },
  });
}

/** JSON has no integers of 64 bits. The statement names each parameter's type: no text stands in the same place. */
function withIntegers(_: string, value: unknown): unknown {
  return typeof value === 'bigint' ? `${value}n` : value;
}
