// The number that an aggregation makes of the events of a group: SQL of DuckDB, and what is left to do with its value
// where DuckDB would round a sum.

import { type Aggregation, readsProperty } from '../../questions/question.ts';
import { numberOf } from './conditions.ts';
import { exactMean, exactSum } from './exact-sum.ts';
import { place } from './filters.ts';

/** They count users, and skip events without one. */
export function isPersonBased(aggregation: Aggregation = 'TOTAL'): boolean {
  const all: Aggregation[] = ['UNIQUE_USERS', 'PER_USER_AVG', 'SUM_PER_USER', 'AVG_PER_USER'];
  return all.includes(aggregation);
}

/** SQL for what an event has of the property, as the column `v`. */
export function measured(aggregation: Aggregation = 'TOTAL', property = ''): string {
  if (aggregation === 'DISTINCT_VALUES') return place(property, false).text;
  return readsProperty(aggregation) ? numberOf(property) : 'NULL::DOUBLE';
}

const listed = 'list(v) FILTER (WHERE v IS NOT NULL)';
/** The least number that so many in a hundred do not exceed. */
const percentile = (percent: number): string =>
  `list_sort(${listed})[(count(v) * ${percent} + 99) // 100]`;

interface Value {
  /** Over the rows of a group that have `usr` and `v`. */
  sql: string;
  read(value: unknown): number;
}

const plain = (sql: string): Value => ({
  sql: `coalesce(CASE WHEN count(*) = 0 THEN 0 ELSE ${sql} END, 0)::DOUBLE`,
  read: (value) => Number(value ?? 0),
});

const values: Readonly<Record<Aggregation, Value>> = {
  TOTAL: plain('count(*)'),
  UNIQUE_USERS: plain('count(DISTINCT usr)'),
  PER_USER_AVG: plain('count(usr) / count(DISTINCT usr)'),
  MIN: plain('min(v)'),
  MAX: plain('max(v)'),
  MEDIAN: plain(percentile(50)),
  P75: plain(percentile(75)),
  P90: plain(percentile(90)),
  P95: plain(percentile(95)),
  P99: plain(percentile(99)),
  DISTINCT_VALUES: plain('count(DISTINCT v)'),
  SUM: { sql: listed, read: (value) => exactSum(numbersOf(value)) },
  AVG: { sql: listed, read: (value) => exactMean(numbersOf(value)) },
  SUM_PER_USER: {
    sql: `{'numbers': ${listed}, 'users': count(DISTINCT usr)}`,
    read: (value) => {
      const { numbers, users } = recordOf(value);
      return exactMean(numbersOf(numbers), Number(users ?? 0));
    },
  },
  AVG_PER_USER: {
    sql: `list({'usr': usr, 'v': v}) FILTER (WHERE v IS NOT NULL)`,
    read: (value) => {
      const ofUsers = new Map<unknown, number[]>();
      for (const { usr, v } of listOf(value).map(recordOf)) {
        ofUsers.set(usr, [...(ofUsers.get(usr) ?? []), Number(v)]);
      }
      return exactMean([...ofUsers.values()].map((numbers) => exactMean(numbers)));
    },
  },
};

export function valueSql(aggregation: Aggregation = 'TOTAL'): string {
  return values[aggregation].sql;
}

/** The number of a value of valueSql. */
export function readValue(value: unknown, aggregation: Aggregation = 'TOTAL'): number {
  return values[aggregation].read(value);
}

function listOf(value: unknown): unknown[] {
  return Array.isArray(value) ? value : [];
}

function numbersOf(value: unknown): number[] {
  return listOf(value).map(Number);
}

function recordOf(value: unknown): Record<string, unknown> {
  return typeof value === 'object' && value !== null
    ? Object.fromEntries(Object.entries(value))
    : {};
}
