// The layout of a well-known product family, filled with the same events in the same engine: one JSON text of all
// properties, a column with the person of the moment of ingestion, and a table of overrides for ids merged since, which
// each question about persons joins.

import { autoColumns, propertyMaps } from '../../../platform/clickhouse/event-columns.ts';
import type { Stack } from '../../../test/harness/servers/stack.ts';
import { runStatement } from '../engine/engine-statement.ts';
import { queryNumber } from '../load/stored-rows.ts';
import type { Layout } from './layout.ts';

const slices = 20;
/** Beside the engine's other work, a slice at a time fits into its memory. */
const fillSettings = 'SETTINGS max_threads = 2, max_insert_threads = 1';

export function peerLayout(projectId: string): Layout {
  const overrides = `SELECT distinct_id, argMax(person_id, version) AS person_id FROM peer_overrides
    WHERE project_id = '${projectId}' GROUP BY distinct_id HAVING argMax(is_deleted, version) = 0`;
  const text = (name: string): string =>
    `replaceRegexpAll(JSONExtractRaw(e.properties, '${name}'), '^"|"$', '')`;
  return {
    from: 'peer_events AS e',
    fromPersons: `peer_events AS e LEFT JOIN (${overrides}) AS overrides ON overrides.distinct_id = e.distinct_id`,
    user: `if(overrides.distinct_id != '', overrides.person_id, e.person_id)`,
    userText: (id) => `lower(hex(reinterpretAsFixedString(${firstHalf(id)})))`,
    userOrder: (id) => `byteSwap(${firstHalf(id)})`,
    hasUser: `e.person_mode != 'none'`,
    ofProject: `e.project_id = '${projectId}'`,
    ...{ kind: 'e.event', time: 'e.timestamp', session: 'e.session_id', eventId: 'e.uuid' },
    ...{ browser: text('$browser'), pathname: text('$pathname') },
    ...{ referrerDomain: text('$referrerDomain'), channel: text('$channel') },
    ...{ utmCampaign: text('$utmCampaign'), country: text('$country') },
    deviceType: text('$deviceType'),
    custom: text,
    customIs: (name, value) => `${text(name)} = '${value}'`,
    double: (name) => `JSONExtractFloat(e.properties, '${name}')`,
  };
}

/** Of a UUID of uuidOf: what our key of a profile is. */
function firstHalf(id: string): string {
  return `bitAnd(reinterpretAsUInt128(${id}), 18446744073709551615::UInt64)::UInt64`;
}

/** Makes the peer's tables where they are not there, or have not all events. */
export async function makePeer(stack: Pick<Stack, 'clickhouseUrl'>): Promise<void> {
  for (const sql of tables) await runStatement(stack, sql);
  const ours = await queryNumber(stack, 'SELECT count() FROM events');
  if ((await queryNumber(stack, 'SELECT count() FROM peer_events')) === ours) return;
  await runStatement(stack, 'TRUNCATE TABLE peer_events');
  await runStatement(stack, 'TRUNCATE TABLE peer_overrides');
  const days = await queryNumber(stack, 'SELECT uniqExact(toDate(occur_time)) FROM events');
  const from = await queryNumber(
    stack,
    'SELECT toUnixTimestamp(toDate(min(occur_time))) FROM events',
  );
  const daysASlice = Math.ceil(days / slices);
  for (let day = 0; day < days; day += daysASlice) {
    const at = from + day * 86_400;
    await runStatement(stack, fillSql(at, at + daysASlice * 86_400));
  }
  await runStatement(
    stack,
    `INSERT INTO peer_overrides SELECT project_id, distinct_id, ${uuidOf('root_id')}, 0, version FROM profiles FINAL
      WHERE edge AND root != ''`,
  );
}

const tables = [
  `CREATE TABLE IF NOT EXISTS peer_events (
    uuid UUID,
    event String,
    properties String CODEC(ZSTD(3)),
    timestamp DateTime64(6, 'UTC'),
    project_id LowCardinality(String),
    distinct_id String,
    created_at DateTime64(6, 'UTC'),
    person_id UUID,
    person_mode Enum8('full' = 0, 'none' = 1),
    session_id UUID
  ) ENGINE = MergeTree PARTITION BY toYYYYMM(timestamp)
  ORDER BY (project_id, toDate(timestamp), event, cityHash64(distinct_id), cityHash64(uuid))`,
  `CREATE TABLE IF NOT EXISTS peer_overrides (
    project_id LowCardinality(String),
    distinct_id String,
    person_id UUID,
    is_deleted Int8,
    version UInt64
  ) ENGINE = ReplacingMergeTree(version) ORDER BY (project_id, distinct_id)`,
];

/** A UUID of the 16 bytes of a profile's id, whose first eight are profile_key. */
function uuidOf(id: string): string {
  return `reinterpretAsUUID(reinterpretAsUInt128(${id}))`;
}

function fillSql(fromSeconds: number, toSeconds: number): string {
  const own = autoColumns.map(({ column, property }) => `'${property}', toString(${column})`);
  const texts = `mapFilter((k, v) -> v != '' OR mapContains(string_properties, k), mapConcat(map(${own.join(', ')}), string_properties))`;
  const maps = propertyMaps.map(({ column }) => (column === 'string_properties' ? texts : column));
  const inner = maps.map(
    (map) => `substring(toJSONString(${map}), 2, length(toJSONString(${map})) - 2)`,
  );
  const json = `concat('{', arrayStringConcat(arrayFilter(t -> t != '', [${inner.join(', ')}]), ','), '}')`;
  return `INSERT INTO peer_events
    SELECT event_id, kind, ${json}, occur_time, project_id, distinct_id, receive_time,
      ${uuidOf('millraceProfileHash(project_id, distinct_id)')}, if(cookieless, 'none', 'full'), session_id
    FROM events WHERE occur_time >= ${fromSeconds} AND occur_time < ${toSeconds} ${fillSettings}`;
}
