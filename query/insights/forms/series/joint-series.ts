// Questions of a board that count the users of every kind, answered by one statement: such users in all ranges and
// buckets that are asked for come from one pass over the days of profiles, the dearest part of these questions.

import { create } from '@bufbuild/protobuf';
import { EventFilterSchema } from '../../../../proto/gen/common/v1/filter_pb.js';
import {
  AggregationType,
  type EventQuery,
} from '../../../../proto/gen/shared/insights/v1/insights_pb.js';
import { eventCondition, every } from '../../read/event-condition.ts';
import { type Question, withJointBindings } from '../../read/question.ts';
import { countedEvents } from '../../sources/counted-kinds.ts';
import { refusesOfEvery } from '../../sources/ladder.ts';
import { countRowsSql, leftOutPart, leftOutRowsSql } from '../grouped-rows.ts';
import { leftOutSql } from '../left-out.ts';
import type { Plan } from '../plan.ts';
import { maxJointParts, unlike } from './joint-parts.ts';
import { jointPlaces, jointUsersSql, type UserBuckets } from './joint-users.ts';

export interface JointSeries extends Required<Pick<Plan, 'sql' | 'maxRows' | 'joint'>> {
  /** The part of each series of the question, and the part of what they leave out. */
  parts: number[];
  leftOutPart: number;
}

/** A series of a question. */
interface Asked extends UserBuckets {
  of: 'users' | { kind: string };
}

/** Undefined where the tables of sums do not tell. */
export function jointSeries(question: Question): JointSeries | undefined {
  const own = seriesAsked(question);
  if (own === undefined) return undefined;
  const { includeCookieless } = question.spec;
  const alike = question.beside.filter(({ spec }) => spec.includeCookieless === includeCookieless);
  const all = [...own, ...alike.flatMap((other) => seriesAsked(other) ?? [])];
  if (all.length > maxJointParts) return undefined;
  const asked = unlike(all, keyOf);
  const users = asked.filter(({ of }) => of === 'users');
  const places = jointPlaces(users);
  if (places === undefined) return undefined;
  const joint = withJointBindings(question);
  const keys = asked.map(keyOf);
  const partOf = (one: Asked): number => keys.indexOf(keyOf(one));
  const events = asked.map((one, part) => eventsSql(joint, one, part));
  if (events.some((sql) => sql === undefined)) return undefined;
  const cells = users.map((one) => ({ ...one, part: partOf(one) }));
  const ofUsers = jointUsersSql(joint, places, cells);
  if (ofUsers === undefined) return undefined;
  const counted = [{ condition: every, countsUsers: true }];
  const leftOut = places.ranges.flatMap((range, index) =>
    leftOutSql({ ...joint, ...range }, counted).map((sql) =>
      leftOutRowsSql(sql, leftOutPart - index),
    ),
  );
  const ofEvents = events.filter((sql) => sql !== undefined && sql !== '').map(String);
  const rest = [...ofEvents, ...leftOut];
  const range = places.ranges.findIndex(({ fromMs }) => fromMs === question.fromMs);
  const maxRows = asked.reduce((sum, { buckets }) => sum + buckets.length, leftOut.length);
  return {
    sql: [ofUsers, ...rest].join(' UNION ALL '),
    joint,
    maxRows,
    parts: own.map(partOf),
    leftOutPart: leftOutPart - range,
  };
}

/** Undefined unless every series counts events of a kind or users, and one of them users. */
function seriesAsked(question: Question): Asked[] | undefined {
  const { spec, breakdowns, everyEvent, asOfMs, fromMs, toMs, buckets } = question;
  const isPlain = spec.session === undefined && breakdowns.length === 0;
  if (!isPlain || refusesOfEvery({ of: everyEvent, asOfMs }) !== undefined) return undefined;
  const counted = spec.events.flatMap((series) => countedBy(series) ?? []);
  const users = counted.filter((of) => of === 'users');
  if (counted.length < spec.events.length || users.length !== 1) return undefined;
  return counted.map((of) => ({ of, fromMs, toMs, buckets }));
}

/** Undefined where the tables of sums do not tell. */
function countedBy({ event, aggregation }: EventQuery): Asked['of'] | undefined {
  const { kind = '', filters = [] } = event ?? {};
  if (filters.length > 0) return undefined;
  switch (aggregation) {
    case AggregationType.UNSPECIFIED:
    case AggregationType.TOTAL:
      return { kind };
    case AggregationType.UNIQUE_USERS:
      return kind === '' ? 'users' : undefined;
    case AggregationType.PER_USER_AVG:
    case AggregationType.SUM:
    case AggregationType.AVG:
    case AggregationType.MIN:
    case AggregationType.MAX:
      return undefined;
    default:
      // A number that is no aggregation is refused when it is planned.
      aggregation satisfies never;
      return undefined;
  }
}

/** Empty for users; undefined where the table cannot tell. */
function eventsSql(joint: Question, { of, ...time }: Asked, part: number): string | undefined {
  if (of === 'users') return '';
  const asked = { ...joint, ...time };
  const { kind } = of;
  const condition =
    kind === '' ? every : eventCondition(create(EventFilterSchema, { kind }), 'kind', asked);
  const counted = countedEvents(asked, condition, time.buckets, 'events');
  return counted && countRowsSql(part, counted);
}

function keyOf({ of, fromMs, toMs, buckets }: Asked): string {
  return JSON.stringify([of, fromMs, toMs, buckets]);
}
