// LIFECYCLE: users who are new, returning, resurrecting or dormant, bucket by bucket. The statement counts those who
// were active, those who were in the bucket before, too, and those who are new; the others are what is left of these.

import { create } from '@bufbuild/protobuf';
import { timestampFromMs } from '@bufbuild/protobuf/wkt';
import {
  LifecycleResultSchema,
  LifecycleState,
} from '../../../../proto/gen/shared/insights/v1/insights_pb.js';
import { type EventCondition, onlyEvent } from '../../read/event-condition.ts';
import { incompleteFrom } from '../../read/incomplete.ts';
import type { Question } from '../../read/question.ts';
import { bucketStart } from '../../read/time-buckets.ts';
import { type Activity, activitySql, ofUsersSql, streamsSql } from '../../sources/activity.ts';
import { firstEventsSql } from '../../sources/first-events.ts';
import {
  allBits,
  bitCellsSql,
  bitColumns,
  bitsOfPlace,
  placesOfPart,
} from '../../sql/bucket-bits.ts';
import { bucketPlaceSql } from '../../sql/bucket-place.ts';
import { rankedUsersSql } from '../../sql/ranked-groups.ts';
import { groupColumns } from '../../sql/read-events.ts';
import { checkPoints, type Group, planUsers } from '../grouped-rows.ts';
import type { Plan } from '../plan.ts';
import { groupedUsersSql } from './grouped-users.ts';

/** The parts of the cells: what users are in a bucket; in one cell, all users. */
const [active, activeTwice, born, members] = [0, 1, 2, 3];

/** Throws invalid_argument. */
export function planLifecycle(question: Question): Plan {
  const condition = onlyEvent(question.spec.events, question);
  const { buckets, breakdowns } = question;
  checkPoints(question, 4 * buckets.length);
  return planUsers(question, {
    ranked: rankedStatesSql(question, condition),
    conditions: [condition],
    resultOf: (groups, untilMs) => {
      const incomplete = incompleteFrom(question, untilMs);
      const shown = (of: readonly Group[]) => ({ ...resultOf(buckets, of), ...incomplete });
      const series = groups.map((group) => ({
        ...{ breakdown: group.breakdown, isOthers: group.isOthers, ...shown([group]) },
      }));
      const value = { ...shown(groups), series: breakdowns.length === 0 ? [] : series };
      return { case: 'lifecycle', value: create(LifecycleResultSchema, value) };
    },
  });
}

/** The cells of the users who are in a state in the bucket at a place from 0, and of those who are not. */
export function cellsOfState(state: LifecycleState, place: number) {
  const cell = (part: number, at: number): number => part * placesOfPart + at + 1;
  switch (state) {
    case LifecycleState.NEW:
      return { cells: [cell(born, place)], without: [] };
    case LifecycleState.RETURNING:
      return { cells: [cell(activeTwice, place)], without: [] };
    case LifecycleState.RESURRECTING:
      return {
        cells: [cell(active, place)],
        without: [cell(activeTwice, place), cell(born, place)],
      };
    case LifecycleState.DORMANT:
      return { cells: [cell(active, place - 1)], without: [cell(activeTwice, place)] };
    case LifecycleState.UNSPECIFIED:
      return undefined;
    default:
      return state satisfies never;
  }
}

/** The place 0 is the bucket before the first one. */
function activityOf(question: Question, condition: EventCondition): Activity {
  const { fromMs, toMs } = question;
  const { firstMs, beforeMs } = bucketBefore(question);
  const buckets = [beforeMs, ...question.buckets];
  const ranges = [
    { fromMs: beforeMs, toMs: firstMs },
    { fromMs, toMs },
  ];
  return { condition, buckets, ranges };
}

/** A user belongs to the groups of their first event in the ranges that are looked at. */
function rankedStatesSql(question: Question, condition: EventCondition): string {
  const activity = activityOf(question, condition);
  const names = groupColumns(question.breakdowns.length);
  const { bits, parts } = statesSql(usersSql(question, activity, names), activity, names);
  const all = `[toUInt32(${members * placesOfPart})]`;
  const cells = `SELECT ${[...names, 'toInt64(cell) AS bucket'].join(', ')}
    FROM (${bits}) ARRAY JOIN arrayConcat(${all}, ${bitCellsSql(parts)}) AS cell`;
  const weight = `countIf(bucket = ${members * placesOfPart})`;
  return rankedUsersSql(question, cells, { b: 'toFloat64(0)', weight });
}

