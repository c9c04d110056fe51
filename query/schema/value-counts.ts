// The statements behind GetPropertyValues: each counts canonical texts, so that values of several types with one text
// are one value, as for filters. The property's name and the prefix are bound.

import { columnOfProperty, propertyMaps } from '../../platform/clickhouse/event-columns.ts';
import { type Bindings, createBindings } from '../filters/bindings.ts';
import { doubleTextSql, timeTextSql } from '../filters/canonical-text.ts';
import { traitJsonSql } from '../filters/profile-condition.ts';
import { prefixSearch } from '../filters/text-search.ts';
import { type StoredType, storedTypes } from '../insights/read/property-types.ts';
import type { Statement } from '../read-rows.ts';

/** Rows of one column: the places of the property's values, and `cut` where names of the project are missing. */
export function placesSql(projectId: string, property: string, kind: string): Statement {
  const bindings = createBindings();
  const project = bindings.bind('String', projectId);
  const name = bindings.bind('String', property);
  const ofKind = kind === '' ? 'true' : `kind = ${bindings.bind('String', kind)}`;
  const sql = `SELECT DISTINCT type FROM property_keys
    WHERE project_id = ${project} AND (type = 'cut' OR (type != 'event' AND property = ${name} AND ${ofKind}))
    LIMIT ${storedTypes.length + 1}`;
  return { sql, params: bindings.params };
}

interface ValuesAsked {
  projectId: string;
  /** '' for every value. */
  prefix: string;
  maxRows: number;
}

interface EventValuesAsked extends ValuesAsked {
  property: string;
  /** '' for every kind. */
  kind: string;
  fromMs: number;
  toMs: number;
  places: readonly StoredType[];
}

/** Rows of: canonical text, events. Only `places` are read. */
export function eventValuesSql(asked: EventValuesAsked): Statement {
  const bindings = createBindings();
  const key = bindings.bind('String', asked.property);
  const moment = (ms: number): string =>
    `fromUnixTimestamp64Milli(${bindings.bind('Int64', ms)}, 'UTC')`;
  const conditions = [
    `project_id = ${bindings.bind('String', asked.projectId)}`,
    `occur_time >= ${moment(asked.fromMs)}`,
    `occur_time < ${moment(asked.toMs)}`,
  ];
  if (asked.kind !== '') conditions.push(`kind = ${bindings.bind('String', asked.kind)}`);
  const found = asked.places.flatMap((place) => placeSql(place, asked.property, key));
  const texts = found.map(({ isThere, text }) => `${isThere}, ${text}`).join(', ');
  const any = found.map(({ isThere }) => isThere).join(' OR ');
  const [only] = found;
  const value = found.length === 1 && only !== undefined ? only.text : `multiIf(${texts}, '')`;
  const from = `(SELECT ${value} AS value FROM events WHERE ${conditions.join(' AND ')} AND (${any}))`;
  return countedSql(from, asked, bindings);
}

/** SQL for whether an event has a value in this place, and for its text. */
function placeSql(
  place: StoredType,
  property: string,
  key: string,
): { isThere: string; text: string }[] {
  if (place === 'column') {
    const column = columnOfProperty.get(property)?.column;
    return column === undefined ? [] : [{ isThere: `${column} != ''`, text: column }];
  }
  const map = propertyMaps.find(({ column }) => column === `${place}_properties`);
  if (map === undefined) throw new Error(`no map of the type ${place}`);
  return [
    {
      isThere: `mapContains(${map.column}, ${key})`,
      text: textSql(place, `${map.column}[${key}]`),
    },
  ];
}

function textSql(place: Exclude<StoredType, 'column'>, value: string): string {
  switch (place) {
    case 'string':
      return value;
    case 'int':
    case 'bool':
      return `toString(${value})`;
    case 'double':
      return doubleTextSql(value);
    case 'time':
      return timeTextSql(value);
    default: {
      const unknown: never = place;
      throw new Error(`no such place: ${String(unknown)}`);
    }
  }
}

/** Rows of: canonical text of the trait `name`, profiles. */
export function traitValuesSql(asked: ValuesAsked & { name: string }): Statement {
  const bindings = createBindings();
  const { sql: json } = traitJsonSql(asked.name, bindings);
  const from = `(SELECT if(startsWith(json, '"'), JSONExtractString(json), json) AS value
    FROM (SELECT ${json} AS json FROM profiles FINAL
      WHERE project_id = ${bindings.bind('String', asked.projectId)} AND NOT edge AND named AND NOT deleted AND root = '')
    WHERE json NOT IN ('', 'null'))`;
  return countedSql(from, asked, bindings);
}

/** All cores: the statement may read every event of ninety days. */
function countedSql(from: string, { prefix, maxRows }: ValuesAsked, bindings: Bindings): Statement {
  const begins = prefix === '' ? '' : `WHERE ${prefixSearch(prefix, bindings)('value')} `;
  const sql = `SELECT toString(value), count() AS total FROM ${from} ${begins}
    GROUP BY value ORDER BY total DESC, value LIMIT ${maxRows} SETTINGS max_threads = 0`;
  return { sql, params: bindings.params };
}
