// STICKINESS: users by the number of buckets in which they were active.

import { create } from '@bufbuild/protobuf';
import { StickinessResultSchema } from '../../../../proto/gen/shared/insights/v1/insights_pb.js';
import { onlyEvent } from '../../read/event-condition.ts';
import { incompleteFrom } from '../../read/incomplete.ts';
import type { Question } from '../../read/question.ts';
import { userBitsSql } from '../../sources/activity.ts';
import { bitColumns } from '../../sql/bucket-bits.ts';
import {
  groupedRowsSql,
  numberRowsSql,
  onlyPart,
  readGroups,
  readLeftOut,
} from '../grouped-rows.ts';
import { leftOutSql, maxReasons } from '../left-out.ts';
import type { Plan } from '../plan.ts';

/** Throws invalid_argument. */
export function planStickiness(question: Question): Plan {
  const { buckets, fromMs, toMs } = question;
  const condition = onlyEvent(question.spec.events, question);
  const columns = bitColumns(buckets.length);
  const users = userBitsSql(question, { condition, buckets, ranges: [{ fromMs, toMs }] });
  const count = columns.map((column) => `bitCount(${column})`).join(' + ');
  const numbers = `SELECT ${onlyPart} AS part, ${count} AS place, count() AS number FROM (${users}) GROUP BY place`;
  const leftOut = leftOutSql(question, [{ condition, countsUsers: true }]);
  return {
    sql: groupedRowsSql([numberRowsSql(numbers)], leftOut),
    maxRows: buckets.length + maxReasons,
    read: (rows, untilMs) => {
      const groups = readGroups(question, rows);
      const points = buckets.map((_, index) => ({
        buckets: index + 1,
        value: groups[0]?.cells.get(index + 1)?.[0] ?? 0,
      }));
      const value = create(StickinessResultSchema, {
        ...{ points, ...incompleteFrom(question, untilMs) },
      });
      return { result: { case: 'stickiness', value }, leftOut: readLeftOut(rows, groups) };
    },
  };
}
