// SQL of values as a file has them: names, and texts that a spreadsheet may take for a formula.

import type { FormatName } from './export-format.ts';

/** A column of the file: its name, and the SQL of its values. */
export interface ExportColumn {
  name: string;
  sql: string;
}

export function selectSql(columns: readonly ExportColumn[], format: FormatName): string {
  const used = new Set<string>();
  const named = columns.map(({ name, sql }) => {
    let column = guarded(plainName(name), format);
    while (used.has(column)) column += '_';
    used.add(column);
    return `${sql} AS \`${column}\``;
  });
  return named.join(', ');
}

/** The embedded engine takes no escapes in a name. */
function plainName(name: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: no name of a column has any
  return name.replace(/[\x00-\x1f\\`\x7f]/g, '_') || '_';
}

/** What makes a spreadsheet read a cell as a formula, or as the end of the cell before. */
const formulaStarts = ['=', '+', '-', '@', '\t', '\r'];
const formulaStartsSql = `['=', '+', '-', '@', '\\t', '\\r']`;

function guarded(name: string, format: FormatName): string {
  return format === 'csv' && formulaStarts.includes(name.charAt(0)) ? `'${name}` : name;
}

/** SQL of a text, nullable or not. */
export function textSql(sql: string, format: FormatName): string {
  if (format !== 'csv') return sql;
  return `if(has(${formulaStartsSql}, substring(ifNull(${sql}, ''), 1, 1)), concat('\\'', ${sql}), ${sql})`;
}

/** SQL of an id that the engine has as 16 bytes: a UUID where the format has such a type, else its text. */
export function uuidSql(sql: string, format: FormatName): string {
  return format === 'arrow' ? `toString(${sql})` : sql;
}

/** SQL of a map or a list, which CSV has as JSON. */
export function nestedSql(sql: string, format: FormatName): string {
  return format === 'csv' ? `toJSONString(${sql})` : sql;
}
