// STICKINESS: users by the number of buckets in which they were active.

import { create } from '@bufbuild/protobuf';
import { StickinessResultSchema } from '../../../../proto/gen/shared/insights/v1/insights_pb.js';
import type { Question } from '../../read/question.ts';
import { activitySql, ofUsersSql, streamsSql } from '../../sources/activity.ts';
import { allBits, bitColumns } from '../../sql/bucket-bits.ts';
import type { Plan } from '../plan.ts';
import { maxLeftOutRows, onlyEvent, placesPlanSql, readPlaces } from './counted-places.ts';

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
  return {
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
