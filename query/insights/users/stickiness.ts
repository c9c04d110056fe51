// STICKINESS: users by the number of buckets in which they were active.

import { create } from '@bufbuild/protobuf';
import { StickinessResultSchema } from '../../../proto/gen/shared/insights/v1/insights_pb.js';
import type { EventCondition } from '../events/event-condition.ts';
import { heldUsers } from '../held/bits/held-users.ts';
import { byNumber } from '../held/bits/tally.ts';
import type { HeldStatement, Plan } from '../plan.ts';
import type { Question } from '../question/question.ts';
import { activitySql, ofUsersSql, streamsSql } from './activity.ts';
import { allBits, bitColumns } from './bucket-bits.ts';
import {
  leftOutPlacesSql,
  maxLeftOutRows,
  onlyEvent,
  placesPlanSql,
  placesTextRows,
  readPlaces,
} from './counted-places.ts';

/** Throws invalid_argument. */
export function planStickiness(question: Question): Plan {
  const { buckets, fromMs, toMs } = question;
  const condition = onlyEvent(question);
  const columns = bitColumns(buckets.length);
  const activity = activitySql(question, { condition, buckets, ranges: [{ fromMs, toMs }] });
  const count = columns.map((column) => `bitCount(${column})`).join(' + ');
  const numbers = `SELECT 0 AS part, ${count} AS place, count() AS number
    FROM (SELECT ${allBits(columns)} FROM (${ofUsersSql(question, activity, columns)})
      GROUP BY user_key ${streamsSql(activity)}) GROUP BY place`;
  const held = heldSql(question, condition);
  return {
    ...(held !== undefined && { held }),
    sql: placesPlanSql(question, condition, numbers),
    maxRows: buckets.length + maxLeftOutRows,
    read: (rows) => {
      const { at, leftOut } = readPlaces(rows);
      const points = buckets.map((_, index) => ({ buckets: index + 1, value: at(0, index + 1) }));
      const value = create(StickinessResultSchema, { points });
      return { result: { case: 'stickiness', value }, leftOut };
    },
  };
}

function heldSql(question: Question, condition: EventCondition): HeldStatement | undefined {
  const { fromMs, toMs, buckets } = question;
  return heldUsers(question, {
    condition,
    stretches: { ranges: [{ fromMs, toMs }], starts: buckets },
    ...{ tally: byNumber, textRows: placesTextRows },
    ...{ rest: leftOutPlacesSql(question, condition), maxRows: maxLeftOutRows },
    rowsOf: (counts) => [...counts].map((users, number) => [0, number, users]),
  });
}
