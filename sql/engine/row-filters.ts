// The one setting with expressions that a request may have: filters of rows by table, in a form that only compares
// columns with texts, or lets no row through. Statements never have it in their text (statement/reach.ts).

import { EngineError } from './errors.ts';

export const rowFiltersSetting = 'additional_table_filters';

const table = "'(?:\\w+\\.)?\\w+'";
const comparison = "\\w+ (?:=|>=) \\\\'[\\w-]*\\\\'";
const filter = `'(?:0|${comparison}(?: AND ${comparison})*)'`;
const form = new RegExp(`^\\{${table}: ${filter}(?:, ${table}: ${filter})*\\}$`);

/** Throws EngineError where the value of the setting could hold any other expression. */
export function checkRowFilters(value: string): void {
  if (form.test(value)) return;
  throw new EngineError(497, 'ACCESS_DENIED', 'The embedded engine does not allow such filters');
}
