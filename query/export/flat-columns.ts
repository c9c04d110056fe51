// A column for each property or trait that the project has: of the most frequent ones, each with its type. One that was
// sent with several types has a column for each, which names the type.

import { Code, ConnectError } from '@connectrpc/connect';
import { columnOfProperty } from '../../platform/clickhouse/event-columns.ts';
import type { RowReader } from '../../platform/clickhouse/select-rows.ts';
import type { Deadline } from '../deadline.ts';
import type { Bindings } from '../filters/bindings.ts';
import { traitPrefix } from '../insights/read/question.ts';
import { readRows } from '../read-rows.ts';
import { propertiesSql, traitsSql } from '../schema/seen-names.ts';
import type { FormatName } from './export-format.ts';
import { type ExportColumn, textSql } from './written-value.ts';

/** Each name with the names of its types (schema/seen-names.ts). */
export type FlatNames = readonly { name: string; types: readonly string[] }[];

/** A value is looked for among all of its row's, once for each column. */
const maxNames = 250;
const maxCharacters = 1_048_576;

/** Throws failed_precondition where the project has too many names. */
export async function readFlatNames(
  clickhouse: RowReader,
  projectId: string,
  what: 'events' | 'profiles',
  deadline: Pick<Deadline, 'signal'>,
): Promise<FlatNames> {
  const asked = { projectId, kind: '', prefix: '', types: [], maxRows: maxNames + 1 };
  const statement = what === 'events' ? propertiesSql(asked) : traitsSql(asked);
  const bounds = { deadline, maxRows: maxNames + 1, maxCharacters };
  const result = await readRows(clickhouse, statement, bounds);
  if (result.kind === 'too-large' || result.stopped || result.rows.length > maxNames) {
    const message = `columns: the project has more than ${maxNames} names, ask for columns=maps`;
    throw new ConnectError(message, Code.FailedPrecondition);
  }
  return result.rows.map(([name, , types]) => ({
    name: what === 'events' ? String(name) : String(name).slice(traitPrefix.length),
    types: Array.isArray(types) ? types.map(String) : [],
  }));
}

/** Names of columns that no property takes, and those of persons that no trait takes. */
const eventColumnNames: ReadonlySet<string> = new Set([
  ...['event_id', 'kind', 'distinct_id', 'profile_id', 'session_id', 'occur_time'],
  ...['receive_time', 'cookieless'],
]);
const profileColumnNames: ReadonlySet<string> = new Set([
  ...['profile_id', 'external_id', 'distinct_ids', 'create_time', 'update_time'],
]);

const mapOfType: ReadonlyMap<string, string> = new Map([
  ['string', 'string_properties'],
  ['int', 'int_properties'],
  ['double', 'double_properties'],
  ['bool', 'bool_properties'],
  ['time', 'time_properties'],
]);

export function flatEventColumns(
  names: FlatNames,
  bindings: Bindings,
  format: FormatName,
): ExportColumn[] {
  return columnsOf(names, eventColumnNames, (name, type) => {
    const map = mapOfType.get(type);
    if (map === undefined) return undefined;
    const key = bindings.bind('String', name);
    const value = `if(mapContains(${map}, ${key}), ${map}[${key}], NULL)`;
    if (type !== 'string') return value;
    const own = columnOfProperty.get(name)?.column;
    const text = own === undefined ? value : `if(${own} != '', toString(${own}), ${value})`;
    return textSql(text, format);
  });
}

/** A trait's value is JSON text: of the types that nest it stays so. */
export function flatTraitColumns(
  names: FlatNames,
  bindings: Bindings,
  format: FormatName,
): ExportColumn[] {
  return columnsOf(names, profileColumnNames, (name, type) => {
    const json = `traits[${bindings.bind('String', name)}]`;
    switch (type) {
      case 'string':
        return textSql(`if(startsWith(${json}, '"'), JSONExtractString(${json}), NULL)`, format);
      case 'int':
        return `if(match(${json}, '^-?[0-9]+$'), toInt64OrNull(${json}), NULL)`;
      case 'double':
        return `if(match(${json}, '^-?[0-9]+$'), NULL, toFloat64OrNull(${json}))`;
      case 'bool':
        return `multiIf(${json} = 'true', true, ${json} = 'false', false, NULL)`;
      case 'json':
        return `if(startsWith(${json}, '{') OR startsWith(${json}, '['), ${json}, NULL)`;
      default:
        return undefined;
    }
  });
}

/** `sqlOf` is undefined for a type that has no values. */
function columnsOf(
  names: FlatNames,
  taken: ReadonlySet<string>,
  sqlOf: (name: string, type: string) => string | undefined,
): ExportColumn[] {
  return names.flatMap(({ name, types }) =>
    types.flatMap((type) => {
      const sql = sqlOf(name, type);
      const isPlain = types.length === 1 && !taken.has(name);
      return sql === undefined ? [] : [{ name: isPlain ? name : `${name}:${type}`, sql }];
    }),
  );
}
