// Statements that the engine answers, as people write them, with places where one that reaches further can be put in.

import type { Draw } from '../insights/random.ts';

/** SQL for one place of a statement, or undefined for what belongs there. */
export interface Intruder {
  table(): string | undefined;
  expression(): string | undefined;
}

const tables = ['events', 'millrace.events', 'default.events', '`millrace`.`events`', 'EVENTS'];
const texts = [
  'kind',
  'distinct_id',
  'browser',
  "string_properties['plan']",
  'toString(session_id)',
  'upper(kind)',
];
const aggregates = [
  ...['count()', 'uniqExact(distinct_id)', 'max(occur_time)', 'countIf(cookieless)', 'any(url)'],
  ...[
    'quantile(0.5)(toHour(occur_time))',
    'groupArray(2)(kind)',
    'sum(length(kind))',
    'topK(1)(browser)',
  ],
];
const conditions = [
  ...[
    "kind = 'page_view'",
    'occur_time > now() - INTERVAL 7 DAY',
    "kind IN ('page_view', 'x')",
    'NOT cookieless',
  ],
  ...[
    'distinct_id IN (SELECT distinct_id FROM sessions)',
    "browser LIKE '%row'",
    'EXISTS(SELECT 1 FROM profiles)',
  ],
  ...['profile_id IN (SELECT profile_id FROM profiles)', "has(['page_view'], kind)", '1 = 1'],
];
const ends = [
  '',
  'LIMIT 3',
  'LIMIT 2 OFFSET 1',
  'FORMAT JSON',
  'SETTINGS max_execution_time = 3',
  'LIMIT 1 FORMAT CSV;',
];

export function plainStatement(draw: Draw, intruder: Intruder): string {
  const table = (): string =>
    intruder.table() ?? (draw.chance(0.9) ? draw.pick(tables.slice(0, 4)) : 'events');
  const text = (): string => intruder.expression() ?? draw.pick(texts);
  const condition = (): string =>
    draw.chance(0.2) ? `${text()} = ${text()}` : draw.pick(conditions);
  const where = (): string => (draw.chance(0.5) ? `WHERE ${condition()}` : '');
  const sum = (): string => draw.pick(aggregates);
  const statement = draw.pick([
    () => `SELECT ${text()} AS a, ${sum()} AS b FROM ${table()} ${where()} GROUP BY a ORDER BY a`,
    () => `SELECT ${text()}, ${text()} FROM ${table()} ${where()} ORDER BY ${draw.pick(texts)}`,
    () => `SELECT ${sum()}, ${sum()} FROM ${table()} ${where()}`,
    () => `SELECT * FROM ${table()} ${where()}`,
    () => `WITH x AS (SELECT * FROM ${table()} ${where()}) SELECT count(), ${sum()} FROM x`,
    () => `SELECT count() FROM (SELECT ${text()} AS a FROM ${table()} ${where()}) WHERE a != 'b'`,
    () => `SELECT count() FROM ${table()} UNION ALL SELECT count() FROM ${table()}`,
    () =>
      `SELECT row_number() OVER (PARTITION BY ${draw.pick(texts)} ORDER BY occur_time) FROM ${table()}`,
    () =>
      `SELECT e.kind, p.external_id FROM ${table()} AS e LEFT JOIN profiles AS p ON e.profile_id = p.profile_id`,
    () =>
      `SELECT arrayMap(x -> concat(x, ${draw.pick(["'a'", 'x'])}), [${text()}]) FROM ${table()}`,
    () => `SELECT (SELECT count() FROM ${table()}) AS n, ${text()} FROM ${table()}`,
    () =>
      `SELECT CASE WHEN ${condition()} THEN 1 ELSE 2 END AS c, count() FROM ${table()} GROUP BY c`,
    () =>
      `SELECT toStartOfDay(occur_time) AS d, ${sum()} FROM ${table()} GROUP BY d ORDER BY d WITH FILL`,
    () => `SELECT name FROM system.${draw.pick(['tables', 'columns', 'databases', 'settings'])}`,
    () =>
      `SELECT entry_page, ${draw.pick(['count()', 'avg(duration_seconds)'])} FROM sessions GROUP BY 1`,
    () =>
      `SELECT country, sum(total_events) FROM profiles GROUP BY country HAVING sum(total_events) >= 0`,
    () => `SELECT * EXCEPT(url) APPLY(toString) FROM ${table()} ${where()}`,
    () => `SELECT {a:String} AS p, number FROM numbers(3)`,
  ])();
  return `${statement} ${draw.pick(ends)}`;
}
