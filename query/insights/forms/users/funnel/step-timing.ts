// The times that users took from one step of a FUNNEL to the next: SQL that makes cells of them, and the message of
// these.

import type { Duration } from '@bufbuild/protobuf/wkt';
import { dayMs, hourMs, minuteMs } from '../../../../../platform/clock.ts';
import type { Question } from '../../../read/question.ts';
import { groupColumns } from '../../../sql/read-events.ts';
import type { Group } from '../../grouped-rows.ts';
import { tookCellSql } from './funnel-users.ts';

const secondMs = 1_000;

/** The longest times of the distribution, ascending; what is longer has a bucket of its own. */
const bounds = [
  { label: '10s', ms: 10 * secondMs },
  { label: '1m', ms: minuteMs },
  { label: '10m', ms: 10 * minuteMs },
  { label: '1h', ms: hourMs },
  { label: '6h', ms: 6 * hourMs },
  { label: '1d', ms: dayMs },
  { label: '7d', ms: 7 * dayMs },
  { label: '30d', ms: 30 * dayMs },
] as const;
const longerLabel = '> 30d';

// The cell n is the users whose furthest step is n; those of the times of a step follow from step * timeCells on.
const timeCells = 100;
const averageCell = 0;
const medianCell = 1;
const p95Cell = 2;
/** Of the users who took at most the first bound; those of the other bounds follow, and count who took less, too. */
const boundCells = 10;

/**
 * As rankedGroupsSql answers them. `users` is a SELECT of the columns of the groups, level, is_open, chain, and took
 * where steps are optional: the cells of these have negative numbers, as tookCellSql names them.
 */
export function timedCellsSql(question: Question, users: string, hasOptional: boolean): string {
  const step = `SELECT place, any(values) AS values, any(folded) AS folded, took.1 AS step, countIf(level = step OR step < 0) AS furthest, countIf(level = step AND is_open) AS open_users,
      arraySort(groupArrayIf(took.2, step > 1)) AS times, length(times) AS taken
    FROM (${placedSql(question, users, hasOptional)})
    ARRAY JOIN arrayConcat(arrayMap(step -> (toInt64(step), if(step = 1, 0, chain[step] - chain[step - 1])), range(1, toUInt64(level) + 1)),
      arrayMap(step -> (${tookCellSql('step')}, 0), taken_steps)) AS took
    GROUP BY place, step`;
  const cell = (number: string, a: string, b = '0'): string =>
    `(toInt64(${number}), toFloat64(${a}), toFloat64(${b}))`;
  const timeCell = (place: number, a: string, b?: string): string =>
    cell(`step * ${timeCells} + ${place}`, a, b);
  const ofStep = `arrayConcat([${cell('step', 'furthest', 'open_users')}], if(step <= 1, [], [${[
    timeCell(averageCell, 'arraySum(times)', 'taken'),
    timeCell(medianCell, 'times[intDiv(taken + 1, 2)]'),
    timeCell(p95Cell, 'times[intDiv(taken * 95 + 99, 100)]'),
    ...bounds.map(({ ms }, index) =>
      timeCell(boundCells + index, `arrayCount(time -> time <= ${ms}, times)`),
    ),
  ].join(', ')}]))`;
  return `SELECT place, any(values) AS values, groupArrayArray(${ofStep}) AS cells, any(folded) AS folded
    FROM (${step}) GROUP BY place`;
}

/** The users with the place of their group, its values, and how many groups that place stands for. */
function placedSql(
  { breakdowns, groupLimit }: Question,
  users: string,
  hasOptional: boolean,
): string {
  const taken = hasOptional ? 'took' : 'emptyArrayInt64()';
  if (breakdowns.length === 0) {
    return `SELECT toUInt64(1) AS place, emptyArrayString() AS values, toUInt64(1) AS folded, level, is_open, chain, ${taken} AS taken_steps FROM (${users})`;
  }
  const columns = groupColumns(breakdowns.length);
  const names = columns.join(', ');
  const values = `[${columns.map((name) => `toString(${name})`).join(', ')}]`;
  return `SELECT least(rank, ${groupLimit + 1}) AS place, if(rank > ${groupLimit}, [], ${values}) AS values,
      toUInt64(if(rank > ${groupLimit}, total - ${groupLimit}, 1)) AS folded, member.1 AS level, member.2 AS is_open, member.3 AS chain, member.4 AS taken_steps
    FROM (
      SELECT ${names}, users, row_number() OVER (ORDER BY length(users) DESC, ${names}) AS rank, count() OVER () AS total
      FROM (SELECT ${names}, groupArray((level, is_open, chain, ${taken})) AS users FROM (${users}) GROUP BY ${names})
    ) ARRAY JOIN users AS member`;
}

/** The times of a step, from 2. */
export function readTiming(cells: Group['cells'], step: number) {
  const at = (place: number): readonly number[] => cells.get(step * timeCells + place) ?? [];
  const first = (place: number): number => at(place)[0] ?? 0;
  const [sum = 0, users = 0] = at(averageCell);
  const within = bounds.map((_, index) => first(boundCells + index));
  return {
    avg: durationOf(users === 0 ? 0 : sum / users),
    median: durationOf(first(medianCell)),
    p95: durationOf(first(p95Cell)),
    distribution: [
      ...bounds.map(({ label, ms }, index) => ({
        label,
        upperBound: durationOf(ms),
        count: BigInt((within[index] ?? 0) - (within[index - 1] ?? 0)),
      })),
      { label: longerLabel, count: BigInt(users - (within.at(-1) ?? 0)) },
    ],
  };
}

function durationOf(ms: number): Pick<Duration, 'seconds' | 'nanos'> {
  const seconds = Math.floor(ms / 1_000);
  const nanos = Math.round((ms - seconds * 1_000) * 1e6);
  return nanos === 1e9
    ? { seconds: BigInt(seconds) + 1n, nanos: 0 }
    : { seconds: BigInt(seconds), nanos };
}
