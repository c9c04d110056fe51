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
import { exactTextSql } from '../../sql/nearest-double.ts';
import { added, type Measure, shownParts } from '../../sql/ranked-groups.ts';
import { bucketSql, groupColumn, readEventsSql } from '../../sql/read-events.ts';
import { activeUserCellsSql } from '../series/active-users.ts';
import { laterBucketsSql } from '../series/added-up.ts';
import { everyTouchCellsSql } from '../series/every-touch.ts';
import { windowUserCellsSql } from '../series/window-users.ts';
import {
  type CurrencyGroups,
  placedSql,
  placedUsersSql,
  usersOfEachSql,
} from './currency-groups.ts';

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

const divided: Measure = { combine: 'sumMap', isRatio: true };

/** How a cell of the rows is read. */
export function measureOf({ measure, sum }: Payments): Measure {
  switch (measure) {
    case RevenueMeasure.UNSPECIFIED:
    case RevenueMeasure.TOTAL:
      return sum.measure;
    case RevenueMeasure.PAYMENTS:
      return added;
    case RevenueMeasure.PER_USER:
    case RevenueMeasure.PER_PAYING_USER:
      return divided;
    default:
      return measure satisfies never;
  }
}

/** The question as `asked`, and broken down by the currency first. */
export interface Split {
  asked: Question;
  byCurrency: Question;
  groups: CurrencyGroups;
}

/** SELECT of (place, values, cells, folded), whose values are those of placesSql. */
export function paymentRowsSql(split: Split, payments: Payments): string {
  const { from, numbers } = cellsOf(split, payments);
  return `SELECT place, emptyArrayString() AS values, groupArray((bucket, ${numbers.join(', ')})) AS cells, toUInt64(1) AS folded
    FROM (${from}) GROUP BY place`;
}

/** SQL of the rows of groups and buckets, and of the two numbers of each. */
interface PlacedCells {
  from: string;
  numbers: readonly [string, string];
}

function cellsOf(split: Split, payments: Payments): PlacedCells {
  const { byCurrency, groups } = split;
  const { condition, sum, measure } = payments;
  const { buckets, breakdowns } = byCurrency;
  const counted = (aggregation: typeof sum): string =>
    placedSql(
      eventCellsSql(byCurrency, { condition, aggregation, groups: breakdowns, buckets }),
      ['a', 'b'],
      groups,
    );
  switch (measure) {
    case RevenueMeasure.UNSPECIFIED:
    case RevenueMeasure.TOTAL: {
      const from = togetherSql(split, counted(sum), { a: 'sumMap', b: 'sum' });
      return { from, numbers: shownParts(sum.measure) };
    }
    case RevenueMeasure.PAYMENTS: {
      const from = togetherSql(split, counted(eventsCounted), { a: 'sum', b: 'sum' });
      return { from, numbers: shownParts(added) };
    }
    case RevenueMeasure.PER_PAYING_USER: {
      const cells = placedSql(userCellsSql(split, payments), ['a', 'users'], groups);
      const from = togetherSql(split, cells, { a: 'sumMap', users: 'groupUniqArrayArray' });
      const users = 'length(users)';
      return { from, numbers: [exactTextSql('a', users), `toFloat64(${users})`] };
    }
    case RevenueMeasure.PER_USER:
      return perUser(split, payments);
    default:
      return measure satisfies never;
  }
}

/** The payments of users: their sum, and who they are. */
function userCellsSql({ byCurrency }: Split, { condition, sum }: Payments): string {
  const { breakdowns: groups, buckets } = byCurrency;
  const by = [...groups.map((_, index) => groupColumn(index)), 'bucket'].join(', ');
  noteEvents(byCurrency, { count: 'users', of: condition, groups, hasNumbers: true });
  const columns = { bucket: bucketSql(byCurrency, buckets), number: sum.number ?? 'NULL' };
  const events = readEventsSql(byCurrency, { condition, groups, columns, withUser: true });
  const ofUsers = `SELECT * FROM (${events}) WHERE user_key != 0`;
  return exactSumsSql(by, ofUsers, { users: ['groupUniqArray', 'user_key'] });
}

function perUser(split: Split, payments: Payments): PlacedCells {
  const sums = togetherSql(split, placedSql(userCellsSql(split, payments), ['a'], split.groups), {
    a: 'sumMap',
  });
  const nothing = "CAST(map(), 'Map(UInt8, Int256)')";
  const both = `SELECT place, bucket, a, toUInt64(0) AS users FROM (${sums})
    UNION ALL SELECT place, bucket, ${nothing}, toUInt64(users) FROM (${activeUsersSql(split)})`;
  const from = `SELECT place, bucket, sumMap(row.a) AS a, sum(row.users) AS users
    FROM (${both}) AS row GROUP BY place, bucket`;
  return { from, numbers: [exactTextSql('a', 'users'), 'toFloat64(users)'] };
}

/** SELECT of (place, bucket, users): how many did anything. */
function activeUsersSql(split: Split): string {
  const { asked, groups } = split;
  if (asked.breakdowns.length === 0) {
    const cells = asked.spec.cumulative
      ? windowUserCellsSql(asked, every, 'cumulative')
      : activeUserCellsSql(asked, every, asked.buckets);
    return usersOfEachSql(cells, groups);
  }
  const lists = `SELECT * EXCEPT (a), a AS users FROM (${everyTouchCellsSql(asked, every)})`;
  const together = togetherSql(split, placedUsersSql(lists, groups), {
    users: 'groupUniqArrayArray',
  });
  return `SELECT place, bucket, length(row.users) AS users FROM (${together}) AS row`;
}

/** One row for each place and bucket; cumulative, with all buckets before it. `columns` name what adds them up. */
function togetherSql(
  { asked }: Split,
  placed: string,
  columns: Readonly<Record<string, string>>,
): string {
  const { buckets, spec } = asked;
  const names = Object.keys(columns).join(', ');
  const added = Object.entries(columns).map(
    ([name, combine]) => `${combine}(row.${name}) AS ${name}`,
  );
  const grouped = (rows: string): string =>
    `SELECT place, bucket, ${added.join(', ')} FROM (${rows}) AS row GROUP BY place, bucket`;
  const each = grouped(placed);
  if (!spec.cumulative || buckets.length === 1) return each;
  const later = laterBucketsSql(asked);
  const named = `SELECT place, bucket AS earlier, ${names} FROM (${each})`;
  return grouped(`SELECT place, ${later} AS bucket, ${names} FROM (${named})`);
}
