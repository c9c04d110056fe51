// The segments of a list as SQL: of events, of profiles, of users. A list has no zone and often no range of its own:
// the zone is its project's, and without a range conditions look at all events.

import type { Clock } from '../../../platform/clock.ts';
import { profileKeySql } from '../../identity/identity-sql.ts';
import {
  conditionIn,
  type FindSegment,
  findSegments,
  idsIn,
  type Segments,
} from '../../segments/named-segments.ts';
import { type PlainRead, plainQuestion } from '../read/plain-question.ts';
import { checkSegmentIds, type Question } from '../read/question.ts';
import type { SourceName } from '../sources/ladder.ts';
import { inSegments, personJoinSql, userKeySql } from '../sql/persons.ts';
import { conditionSql, memberSql } from './membership.ts';

export interface SegmentSources {
  findSegment: FindSegment;
  /** The time zone of a project's reports. */
  timezoneOf: (projectId: string) => string;
  clock: Clock;
}

/** The segments that a list names, as they are when it is asked. */
export interface ListedSegments {
  segments: Segments;
  timezone: string;
  nowMs: number;
}

export const noSegments: ListedSegments = { segments: new Map(), timezone: 'UTC', nowMs: 0 };

/** Throws invalid_argument that names the field: too many, or one that is not there. */
export async function readListed(
  { findSegment, timezoneOf, clock }: SegmentSources,
  projectId: string,
  ids: readonly string[],
): Promise<ListedSegments> {
  checkSegmentIds(ids, 'segments');
  const segments = await findSegments(findSegment, projectId, idsIn(ids, 'segments'));
  return { segments, timezone: timezoneOf(projectId), nowMs: clock.nowMs() };
}

/** Days are kept of questions alone. */
const sourcesOfLists: readonly SourceName[] = ['profile_days', 'profile_listing'];

/** A question about every event, with the segments as inSegments tells who is in them. */
export function questionOfListed(read: PlainRead, listed: ListedSegments): Question {
  const { segments, timezone, nowMs } = listed;
  const plain = plainQuestion(read);
  const question: Question = {
    ...{ ...plain, spec: { ...plain.spec, segments: [...segments.keys()] } },
    ...{ timezone, nowMs, conditionOf: conditionIn(segments), sources: sourcesOfLists },
    memberSql: (id) => memberSql(question, id),
  };
  return question;
}

/** SQL that holds for profiles in all of the segments, `key` SQL of their keys; 'true' where none is named. */
export function profilesListedSql(read: PlainRead, listed: ListedSegments, key: string): string {
  const question = questionOfListed(read, listed);
  const all = [...listed.segments.keys()].map((id) =>
    conditionSql(question, question.conditionOf(id), key),
  );
  return all.length === 0 ? 'true' : `(${all.join(' AND ')})`;
}

/**
 * SQL over columns of `events` that hold for events of such profiles, none where no segment is named. Merges are looked
 * up for each id and not for each event: a page reads few of the events that it looks through.
 */
export function eventsListedSql(read: PlainRead, listed: ListedSegments): string[] {
  if (listed.segments.size === 0) return [];
  const question = questionOfListed(read, listed);
  const ids = `SELECT DISTINCT ${profileKeySql('profile_id')} AS profile_key, false AS cookieless
    FROM profile_listing WHERE project_id = ${question.project}`;
  const persons = `SELECT profile_key, cookieless, ${userKeySql(question, false)} AS user_key
    FROM (${ids}) AS sender ${personJoinSql(question.project)}`;
  return [
    'NOT cookieless',
    `profile_key IN (SELECT profile_key FROM (${persons}) WHERE ${inSegments(question).sql})`,
  ];
}
