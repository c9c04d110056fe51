// RETENTION: users by the bucket of their first starting event, and the buckets in which they returned. Where one event
// is both and nothing is split, a table of users' days may have them (sources/activity.ts). All else asks which event
// of a user was first, and is read from rows of events (returning-users.ts, grouped-users.ts).

import { create } from '@bufbuild/protobuf';
import { timestampFromMs } from '@bufbuild/protobuf/wkt';
import { dayMs } from '../../../../platform/clock.ts';
import { invalidArgument, notKnown } from '../../../../platform/http/answers/invalid-argument.ts';
import {
  Granularity,
  RetentionQuery_First,
  RetentionResultSchema,
} from '../../../../proto/gen/shared/insights/v1/insights_pb.js';
import { type EventCondition, eventCondition } from '../../read/event-condition.ts';
import { bucketEnds, incompleteFrom, incompleteSince } from '../../read/incomplete.ts';
import type { Question } from '../../read/question.ts';
import { bitColumns, placesSql } from '../../sql/bucket-bits.ts';
import { added, rankedGroupsSql, rankedUsersSql } from '../../sql/ranked-groups.ts';
import { groupColumns, haveKeys } from '../../sql/read-events.ts';
import { checkPoints, type Group, planUsers } from '../grouped-rows.ts';
import type { Plan } from '../plan.ts';
import { type CohortRules, returningUsersSql, sameEventUsersSql } from './returning-users.ts';

/** Throws invalid_argument. */
export function planRetention(question: Question): Plan {
  const count = question.buckets.length;
  checkPoints(question, (count * (count + 1)) / 2);
  const [start, back] = readEvents(question);
  const ends = bucketEnds(question);
  const rules = readRules(question, ends);
  // Each cohort of a user has groups of its own, unless they are the user's, and 24 hours of its own.
  const isOfUser = haveKeys(question, question.breakdowns) && !rules.isRolling;
  const isPlain = back === undefined && (rules.first !== 'recurring' || isOfUser);
  const users = isPlain
    ? sameEventUsersSql(question, start, rules)
    : returningUsersSql(question, start, back ?? start, rules);
  return planUsers(question, {
    ranked: cohortsSql(question, users, rules),
    conditions: back === undefined ? [start] : [start, back],
    resultOf: (groups, untilMs) => {
      const overMs = overMsOf(question, ends, rules);
      const isOver = (cohort: number, later: number) => overMs(cohort, later) <= untilMs;
      const series = groups.map(({ breakdown, isOthers, cells }) => ({
        ...{ breakdown, isOthers, ...cohortsOf(question.buckets, cells, isOver) },
        ...incompleteFrom(question, untilMs),
      }));
      return { case: 'retention', value: create(RetentionResultSchema, { series }) };
    },
  });
}

/** One event is both: then there is no second. */
function readEvents(question: Question): [EventCondition, EventCondition | undefined] {
  const { events } = question.spec;
  const [first, second] = events;
  if (first === undefined || events.length > 2) {
    throw invalidArgument('spec.events', 'must have one or two entries');
  }
  return [
    eventCondition(first.event, 'spec.events[0].event', question),
    second && eventCondition(second.event, 'spec.events[1].event', question),
  ];
}

/** `ends` are those of the buckets. Throws invalid_argument. */
function readRules(question: Question, ends: readonly number[]): CohortRules {
  const { spec, granularity, toMs } = question;
  const { first = RetentionQuery_First.UNSPECIFIED, unbounded = false } = spec.retention ?? {};
  const isRolling = spec.retention?.rolling24h ?? false;
  if (isRolling && granularity !== Granularity.DAY && granularity !== Granularity.UNSPECIFIED) {
    throw invalidArgument('spec.retention.rolling24h', 'is for the granularity DAY');
  }
  const rules = { first: readFirst(first), unbounded, isRolling };
  const last = (cohort: number): number =>
    overMsOf(question, ends, rules)(cohort, ends.length - 1 - cohort);
  return { ...rules, returnsToMs: isRolling ? Math.max(...ends.map((_, at) => last(at))) : toMs };
}

function readFirst(first: RetentionQuery_First): CohortRules['first'] {
  switch (first) {
    case RetentionQuery_First.UNSPECIFIED:
    case RetentionQuery_First.IN_RANGE:
      return 'in range';
    case RetentionQuery_First.EVER:
      return 'ever';
    case RetentionQuery_First.RECURRING:
      return 'recurring';
    default:
      throw notKnown('spec.retention.first', first);
  }
}