/** `users` is a SELECT of `names`, bitColumns and bornColumn; `bits` adds the bits whose place before is set. */
function statesSql(users: string, { buckets }: Activity, names: readonly string[]) {
  const words = bitColumns(buckets.length);
  const twice = words.map(
    (column, word) => `${twiceSql(column, words[word - 1])} AS ${twiceColumn(word)}`,
  );
  const bornBits = words.map((_, word) => bornColumn(word));
  return {
    bits: `SELECT ${[...names, ...words, ...bornBits, ...twice].join(', ')} FROM (${users})`,
    parts: [
      { part: active, words },
      { part: activeTwice, words: words.map((_, word) => twiceColumn(word)) },
      { part: born, words: bornBits },
    ],
  };
}

/** When the bucket before the first one begins, and when it ends. */
function bucketBefore(question: Question) {
  const { granularity, buckets, fromMs } = question;
  const firstMs = buckets[0] ?? fromMs;
  return { firstMs, beforeMs: bucketStart(granularity, question, firstMs - 1) };
}

/**
 * SELECT of `names`, bitColumns and bornColumn, in which only bits of buckets in the range count. Who has no birth
 * began before: the place 0 says the same.
 */
function usersSql(question: Question, activity: Activity, names: readonly string[]): string {
  const words = bitColumns(activity.buckets.length);
  const columns = `${[...names, ...words].join(', ')}, ${bornBitsSql(activity)}`;
  if (names.length === 0) {
    // Put together by one GROUP BY, which goes to the disk where it is large, as the births of a join never do.
    const profiles = `SELECT profile_key, cookieless, ${words.join(', ')}, toUInt16(${unborn}) AS born
        FROM (${activitySql(question, activity)})
      UNION ALL
      SELECT profile_key, cookieless, ${words.map(() => 'toUInt64(0)').join(', ')}, born FROM (${birthsSql(question, activity)})`;
    return `SELECT ${columns} FROM (
      SELECT ${allBits(words)}, min(born) AS born FROM (${ofUsersSql(question, profiles, [...words, 'born'])})
      GROUP BY user_key HAVING ${words.map((column) => `${column} != 0`).join(' OR ')} ${streamsSql(profiles)})`;
  }
  const users = groupedUsersSql(question, activity);
  if (!asksBirths(question)) {
    return `SELECT ${columns} FROM (SELECT *, toUInt16(${unborn}) AS born FROM (${users}))`;
  }
  const births = ofUsersSql(question, birthsSql(question, activity), ['born']);
  return `SELECT ${columns} FROM (${users}) AS active
    LEFT ANY JOIN (SELECT user_key, min(born) AS born FROM (${births}) GROUP BY user_key) AS births USING (user_key)`;
}

/** Behind a number of some states nobody's birth counts. */
function asksBirths({ behind }: Question): boolean {
  if (behind === undefined) return true;
  const cells = [...behind.cells, ...behind.without];
  return cells.some((cell) => Math.floor(cell / placesOfPart) === born);
}

/** SELECT of profile_key, cookieless and the place of a first event's bucket; 0 for all before the first one. */
function birthsSql(question: Question, { buckets }: Activity): string {
  const firstMs = buckets[1] ?? question.fromMs;
  const place = `if(occur_time < fromUnixTimestamp64Milli(${question.bindings.bind('Int64', firstMs)}, 'UTC'),
    toUInt16(0), ${bucketPlaceSql(question, buckets)})`;
  return `SELECT profile_key, cookieless, ${place} AS born FROM (${firstEventsSql(question, firstMs)})`;
}

function bornBitsSql({ buckets }: Activity): string {
  const words = bitColumns(buckets.length);
  return bitsOfPlace(buckets.length, 'born')
    .map(
      (bit, word) =>
        `if(born < ${buckets.length}, bitAnd(${words[word]}, ${bit}), toUInt64(0)) AS ${bornColumn(word)}`,
    )
    .join(', ');
}

/** The place of nobody's bucket. */
const unborn = 65_535;

const bornColumn = (word: number): string => `born_${word}`;
const twiceColumn = (word: number): string => `twice_${word}`;

/** The bits whose place before is set, too. */
function twiceSql(word: string, wordBefore: string | undefined): string {
  const carried = wordBefore === undefined ? '' : ` + bitShiftRight(${wordBefore}, 63)`;
  return `bitAnd(${word}, bitShiftLeft(${word}, 1)${carried})`;
}

function resultOf(buckets: readonly number[], groups: readonly Group[]) {
  const at = (part: number, place: number): number =>
    groups.reduce((sum, { cells }) => sum + (cells.get(part * placesOfPart + place)?.[0] ?? 0), 0);
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
