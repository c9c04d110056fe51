// SQL that counts the events that a question selected and its result leaves out.

import { LeftOut_Reason } from '../../../proto/gen/shared/insights/v1/insights_pb.js';
import { anyOf, both, type EventCondition, eventsWhere } from '../read/event-condition.ts';
import type { Question } from '../read/question.ts';
import { countedEventsSql } from '../sources/counted-kinds.ts';
import { sourceOf } from '../sources/ladder.ts';
import { gonePersonsSql } from '../sql/persons.ts';
import { type EventRead, readEventsSql } from '../sql/read-events.ts';
import type { LeftOutCount } from './plan.ts';

const { COOKIELESS_EVENTS, DELETED_PROFILES, RECEIVED_LATER } = LeftOut_Reason;

/** An event, series or step of the question. */
export interface Counted {
  condition: EventCondition;
  /** Its result counts users. */
  countsUsers: boolean;
}

/** SELECTs of (reason, left_out), one for each reason. An event that several parts ask for counts once. */
export function leftOutSql(question: Question, parts: readonly Counted[]): string[] {
  if (question.behind !== undefined) return [];
  const { spec, asOfMs } = question;
  const conditionOf = (of: readonly Counted[]): EventCondition =>
    anyOf(of.map(({ condition }) => condition));
  const ofUsers = parts.filter(({ countsUsers }) => countsUsers);
  const selects: string[] = [];
  // Events without a user are of nobody in a segment.
  const hasNobodys = ofUsers.length > 0 && spec.segments.length === 0;
  if (hasNobodys && !spec.includeCookieless) {
    selects.push(cookielessSql(question, conditionOf(ofUsers)));
  }
  if (hasNobodys && question.hasDeletions()) {
    selects.push(deletedSql(question, conditionOf(ofUsers)));
  }
  if (parts.length > 0 && asOfMs !== undefined) {
    const read = { condition: conditionOf(parts), receivedLater: true };
    selects.push(countSql(question, RECEIVED_LATER, read));
  }
  return selects;
}

function cookielessSql(question: Question, condition: EventCondition): string {
  const buckets = [question.fromMs];
  if (sourceOf(question, { count: 'events left out', of: condition, buckets }) === 'event_counts') {
    const counted = countedEventsSql(question, condition, buckets, 'cookieless_events');
    return `SELECT ${COOKIELESS_EVENTS} AS reason, sum(events) AS left_out FROM (${counted})`;
  }
  const read = { condition: both(condition, eventsWhere('cookieless')) };
  return countSql(question, COOKIELESS_EVENTS, read);
}

function deletedSql(question: Question, condition: EventCondition): string {
  const gone = `(NOT cookieless AND profile_key IN ${gonePersonsSql(question.project)})`;
  const read = { condition: both(condition, eventsWhere(gone)) };
  return countSql(question, DELETED_PROFILES, read);
}

function countSql(question: Question, reason: LeftOut_Reason, read: EventRead): string {
  return `SELECT ${reason} AS reason, count() AS left_out FROM (${readEventsSql(question, read)})`;
}

/** The reasons that one statement may answer. */
export const maxReasons = 3;

/** The rows of that part begin with it and the reason, and end with the number. */
export function leftOutOf(rows: readonly unknown[][], part: number): LeftOutCount[] {
  const own = rows.filter(([one]) => Number(one) === part);
  return own.map((row) => ({ reason: Number(row[1]), count: Number(row.at(-1)) }));
}
