// The segments of a list as SQL: of events, of profiles, of users. A list has no zone and often no range of its own:
// the zone is its project's, and without a range conditions look at all events.

import type { Clock } from '../../../platform/clock.ts';
import {
  checkSegments,
  isEmpty,
  ownFields,
  type SegmentFields,
  type SegmentFilter,
} from '../../filters/segment-filter.ts';
import { profileKeySql } from '../../identity/identity-sql.ts';
import {
  conditionIn,
  type FindSegment,
  findSegments,
  idsIn,
  type Segments,
} from '../../segments/named-segments.ts';
import { type PlainRead, plainQuestion } from '../read/plain-question.ts';
import type { Question } from '../read/question.ts';
import type { SourceName } from '../sources/ladder.ts';
import { personJoinSql, userKeySql } from '../sql/persons.ts';
import { conditionSql, memberSql } from './membership.ts';

export interface SegmentOptions {
  findSegment: FindSegment;
  /** The time zone of a project's reports. */
  timezoneOf: (projectId: string) => string;
  clock: Clock;
}

/** The segments that a list names, as they are when it is asked. */
export interface ListedSegments {
  segments: Segments;
  /** How they are meant. */
  filter: SegmentFilter;
  timezone: string;
  nowMs: number;
}

export const noSegments: ListedSegments = {
  ...{ segments: new Map(), filter: { segments: [], notInSegments: [] } },
  ...{ timezone: 'UTC', nowMs: 0 },
};

/** Throws invalid_argument that names the field: too many, or one that is not there. */
export async function readListed(
  { findSegment, timezoneOf, clock }: SegmentOptions,
  projectId: string,
  filter: SegmentFilter,
  fields: SegmentFields = ownFields,
): Promise<ListedSegments> {
  checkSegments(filter, fields);
  const segments = await findSegments(findSegment, projectId, idsIn(filter, fields));
  return { segments, filter, timezone: timezoneOf(projectId), nowMs: clock.nowMs() };
}

/** Days are kept of questions alone. */
const sourcesOfLists: readonly SourceName[] = ['profile_days', 'profile_listing'];

/** A question about every event, with the segments as inSegments tells who is in them. */
export function questionOfListed(read: PlainRead, listed: ListedSegments): Question {
  const { segments, filter, timezone, nowMs } = listed;
  const plain = plainQuestion(read);
  const named = { segments: [...filter.segments], notInSegments: [...filter.notInSegments] };
  const question: Question = {
    ...{ ...plain, spec: { ...plain.spec, ...named } },
    ...{ timezone, nowMs, conditionOf: conditionIn(segments), sources: sourcesOfLists },
    memberSql: (id) => memberSql(question, id),
  };
  return question;
}

/**
 * SQL that holds for profiles in all of the segments, and in none that are excluded; `key` is SQL of their keys. 'true'
 * where none is named.
 */
export function profilesListedSql(read: PlainRead, listed: ListedSegments, key: string): string {
  const question = questionOfListed(read, listed);
  const { segments, notInSegments } = listed.filter;
  const isIn = (id: string): string => conditionSql(question, question.conditionOf(id), key);
  const all = [
    ...[...new Set(segments)].map(isIn),
    ...[...new Set(notInSegments)].map((id) => `NOT ${isIn(id)}`),
  ];
  return all.length === 0 ? 'true' : `(${all.join(' AND ')})`;
}

/**
 * SQL over columns of `events` that hold for events of such persons, none where no segment is named. Who has no profile
 * is in no segment. Merges are looked up for each id and not for each event: a page reads few of the events that it
 * looks through.
 */
export function eventsListedSql(read: PlainRead, listed: ListedSegments): string[] {
  const { segments, notInSegments } = listed.filter;
  if (isEmpty(listed.filter)) return [];
  const question = questionOfListed(read, listed);
  const ids = `SELECT DISTINCT ${profileKeySql('profile_id')} AS profile_key, false AS cookieless
    FROM profile_listing WHERE project_id = ${question.project}`;
  const persons = `SELECT profile_key, cookieless, ${userKeySql(question, false)} AS user_key
    FROM (${ids}) AS sender ${personJoinSql(question.project)}`;
  const members = (of: readonly string[], operator: 'AND' | 'OR'): string => {
    const each = [...new Set(of)].map((id) => question.memberSql(id)).join(` ${operator} `);
    return `(SELECT profile_key FROM (${persons}) WHERE ${each})`;
  };
  return [
    ...(segments.length > 0
      ? ['NOT cookieless', `profile_key IN ${members(segments, 'AND')}`]
      : []),
    ...(notInSegments.length > 0
      ? [`(cookieless OR profile_key NOT IN ${members(notInSegments, 'OR')})`]
      : []),
  ];
}
