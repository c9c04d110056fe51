// Tables as CSV, for spreadsheets and for programs: one line of names, and then lines of as many fields.

export type Grid = { columns: readonly string[]; rows: readonly (readonly (string | number)[])[] };

/** Also as a text: one with more digits than a number of JavaScript has. */
const plainNumber = /^-?\d+(\.\d+)?$/;

/** A quoted field where it needs quotes. A text that a spreadsheet would run as a formula gets an apostrophe. */
function csvField(value: string | number): string {
  if (typeof value === 'number') return String(value);
  const isFormula = /^[=+\-@\t\r]/.test(value) && !plainNumber.test(value);
  const safe = isFormula ? `'${value}` : value;
  return /[",\n\r]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}

/** `completeUntil`: stands in each row, as a file has no other place that programs read past. */
export function toCsv({ columns, rows }: Grid, completeUntil?: string): string {
  const more = completeUntil === undefined ? [] : [completeUntil];
  const named = completeUntil === undefined ? columns : [...columns, 'Complete until'];
  return [named, ...rows.map((row) => [...row, ...more])]
    .map((row) => row.map(csvField).join(','))
    .join('\r\n');
}
