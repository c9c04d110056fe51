// All rows of a file, as an import reads them.

import { openInputs } from '../../../history/files/open-input.ts';
import { type Form, type Row, readRows } from '../../../history/files/rows.ts';

export async function inputRows(path: string, form: Form): Promise<Row[]> {
  const rows: Row[] = [];
  for (const input of await openInputs([path])) {
    for await (const some of readRows(input, form, () => {})) rows.push(...some);
  }
  return rows;
}
