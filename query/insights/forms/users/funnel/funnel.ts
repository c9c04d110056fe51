// FUNNEL: users who did several things one after the other, and how long each took them.

import { create } from '@bufbuild/protobuf';
import { timestampFromMs } from '@bufbuild/protobuf/wkt';
import { FunnelResultSchema } from '../../../../../proto/gen/shared/insights/v1/insights_pb.js';
import type { Question } from '../../../read/question.ts';
import { noteEvents } from '../../../sources/ladder.ts';
import { rankedUsersSql } from '../../../sql/ranked-groups.ts';
import { checkPoints, type Group, planUsers } from '../../grouped-rows.ts';
import type { Plan } from '../../plan.ts';
import { type Funnel, lookedAt } from './funnel-steps.ts';
import { cellsOfBucket, funnelUsersSql, tookCell, tookCellSql } from './funnel-users.ts';
import { readFunnel } from './read-funnel.ts';
import { readTiming, timedCellsSql } from './step-timing.ts';

/** Throws invalid_argument. */
export function planFunnel(question: Question): Plan {
  const funnel = readFunnel(question);
  const { steps, withTiming, isOverTime, optional } = funnel;
  if (isOverTime) checkPoints(question, question.buckets.length * steps.length);
  const groups = question.breakdowns;
  noteEvents(question, { count: 'users in order', of: lookedAt(funnel), groups });
  const users = funnelUsersSql(question, funnel);
  const ranked = withTiming
    ? timedCellsSql(question, users, optional.length > 0)
    : levelCellsSql(question, funnel, users);
  return planUsers(question, {
    ...{ ranked, conditions: steps },
    resultOf: (groups) => {
      const series = groups.map((group) => seriesOf(question, funnel, group));
      return { case: 'funnel', value: create(FunnelResultSchema, { series }) };
    },
  });
}

function seriesOf(question: Question, funnel: Funnel, group: Group) {
  const { steps, path, isOverTime } = funnel;
  const { breakdown, isOthers } = group;
  const whole = reachedIn(group, 0, path.length);
  const incompleteFromMs = incompleteFrom(question, funnel);
  return {
    ...{ breakdown, isOthers, open: whole.open },
    ...(incompleteFromMs !== undefined && { incompleteFrom: timestampFromMs(incompleteFromMs) }),
    steps: steps.map((_, index) => stepOf(funnel, group, whole.totals, index)),
    buckets: isOverTime
      ? question.buckets.map((startMs, place) => ({
          time: timestampFromMs(startMs),
          ...reachedIn(group, place + 1, steps.length),
        }))
      : [],
  };
}

function stepOf(
  { kinds, path, withTiming }: Funnel,
  { cells }: Group,
  totals: readonly number[],
  index: number,
) {
  const eventKind = kinds[index] ?? '';
  const place = path.indexOf(index + 1);
  if (place < 0) {
    return { eventKind, isOptional: true, total: cells.get(tookCell(index + 1))?.[0] ?? 0 };
  }
  const hasTiming = withTiming && place > 0;
  return {
    ...{ eventKind, total: totals[place] ?? 0 },
    ...(hasTiming && { timing: readTiming(cells, place + 1) }),
  };
}

/** Who reached a later step reached the earlier ones. `bucket` is its place from 1, and 0 is the whole range. */
function reachedIn({ cells }: Group, bucket: number, steps: number) {
  let open = 0;
  let users = 0;
  const totals: number[] = [];
  for (let level = steps; level > 0; level -= 1) {
    const [furthest = 0, mayConvert = 0] = cells.get(bucket * cellsOfBucket + level) ?? [];
    users += furthest;
    if (level < steps) open += mayConvert;
    totals.unshift(users);
  }
  return { totals, open };
}

function incompleteFrom({ buckets }: Question, { openFromMs, isOverTime }: Funnel) {
  if (openFromMs === undefined || !isOverTime) return openFromMs;
  return buckets.findLast((startMs) => startMs <= openFromMs);
}

/** A row for the level, and one for each optional step that was taken. */
function levelSql(hasOptional: boolean): string {
  if (!hasOptional) return 'toInt64(level)';
  return `arrayJoin(arrayPushFront(arrayMap(step -> ${tookCellSql('step')}, took), toInt64(level)))`;
}

/** A cell for each step that was somebody's furthest, and over time for each of a bucket: users, and those open. */
function levelCellsSql(
  question: Question,
  { isOverTime, optional }: Funnel,
  users: string,
): string {
  const cells = isOverTime
    ? `SELECT *, cell.1 AS bucket, cell.2 AS is_open FROM (${users}) ARRAY JOIN cells AS cell`
    : `SELECT *, ${levelSql(optional.length > 0)} AS bucket FROM (${users})`;
  return rankedUsersSql(question, cells, {
    b: 'toFloat64(countIf(is_open))',
    weight: `if(bucket > 0 AND bucket < ${cellsOfBucket}, count(), 0)`,
  });
}
