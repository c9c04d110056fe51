// The statements behind GetFilterSchema, and their rows: kinds and names of properties from the small table of names,
// names of traits from the profiles. A name may be anything; choosing among the rows is filter-schema.ts's.

import { PropertyValueType } from '../../proto/gen/common/v1/filter_schema_pb.js';
import { createBindings } from '../filters/bindings.ts';
import { prefixSearch } from '../filters/text-search.ts';
import type { Statement } from '../read-rows.ts';

export interface NamesAsked {
  projectId: string;
  /** '' for every kind. */
  kind: string;
  /** '' for every name. */
  prefix: string;
  /** Names of `typeNames`; empty for every type. */
  types: readonly string[];
  maxRows: number;
}

/** Rows of: 1 for the row that says that names are missing, else 0; kind; events; when the last was received, in ms. */
export function kindsSql({ projectId, prefix, maxRows }: NamesAsked): Statement {
  const bindings = createBindings();
  const project = bindings.bind('String', projectId);
  const begins = prefix === '' ? 'true' : prefixSearch(prefix, bindings)('kind');
  const sql = `SELECT type = 'cut' AS is_cut, kind, sum(events) AS total, toUnixTimestamp64Milli(max(last_received))
    FROM property_keys
    WHERE project_id = ${project} AND (type = 'cut' OR (type = 'event' AND ${begins}))
    GROUP BY is_cut, kind ORDER BY is_cut DESC, total DESC, kind LIMIT ${maxRows}`;
  return { sql, params: bindings.params };
}

/** Rows of: property; events; their types, the most frequent first; when the last was received, in ms. */
export function propertiesSql({ projectId, kind, prefix, types, maxRows }: NamesAsked): Statement {
  const bindings = createBindings();
  const conditions = [`project_id = ${bindings.bind('String', projectId)}`];
  if (kind !== '') conditions.push(`kind = ${bindings.bind('String', kind)}`);
  conditions.push("type NOT IN ('event', 'cut')");
  if (prefix !== '') conditions.push(prefixSearch(prefix, bindings)('property'));
  if (types.length > 0) conditions.push(`named IN ${bindings.bind('Array(String)', types)}`);
  // A column and the map of strings both hold strings.
  const sql = `SELECT property, sum(of_type) AS total, ${typesSql}, toUnixTimestamp64Milli(max(last))
    FROM (SELECT property, if(type = 'column', 'string', type) AS named, sum(events) AS of_type, max(last_received) AS last
      FROM property_keys WHERE ${conditions.join(' AND ')} GROUP BY property, named)
    GROUP BY property ORDER BY total DESC, property LIMIT ${maxRows}`;
  return { sql, params: bindings.params };
}

/** The same of traits, without a moment. A trait that is null is none. */
export function traitsSql({ projectId, prefix, types, maxRows }: NamesAsked): Statement {
  const bindings = createBindings();
  const project = bindings.bind('String', projectId);
  const begins =
    prefix === '' ? 'true' : prefixSearch(prefix, bindings)("concat('profile.', trait)");
  const isAllowed =
    types.length === 0 ? 'true' : `named IN ${bindings.bind('Array(String)', types)}`;
  const type = `multiIf(startsWith(json, '"'), 'string', json IN ('true', 'false'), 'bool',
      startsWith(json, '{') OR startsWith(json, '['), 'json', match(json, '^-?[0-9]+$'), 'int', 'double')`;
  const sql = `SELECT concat('profile.', trait) AS property, sum(of_type) AS total, ${typesSql}
    FROM (SELECT trait, ${type} AS named, count() AS of_type
      FROM (SELECT traits FROM profiles FINAL
        WHERE project_id = ${project} AND NOT edge AND named AND NOT deleted AND root = '')
      ARRAY JOIN mapKeys(traits) AS trait, mapValues(traits) AS json
      WHERE json != 'null' AND ${begins} GROUP BY trait, named HAVING ${isAllowed})
    GROUP BY trait ORDER BY total DESC, property LIMIT ${maxRows}`;
  return { sql, params: bindings.params };
}

const typesSql =
  'arrayMap(one -> one.2, arraySort(one -> (-one.1, one.2), groupArray((toInt64(of_type), named))))';

/** The names of types in the rows. */
export const typeNames: Readonly<Record<string, PropertyValueType>> = {
  string: PropertyValueType.STRING,
  int: PropertyValueType.INTEGER,
  double: PropertyValueType.FLOAT,
  bool: PropertyValueType.BOOLEAN,
  time: PropertyValueType.DATETIME,
  json: PropertyValueType.OTHER,
};