/** When no user of a cohort can come to be in its point at the place `later` any more. */
function overMsOf(
  { toMs }: Question,
  ends: readonly number[],
  { unbounded, isRolling }: Pick<CohortRules, 'unbounded' | 'isRolling'>,
) {
  return (cohort: number, later: number): number => {
    const place = unbounded ? ends.length - 1 - cohort : later;
    if (!isRolling) return ends[cohort + place] ?? toMs;
    return Math.min(ends[cohort] ?? toMs, toMs) + (place + 1) * dayMs;
  };
}

/** `users` is a SELECT of cohort, the place of a bucket, bitColumns and the columns of the groups. */
function cohortsSql(question: Question, users: string, { unbounded, first }: CohortRules): string {
  const count = question.buckets.length;
  const columns = bitColumns(count);
  const last = `arrayMax(arrayPushFront(arrayMap(place -> toInt64(place) + 1, ${placesSql(columns)}), toInt64(0)))`;
  const since = `arrayFilter(place -> place >= cohort, ${placesSql(columns)})`;
  const bounded = first === 'recurring' ? since : placesSql(columns);
  const places = unbounded ? `range(toInt64(cohort), greatest(toInt64(cohort), ${last}))` : bounded;
  const cells = `arrayConcat([${sizeCell('cohort')}], arrayMap(place -> ${pointCell('cohort', 'place', count)}, ${places}))`;
  const { breakdowns, groupLimit: limit, behind } = question;
  if (behind !== undefined) {
    // Of persons no two are alike.
    return rankedUsersSql(
      question,
      `SELECT *, bucket FROM (${users}) ARRAY JOIN ${cells} AS bucket`,
    );
  }
  const names = groupColumns(breakdowns.length);
  const alike = [...names, 'cohort', ...columns].join(', ');
  const by = [...names, 'bucket'].join(', ');
  // A user has as many cells as there are pairs of their buckets: users who are alike are counted before.
  const sql = `SELECT ${by}, toFloat64(sum(users)) AS a, toFloat64(0) AS b, sumIf(users, bucket < 0) AS weight
    FROM (SELECT ${alike}, count() AS users FROM (${users}) GROUP BY ${alike})
    ARRAY JOIN ${cells} AS bucket GROUP BY ${by}`;
  return rankedGroupsSql({ sql, groups: names.length, limit, measure: added });
}

/** The cell of a cohort's users, or of those of them who returned in a bucket. Places of buckets. */
export function cellOfCohort(cohort: number, returned: number | undefined, count: number): number {
  return returned === undefined ? -1 - cohort : cohort * count + returned;
}

/** The number of the cell that has a cohort's size: below 0, where that of a point is not. */
function sizeCell(cohort: string): string {
  return `-1 - toInt64(${cohort})`;
}

function pointCell(cohort: string, place: string, count: number): string {
  return `toInt64(${cohort}) * ${count} + toInt64(${place})`;
}

function cohortsOf(
  buckets: readonly number[],
  cells: Group['cells'],
  isOver: (cohort: number, later: number) => boolean,
) {
  const cohorts = buckets.map((cohortMs, cohort) => {
    const later = buckets.slice(cohort);
    const open = later.findIndex((_, place) => !isOver(cohort, place));
    return {
      cohort: new Date(cohortMs).toISOString(),
      cohortSize: cells.get(-1 - cohort)?.[0] ?? 0,
      points: later.map((startMs, place) => ({
        time: timestampFromMs(startMs),
        value: cells.get(cohort * buckets.length + cohort + place)?.[0] ?? 0,
      })),
      ...incompleteSince(later[open]),
    };
  });
  const means = buckets.map((_, place) =>
    meanOf(
      cohorts.flatMap(({ cohortSize: size, points }, cohort) => {
        const point = points[place];
        return point && isOver(cohort, place) ? [{ size, returned: point.value }] : [];
      }),
    ),
  );
  return { cohorts, means };
}

function meanOf(cohorts: readonly { size: number; returned: number }[]) {
  const begun = cohorts.filter(({ size }) => size > 0);
  const size = begun.reduce((sum, one) => sum + one.size, 0);
  const returned = begun.reduce((sum, one) => sum + one.returned, 0);
  if (size === 0) return { size, returned };
  const shares = begun.reduce((sum, one) => sum + one.returned / one.size, 0);
  return { size, returned, share: returned / size, meanOfShares: shares / begun.length };
}
