// SHOW, DESCRIBE and EXISTS as SELECTs on the views of the catalogue: the engine's own would list what is not the
// project's.

import type { Token } from '../../../platform/clickhouse/statement-tokens.ts';
import { databaseName, databaseNames, helperName } from './catalogue.ts';
import { nameOf } from './named-tables.ts';

/** Undefined for a question that is not answered. `tokens` are those of `sql`, without FORMAT. */
export function tableQuestion(sql: string, tokens: readonly Token[]): string | undefined {
  const [first, ...rest] = tokens;
  switch (first?.value) {
    case 'SHOW':
      return shownSql(sql, rest);
    case 'EXISTS':
      return existsSql(sql, rest);
    case 'DESC':
    case 'DESCRIBE': {
      const table = tableAt(sql, rest[0]?.value === 'TABLE' ? rest.slice(1) : rest);
      return table === undefined ? undefined : describedSql(table);
    }
    default:
      return undefined;
  }
}

function shownSql(sql: string, [word, ...given]: readonly Token[]): string | undefined {
  if (word?.value === 'DATABASES' && given.length === 0) {
    return `SELECT name FROM ${helperName('databases')} ORDER BY name`;
  }
  if (word?.value === 'CREATE') {
    const table = tableAt(sql, given[0]?.value === 'TABLE' ? given.slice(1) : given);
    if (table === undefined) return undefined;
    const text =
      "concat('CREATE VIEW ', database, '.', table, ' (', arrayStringConcat(groupArray(concat('`', name, '` ', type)), ', '), ')')";
    return `SELECT ${text} AS statement FROM ${ordered(table)} GROUP BY database, table`;
  }
  if (word?.value !== 'TABLES') return undefined;
  let rest = given;
  const from = rest[0]?.value === 'FROM' || rest[0]?.value === 'IN';
  const database = from ? nameOf(sql, rest[1]) : databaseName;
  if (from) rest = rest.slice(2);
  let like = 'true';
  const [likeWord, pattern] = rest;
  if (likeWord?.value === 'LIKE' && pattern?.kind === 'text') {
    like = `name LIKE ${sql.slice(pattern.start, pattern.end)}`;
    rest = rest.slice(2);
  }
  if (rest.length > 0) return undefined;
  const isKnown = databaseNames.has(database) ? 'true' : 'false';
  return `SELECT name FROM ${helperName('tables')} WHERE ${isKnown} AND ${like} ORDER BY name`;
}

function existsSql(sql: string, tokens: readonly Token[]): string | undefined {
  const [kind, name] = tokens;
  if (kind?.value === 'DATABASE' && tokens.length === 2) {
    return `SELECT toUInt8(${databaseNames.has(nameOf(sql, name)) ? 1 : 0}) AS result`;
  }
  const isTable = kind?.value === 'TABLE' || kind?.value === 'VIEW';
  const table = tableAt(sql, isTable ? tokens.slice(1) : tokens);
  if (table === undefined) return undefined;
  return `SELECT toUInt8(count() > 0) AS result FROM ${helperName('tables')} WHERE name = '${table}'`;
}

function describedSql(table: string): string {
  return `SELECT name, type, '' AS default_type, '' AS default_expression, '' AS comment, '' AS codec_expression,
    '' AS ttl_expression FROM ${ordered(table)}`;
}

function ordered(table: string): string {
  return `(SELECT * FROM ${helperName('columns')} WHERE table = '${table}' ORDER BY position)`;
}

/** A name of letters alone; one that is not ours has no rows. */
function tableAt(sql: string, tokens: readonly Token[]): string | undefined {
  const [first, dot, second] = tokens;
  const isLong = dot?.value === '.';
  if (tokens.length !== (isLong ? 3 : 1)) return undefined;
  const name = nameOf(sql, isLong ? second : first);
  if (!/^\w+$/.test(name)) return undefined;
  return isLong && !databaseNames.has(nameOf(sql, first)) ? '__none' : name;
}
