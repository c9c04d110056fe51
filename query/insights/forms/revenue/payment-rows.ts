// The rows of a series of payments: of each group what one measure makes of them, bucket by bucket. A payment belongs
// to the groups of its own values, and a user counts in each group that has one of their events.

import {
  type EventQuery,
  RevenueMeasure,
} from '../../../../proto/gen/shared/insights/v1/insights_pb.js';
import { type EventCondition, every } from '../../read/event-condition.ts';
import type { Question } from '../../read/question.ts';
import { eventCellsSql } from '../../sources/event-cells.ts';
import { noteEvents } from '../../sources/ladder.ts';
import { type Aggregation, eventsCounted } from '../../sql/aggregation.ts';
import { exactSumsSql } from '../../sql/exact-sum.ts';
import { groupValuesSql } from '../../sql/ranked-groups.ts';
import { bucketSql, groupColumn, groupColumns, readEventsSql } from '../../sql/read-events.ts';
import { activeUserCellsSql } from '../series/active-users.ts';
import { everyTouchCellsSql } from '../series/every-touch.ts';
import { windowUserCellsSql } from '../series/window-users.ts';
import { maxCurrencies } from './currency-groups.ts';

export interface Payments {
  /** As in the question; empty for every kind. */
  kind: string;
  /** Events with a number. */
  condition: EventCondition;
  /** SUM of the number. */
  sum: Extract<Aggregation, { counts: 'events' }>;
  measure: RevenueMeasure;
}

/** Whether a series divides by users. */
export function isOfUsers({ revenue }: Pick<EventQuery, 'revenue'>): boolean {
  return revenue === RevenueMeasure.PER_USER || revenue === RevenueMeasure.PER_PAYING_USER;
}

/** The question as `asked`, and broken down by the currency first. */
export interface Split {
  asked: Question;
  byCurrency: Question;
}

/**
 * SELECTs of (list, bucket, sums, users, active, payments), the currency the first of a list: `active` is a number of
 * users who are not listed. `currencies` are those of all series.
 */
export function paymentRowsSql(
  split: Split,
  { condition, sum, measure }: Payments,
  currencies: () => string,
): string[] {
  const { byCurrency } = split;
  const { buckets, breakdowns: groups } = byCurrency;
  const payments = 'toFloat64(weight)';
  const rows = (from: string, own: Columns): string =>
    rowsSql(from, { list: groupValuesSql(groups.length), payments, ...own });
  const cells = { condition, aggregation: sum, groups, buckets };
  switch (measure) {
    case RevenueMeasure.UNSPECIFIED:
    case RevenueMeasure.TOTAL:
    case RevenueMeasure.PAYMENTS:
      return [rows(eventCellsSql(byCurrency, cells), { sums: 'a' })];
    case RevenueMeasure.PER_PAYING_USER:
      return [rows(userCellsSql(byCurrency, condition, sum), { sums: 'a', users: 'payers' })];
    case RevenueMeasure.PER_USER:
      return [
        rows(userCellsSql(byCurrency, condition, sum), { sums: 'a' }),
        activeRowsSql(split, currencies()),
      ];
    default:
      return measure satisfies never;
  }
}

type Columns = Partial<Record<'list' | 'sums' | 'users' | 'active' | 'payments', string>>;

function rowsSql(from: string, columns: Columns): string {
  const { list, sums = "CAST(map(), 'Map(UInt8, Int256)')", payments = 'toFloat64(0)' } = columns;
  const { users = "CAST([], 'Array(UInt64)')", active = '0' } = columns;
  return `SELECT ${list} AS list, bucket, ${sums} AS sums, ${users} AS users, toUInt64(${active}) AS active,
      ${payments} AS payments FROM (${from})`;
}

/** The payments of users: their sum, and who they are; `weight` counts those of nobody too. */
function userCellsSql(
  question: Question,
  condition: EventCondition,
  { number }: Payments['sum'],
): string {
  const { breakdowns: groups, buckets } = question;
  const by = [...groupColumns(groups.length), 'bucket'].join(', ');
  noteEvents(question, { count: 'users', of: condition, groups, hasNumbers: true });
  const bucket = bucketSql(question, buckets);
  const columns = { bucket, number: `if(user_key != 0, ${number ?? 'NULL'}, NULL)` };
  const events = readEventsSql(question, { condition, groups, columns, withUser: true });
  return exactSumsSql(by, events, { payers: ['groupUniqArray', 'nullIf(user_key, 0)'] });
}

/** All who did anything, in each currency. */
function activeRowsSql({ asked }: Split, currencies: string): string {
  const { breakdowns, buckets, spec } = asked;
  const ofEach = (cells: string): string =>
    `SELECT *, arrayJoin(${currencies}) AS money FROM (${cells})`;
  if (breakdowns.length > 0) {
    const list = `arrayPushFront(${groupValuesSql(breakdowns.length)}, money)`;
    return rowsSql(ofEach(everyTouchCellsSql(asked, every)), { list, users: 'a' });
  }
  const cells = spec.cumulative
    ? windowUserCellsSql(asked, every, 'cumulative')
    : activeUserCellsSql(asked, every, buckets);
  return rowsSql(ofEach(cells), { list: '[money]', active: 'a' });
}

/** SQL of a list of the currencies that stay: those of the most payments of all series. */
export function currenciesSql({ byCurrency }: Split, series: readonly Payments[]): string {
  const [groups, buckets] = [byCurrency.breakdowns.slice(0, 1), [byCurrency.fromMs]];
  const whole = { ...byCurrency, buckets };
  const cells = series.map(({ condition }) =>
    eventCellsSql(whole, { condition, aggregation: eventsCounted, groups, buckets }),
  );
  const texts = cells.map(
    (sql) => `SELECT toString(${groupColumn(0)}) AS money, weight FROM (${sql})`,
  );
  return `(SELECT groupArray(money) FROM (SELECT money FROM (${texts.join(' UNION ALL ')}) GROUP BY money
    ORDER BY sum(weight) DESC, money LIMIT ${maxCurrencies}))`;
}
