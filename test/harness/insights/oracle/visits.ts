// Questions about visits: the events of a session on the UTC day on which it begins and on the next one, whatever range
// is asked.

import { dayMs } from '../../../../platform/clock.ts';
import type { Question, SessionMetric } from '../questions/question.ts';
import type { Part } from './part.ts';
import { meetsGroups } from './statement/conditions.ts';
import { meetsScope } from './statement/filters.ts';
import { groupOf, othersCount, rankTables, readGroup } from './statement/groups.ts';
import { incompleteFrom } from './statement/incomplete.ts';
import { bucketKey, bucketTables, isInRange, presentEvents } from './statement/selection.ts';
import type { Row, Tables } from './tables.ts';
import { bySlot } from './trends.ts';

const values: Record<SessionMetric, string> = {
  SESSIONS: 'count(*)',
  AVG_DURATION: 'sum(last_ts - first_ts)::DOUBLE / (1000 * count(*))',
  BOUNCE_RATE: 'avg(CASE WHEN views = 1 AND meant = 1 THEN 1 ELSE 0 END)',
  ENTRY: 'count(*)',
  EXIT: 'count(*)',
  AVG_EVENTS_PER_SESSION: 'avg(events)',
};

/** The common tables up to `grouped`: the visits that count, with key and slot. */
function visitTables(question: Question, metric: SessionMetric): string {
  const groups = meetsGroups(question);
  const { scope: asked } = question.session ?? {};
  const scope = meetsScope(asked);
  // The events of the scope's kind; a question by other metrics, or of every kind, looks at all.
  const { kind = '', kinds = [] } = asked ?? {};
  const isEdge = (metric === 'ENTRY' || metric === 'EXIT') && (kind !== '' || kinds.length > 0);
  const ofKind = isEdge ? meetsScope({ kind, kinds }) : 'true';
  const edge = (pick: string, value: string): string =>
    `${pick}(${value} ORDER BY ts, id) FILTER (WHERE ${ofKind})`;
  const counts: Record<string, string> = {
    ENTRY: 'in_groups AND first_in_scope',
    EXIT: 'in_groups AND last_in_scope',
  };
  return `${presentEvents(question)},
    days AS (SELECT DISTINCT session, ts // ${dayMs} AS day FROM ev),
    begun AS (SELECT session, day AS first_day FROM days WHERE (session, day - 1) NOT IN (FROM days)),
    visits AS (SELECT session, first_day, count(*) AS events,
      min(ts) AS first_ts, max(ts) AS last_ts, count(*) FILTER (WHERE kind = 'page_view') AS views,
      count(*) FILTER (WHERE kind NOT IN ('page_leave', 'scroll', 'error_occurred', 'web_vitals')) AS meant,
      ${edge('first', groupOf(question))} AS first_g, ${edge('last', groupOf(question))} AS last_g,
      ${edge('first', scope)} AS first_in_scope, ${edge('last', scope)} AS last_in_scope,
      bool_or(${groups}) AS in_groups, bool_or(${groups} AND ${scope}) AS in_both
      FROM ev JOIN begun USING (session) WHERE ts // ${dayMs} - first_day IN (0, 1) GROUP BY session, first_day),
    own AS (SELECT *, ${metric === 'EXIT' ? 'last_g' : 'first_g'} AS g, ${bucketKey(question, 'first_ts')} AS key
      FROM visits WHERE ${isInRange(question, 'first_ts')} AND ${counts[metric] ?? 'in_both'}),
    ${rankTables(question, 'SELECT g, count(*) AS weight FROM own GROUP BY g')},
    grouped AS (SELECT own.*, slot FROM own JOIN slots_of ON slots_of.g = own.g)`;
}

async function rowsOf(tables: Tables, question: Question, metric: SessionMetric): Promise<Row[]> {
  const isBroken = (question.breakdowns ?? []).length > 0;
  const places = isBroken
    ? 'SELECT slot, first(g) AS g FROM slots_of GROUP BY slot'
    : 'SELECT 1 AS slot, []::VARCHAR[] AS g';
  const head = `WITH ${visitTables(question, metric)}, places AS (${places})`;
  const value = `coalesce(${values[metric]}, 0)::DOUBLE`;
  const groups = '(SELECT count(*) FROM ranked) AS groups';
  return tables.rows(
    question.type === 'TRENDS'
      ? `${head}, ${bucketTables(question)},
          counted AS (SELECT slot, key, ${value} AS value FROM grouped GROUP BY slot, key)
        SELECT p.slot, g, start, coalesce(value, 0) AS value, ${groups} FROM places p CROSS JOIN buckets b
        LEFT JOIN counted c ON c.slot = p.slot AND c.key = b.key ORDER BY p.slot, start`
      : `${head}, counted AS (SELECT slot, ${value} AS value FROM grouped GROUP BY slot)
        SELECT p.slot, g, coalesce(value, 0) AS value, ${groups} FROM places p
        LEFT JOIN counted c ON c.slot = p.slot ORDER BY p.slot`,
  );
}

export async function visitsAnswer(
  tables: Tables,
  question: Question,
  untilMs: number,
): Promise<Part> {
  const metric = question.session?.metric ?? 'SESSIONS';
  const rows = await rowsOf(tables, question, metric);
  const others = othersCount(question, rows[0]?.['groups'] ?? 0);
  const leftOut = { GROUPS_IN_OTHERS: others };
  const head = { eventKind: '', eventIndex: 0 };
  if (question.type === 'TRENDS') {
    const incomplete = await incompleteFrom(tables, question, untilMs);
    const series = bySlot(rows).map((slotRows) => ({
      ...head,
      ...readGroup(question, slotRows[0] ?? {}),
      points: slotRows.map(({ start, value }) => [Number(start), Number(value)]),
      incompleteFrom: incomplete,
    }));
    return { result: { trends: { series } }, leftOut };
  }
  const series = rows.map((row) => ({
    ...head,
    ...readGroup(question, row),
    value: Number(row['value']),
  }));
  const [whole] = await rowsOf(tables, { ...question, breakdowns: [] }, metric);
  const total = Number(whole?.['value'] ?? 0);
  return { result: { segmentation: { total, series } }, leftOut };
}
