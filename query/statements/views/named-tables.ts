// The names by which callers know tables and the service, put into those that the engine knows: `millrace.events`
// becomes the view of the project, `system.tables` its helper, and functions that tell about the server a constant.
// What is not known here stays as it is, and is judged.

import { type Token, tokenize } from '../../../platform/clickhouse/statement-tokens.ts';
import { catalogueNames, databaseName, databaseNames, helperName } from './catalogue.ts';
import { viewNames } from './view-sql.ts';

const views: ReadonlySet<string> = new Set(viewNames);

/** Functions without arguments that are answered by a constant, as SQL. */
const constants: ReadonlyMap<string, string> = new Map([
  ...['currentdatabase', 'database', 'current_database', 'schema'].map((name): [string, string] => [
    name,
    `'${databaseName}'`,
  ]),
  ...['currentuser', 'user', 'current_user'].map((name): [string, string] => [name, "'default'"]),
  ...['displayname', 'hostname', 'fqdn'].map((name): [string, string] => [name, "'Millrace'"]),
  ['revision', 'toUInt32(0)'],
  ['uptime', 'toUInt32(0)'],
]);

/** Of a word, or of a quoted name without its quotes; '' for other tokens. */
export function nameOf(sql: string, token: Token | undefined): string {
  if (token?.kind === 'word') return sql.slice(token.start, token.end);
  return token?.kind === 'name' ? sql.slice(token.start + 1, token.end - 1) : '';
}

/** The statement with these names. */
export function withOwnNames(sql: string): string {
  const tokens = tokenize(sql);
  let written = '';
  let copied = 0;
  const put = (from: Token, to: Token, text: string): void => {
    written += sql.slice(copied, from.start) + text;
    copied = to.end;
  };
  for (const [index, token] of tokens.entries()) {
    if (token.start < copied || tokens[index - 1]?.value === '.') continue;
    const [, second, third] = tokens.slice(index, index + 3);
    const name = nameOf(sql, token);
    if (name === '' || second === undefined || third === undefined) continue;
    if (second.value === '.') {
      const table = ownTable(name, nameOf(sql, third));
      if (table !== undefined) put(token, third, table);
    } else if (second.value === '(' && third.value === ')') {
      const constant = constants.get(name.toLowerCase());
      if (constant !== undefined) put(token, third, constant);
    }
  }
  return written + sql.slice(copied);
}

function ownTable(database: string, table: string): string | undefined {
  if (databaseNames.has(database) && views.has(table)) return table;
  if (database === 'system' && catalogueNames.has(table)) return helperName(table);
  return undefined;
}
