// SQL for who is in a segment. Each test of its condition is a set of persons' keys, read from the same sources as
// questions about users; a person is in the segment by which of these sets has their key.

import { timestampMs } from '@bufbuild/protobuf/wkt';
import { maxQuestionMs } from '../../../platform/limits.ts';
import { dayAt, dayStart } from '../../../platform/zones/wall-clock.ts';
import { LogicalOperator, PropertySource } from '../../../proto/gen/common/v1/filter_pb.js';
import type {
  Behaviour,
  Condition,
  FirstSeen,
  ProfileTest,
} from '../../../proto/gen/dashboard/segments/v1/segments_pb.js';
import { idBytesSql, profileKeySql } from '../../identity/identity-sql.ts';
import {
  type EventCondition,
  eventCondition,
  every,
  type PersonKeys,
  traitKeys,
} from '../read/event-condition.ts';
import type { Range } from '../read/plan-notes.ts';
import type { Question } from '../read/question.ts';
import { activitySql, countedProfilesSql, ofUsersSql } from '../sources/activity.ts';
import { firstEventsSql } from '../sources/first-events.ts';
import { bitColumns } from '../sql/bucket-bits.ts';
import { mergedIdsSql } from '../sql/persons.ts';
import { momentSql } from '../sql/read-events.ts';

/** Holds for rows with user_key and cookieless whose person is in the segment. */
export function memberSql(question: Question, id: string): string {
  const condition = question.conditionOf(id);
  return `(NOT cookieless AND user_key != 0 AND ${conditionSql(question, condition, 'user_key')})`;
}

/** Holds for a person who meets the condition; `key` is SQL for the key of the person. One term. */
export function conditionSql(question: Question, condition: Condition, key: string): string {
  const asked: Question = {
    ...question,
    ...question.asked,
    ...{ everyEvent: every, filterGroups: every },
    spec: { ...question.spec, segments: [], notInSegments: [], includeCookieless: false },
  };
  const groups = condition.groups.map(({ tests, operator, negated }) => {
    const all = tests.map((test) => testSql(asked, test, key));
    return `${negated ? 'NOT ' : ''}${combined(all, operator)}`;
  });
  return combined(groups, condition.operator);
}

function combined(terms: readonly string[], operator: LogicalOperator): string {
  if (terms.length === 0) return 'true';
  return `(${terms.join(operator === LogicalOperator.OR ? ' OR ' : ' AND ')})`;
}

function testSql(question: Question, { test, negated }: ProfileTest, key: string): string {
  const { set, isMetInside } = keysOf(question, test);
  const isIn = isMetInside !== negated;
  return `(${key} ${isIn ? 'IN' : 'NOT IN'} ${set})`;
}

function keysOf(question: Question, test: ProfileTest['test']): PersonKeys {
  switch (test.case) {
    case 'trait':
      return traitKeys({ ...test.value, source: PropertySource.PROFILE }, 'trait', question);
    case 'firstSeen':
      return { set: firstSeenSql(question, test.value), isMetInside: true };
    case 'did':
      return behaviourKeys(question, test.value);
    case 'listed':
      return { set: listedSql(question, test.value.profileIds), isMetInside: true };
    case undefined:
      throw new Error('a test of a segment tests nothing');
    default:
      return test satisfies never;
  }
}

function firstSeenSql(question: Question, { when }: FirstSeen): string {
  const isBefore = when.case === 'before';
  const ms = momentOf(question, when);
  // Who has an event in the range has their first one before its end, unless as_of keeps events of the range back.
  const toMs = question.asOfMs === undefined ? question.toMs : maxQuestionMs;
  const events = firstEventsSql({ ...question, toMs }, isBefore ? 0 : ms);
  const moment = momentSql(ms, question.bindings);
  return `(SELECT user_key FROM (${ofUsersSql(question, events, ['occur_time'])}) GROUP BY user_key
    HAVING min(occur_time) ${isBefore ? '<' : '>='} ${moment})`;
}

/** Finer moments are rounded up, as the ends of a range. */
function momentOf(question: Question, when: FirstSeen['when']): number {
  switch (when.case) {
    case 'before':
    case 'since':
      return timestampMs({ ...when.value, nanos: Math.ceil(when.value.nanos / 1e6) * 1e6 });
    case 'lastDays':
      return daysAgo(question, when.value);
    case undefined:
      throw new Error('a test of a segment names no moment');
    default:
      return when satisfies never;
  }
}

function behaviourKeys(question: Question, { event, times, lastDays }: Behaviour): PersonKeys {
  const condition = eventCondition(event, 'event', question);
  const { fromMs, toMs } = question;
  const range = lastDays === 0 ? { fromMs, toMs } : { fromMs: daysAgo(question, lastDays), toMs };
  const did = (least: number): string => didSql(question, condition, range, least);
  switch (times.case) {
    case 'atLeast':
      return { set: did(times.value), isMetInside: true };
    case 'atMost':
      return { set: did(times.value + 1), isMetInside: false };
    case undefined:
      throw new Error('a test of a segment counts nothing');
    default:
      return times satisfies never;
  }
}

/** A set of the users with at least so many events. */
function didSql(
  question: Question,
  condition: EventCondition,
  range: Range,
  least: number,
): string {
  if (least === 1) {
    const buckets = [range.fromMs];
    const profiles = activitySql(question, { condition, buckets, ranges: [range] });
    return `(SELECT user_key FROM (${ofUsersSql(question, profiles, bitColumns(1))}))`;
  }
  const within = { ...question, ...range };
  const profiles = countedProfilesSql(within, condition);
  return `(SELECT user_key FROM (${ofUsersSql(within, profiles, ['events'])})
    GROUP BY user_key HAVING sum(events) >= ${question.bindings.bind('UInt64', least)})`;
}

/** When so many days of the zone begin that end with the range's last moment, or with today where that comes first. */
function daysAgo({ asked, nowMs = Infinity, timezone }: Question, days: number): number {
  const last = dayAt(timezone, Math.min(asked.toMs - 1, nowMs));
  return Math.max(0, dayStart(timezone, last - days + 1));
}

function listedSql({ project, bindings }: Question, ids: readonly string[]): string {
  const hex = `(SELECT arrayJoin(${bindings.bind('Array(String)', ids)}) AS hex_id)`;
  const listed = `(SELECT ${idBytesSql('hex_id')} AS id FROM ${hex})`;
  return `(SELECT ${profileKeySql('id')} FROM ${listed}
    UNION ALL SELECT ${profileKeySql('root_id')} ${mergedIdsSql(project)} AND profile_id IN ${listed})`;
}
