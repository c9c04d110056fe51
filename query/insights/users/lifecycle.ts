// LIFECYCLE: users who are new, returning, resurrecting or dormant, bucket by bucket. The statement counts those who
// were active, those who were in the bucket before, too, and those who are new; the others are what is left of these.

import { create } from '@bufbuild/protobuf';
import { timestampFromMs } from '@bufbuild/protobuf/wkt';
import { LifecycleResultSchema } from '../../../proto/gen/shared/insights/v1/insights_pb.js';
import { bucketPlaceSql } from '../events/bucket-place.ts';
import type { Plan } from '../plan.ts';
import type { Question } from '../question/question.ts';
import { bucketStart } from '../question/time-buckets.ts';
import { activitySql, ofUsersSql } from './activity.ts';
import { allBits, bitColumns, placesSql } from './bucket-bits.ts';
import {
  maxLeftOutRows,
  onlyEvent,
  type Places,
  placesPlanSql,
  readPlaces,
} from './counted-places.ts';
import { firstEventsSql } from './first-events.ts';

const active = 0;
const activeTwice = 1;
const born = 2;

/** Throws invalid_argument. */
export function planLifecycle(question: Question): Plan {
  const condition = onlyEvent(question);
  const { buckets } = question;
  return {
    sql: placesPlanSql(question, condition, numbersSql(question, condition)),
    maxRows: 3 * (buckets.length + 1) + maxLeftOutRows,
    read: (rows) => {
      const places = readPlaces(rows);
      const value = create(LifecycleResultSchema, resultOf(buckets, places));
      return { result: { case: 'lifecycle', value }, leftOut: places.leftOut };
    },
  };
}

/** The place 0 is the bucket before the first one. */
function numbersSql(question: Question, condition: ReturnType<typeof onlyEvent>): string {
  const { granularity, timezone, fromMs, toMs } = question;
  const firstMs = question.buckets[0] ?? fromMs;
  const beforeMs = bucketStart(granularity, timezone, firstMs - 1);
  const buckets = [beforeMs, ...question.buckets];
  const ranges =
    firstMs === fromMs
      ? [{ fromMs: beforeMs, toMs }]
      : [
          { fromMs: beforeMs, toMs: firstMs },
          { fromMs, toMs },
        ];
  const columns = bitColumns(buckets.length);
  const names = columns.join(', ');
  const unborn = 65_535;
  const place = `if(occur_time < fromUnixTimestamp64Milli(${question.bindings.bind('Int64', firstMs)}, 'UTC'),
    toUInt16(0), ${bucketPlaceSql(question, buckets)})`;
  const profiles = `SELECT profile_key, cookieless, ${names}, toUInt16(${unborn}) AS born
      FROM (${activitySql(question, { condition, buckets, ranges })})
    UNION ALL
    SELECT profile_key, cookieless, ${columns.map(() => 'toUInt64(0)').join(', ')}, ${place} AS born
      FROM (${firstEventsSql(question, firstMs)})`;
  const users = `SELECT ${allBits(columns)}, min(born) AS born
    FROM (${ofUsersSql(question, profiles, [...columns, 'born'])})
    GROUP BY user_key HAVING ${columns.map((column) => `${column} != 0`).join(' OR ')}`;
  const part = (number: number, places: string): string =>
    `arrayMap(place -> (toUInt8(${number}), toUInt16(place)), ${places})`;
  const cells = [
    part(active, placesSql(columns)),
    part(activeTwice, placesSql(columns.map((column, word) => twice(column, columns[word - 1])))),
    `if(born = 0 OR born = ${unborn} OR NOT has(${placesSql(columns)}, born), [], [(toUInt8(${born}), born)])`,
  ];
  return `SELECT cell.1 AS part, cell.2 AS place, sum(users) AS number
    FROM (SELECT ${names}, born, count() AS users FROM (${users}) GROUP BY ${names}, born)
    ARRAY JOIN arrayConcat(${cells.join(', ')}) AS cell GROUP BY part, place`;
}

/** The bits whose place before is set, too. */
function twice(word: string, wordBefore: string | undefined): string {
  const carried = wordBefore === undefined ? '' : ` + bitShiftRight(${wordBefore}, 63)`;
  return `bitAnd(${word}, bitShiftLeft(${word}, 1)${carried})`;
}

function resultOf(buckets: readonly number[], { at }: Places) {
  const points = (valueAt: (place: number) => number) =>
    buckets.map((startMs, index) => ({
      time: timestampFromMs(startMs),
      value: valueAt(index + 1),
    }));
  // Nobody who is new was active before.
  return {
    newUsers: points((place) => at(born, place)),
    returningUsers: points((place) => at(activeTwice, place)),
    resurrectingUsers: points(
      (place) => at(active, place) - at(activeTwice, place) - at(born, place),
    ),
    dormantUsers: points((place) => at(active, place - 1) - at(activeTwice, place)),
  };
}
