// FUNNEL: users who did several things in order, and how long each took them.

import { create } from '@bufbuild/protobuf';
import type { Duration } from '@bufbuild/protobuf/wkt';
import { dayMs } from '../../../../../platform/clock.ts';
import { invalidArgument } from '../../../../../platform/http/answers/invalid-argument.ts';
import { FunnelResultSchema } from '../../../../../proto/gen/shared/insights/v1/insights_pb.js';
import { eventCondition } from '../../../read/event-condition.ts';
import type { Question } from '../../../read/question.ts';
import { sourceOf } from '../../../sources/ladder.ts';
import { added, rankedGroupsSql } from '../../../sql/ranked-groups.ts';
import { groupColumn } from '../../../sql/read-events.ts';
import {
  type Group,
  groupedRowsSql,
  groupsRowsSql,
  maxGroupedRows,
  onlyPart,
  readGroups,
  readLeftOut,
} from '../../grouped-rows.ts';
import { leftOutSql } from '../../left-out.ts';
import type { Plan } from '../../plan.ts';
import { anyStep, type Funnel } from './funnel-steps.ts';
import { funnelUsersSql } from './funnel-users.ts';
import { readTiming, timedCellsSql } from './step-timing.ts';

const minSteps = 2;
const maxSteps = 20;
const maxWindowMs = 366 * dayMs;

/** Throws invalid_argument. */
export function planFunnel(question: Question): Plan {
  const funnel = readFunnel(question);
  const { steps, kinds, withTiming } = funnel;
  const condition = anyStep(funnel);
  const groups = question.breakdowns;
  sourceOf(question, { count: 'users in order', of: condition, groups });
  const users = funnelUsersSql(question, funnel);
  const counted = [{ condition, countsUsers: true }];
  const cells = withTiming ? timedCellsSql(question, users) : levelCellsSql(question, users);
  return {
    sql: groupedRowsSql([groupsRowsSql(onlyPart, cells)], leftOutSql(question, counted)),
    maxRows: maxGroupedRows(question),
    read: (rows) => {
      const groups = readGroups(question, rows);
      const value = create(FunnelResultSchema, {
        series: groups.map((group) => ({
          breakdown: group.breakdown,
          isOthers: group.isOthers,
          steps: steps.map((_, index) => ({
            eventKind: kinds[index] ?? '',
            total: usersAt(group, index + 1, steps.length),
            ...(withTiming && index > 0 && { timing: readTiming(group.cells, index + 1) }),
          })),
        })),
      });
      return { result: { case: 'funnel', value }, leftOut: readLeftOut(rows, groups) };
    },
  };
}

function readFunnel(question: Question): Funnel {
  const { events, includeStepTiming, conversionWindow } = question.spec;
  if (events.length < minSteps || events.length > maxSteps) {
    throw invalidArgument('spec.events', `must have ${minSteps} to ${maxSteps} steps`);
  }
  const kinds = events.map(({ event }) => event?.kind ?? '');
  return {
    kinds,
    steps: events.map(({ event }, index) =>
      eventCondition(event, `spec.events[${index}].event`, question),
    ),
    windowMs: readWindow(conversionWindow),
    withTiming: includeStepTiming,
    // An event has one kind: where all are different, none meets two steps.
    mayOverlap: kinds.includes('') || new Set(kinds).size < kinds.length,
  };
}

/** Rounded down: times between events are whole milliseconds. */
function readWindow(window: Duration | undefined): number {
  if (window === undefined) return dayMs;
  const { seconds, nanos } = window;
  const isDuration =
    Math.abs(nanos) < 1e9 && (seconds === 0n || nanos === 0 || seconds > 0n === nanos > 0);
  const field = 'spec.conversionWindow';
  if (!isDuration) throw invalidArgument(field, 'is not a Duration');
  const windowNanos = seconds * 1_000_000_000n + BigInt(nanos);
  if (windowNanos <= 0n) throw invalidArgument(field, 'must be positive');
  if (windowNanos > BigInt(maxWindowMs) * 1_000_000n) {
    throw invalidArgument(field, 'is at most 366 days');
  }
  return Number(windowNanos / 1_000_000n);
}

/** A cell for each step that was somebody's furthest. */
function levelCellsSql({ breakdowns, groupLimit, behind }: Question, users: string): string {
  const names = breakdowns.map((_, index) => groupColumn(index));
  const by = [...names, 'bucket'].join(', ');
  return rankedGroupsSql({
    sql: `SELECT ${by}, toFloat64(count()) AS a, toFloat64(0) AS b, count() AS weight
      FROM (SELECT ${[...names, 'toInt64(level) AS bucket'].join(', ')} FROM (${users})) GROUP BY ${by}`,
    groups: names.length,
    limit: groupLimit,
    measure: added,
    behind,
  });
}

/** Who reached a later step reached this one. */
function usersAt({ cells }: Group, step: number, steps: number): number {
  let users = 0;
  for (let level = step; level <= steps; level += 1) users += cells.get(level)?.[0] ?? 0;
  return users;
}
