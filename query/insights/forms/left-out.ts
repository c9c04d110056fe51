// SQL that counts the events that a question selected and its result leaves out.

import { LeftOut_Reason } from '../../../proto/gen/shared/insights/v1/insights_pb.js';
import { anyOf, both, type EventCondition, eventsWhere } from '../read/event-condition.ts';
import type { Question } from '../read/question.ts';
import { countedEventsSql } from '../sources/counted-kinds.ts';
import { sourceOf } from '../sources/ladder.ts';
import { gonePersonsSql } from '../sql/persons.ts';
import { type EventRead, readEventsSql } from '../sql/read-events.ts';
import type { LeftOutCount } from './plan.ts';

/** An event, series or step of the question. */
export interface Counted {
  condition: EventCondition;
  /** Its result counts users. */
  countsUsers: boolean;
}

/** SELECTs of (reason, left_out), one for each reason. An event that several parts ask for counts once. */
export function leftOutSql(question: Question, parts: readonly Counted[]): string[] {
  const ofUsers = parts.filter(({ countsUsers }) => countsUsers);
  const sqlOf = (
    reason: LeftOut_Reason,
    of: readonly Counted[],
    write: (question: Question, condition: EventCondition) => string,
  ): string[] => {
    if (of.length === 0) return [];
    const condition = anyOf(of.map((part) => part.condition));
    return [`SELECT ${reason} AS reason, ${write(question, condition)}`];
  };
  return [
    ...(question.spec.includeCookieless
      ? []
      : sqlOf(LeftOut_Reason.COOKIELESS_EVENTS, ofUsers, cookielessSql)),
    ...(ofUsers.length > 0 && question.hasDeletions()
      ? sqlOf(LeftOut_Reason.DELETED_PROFILES, ofUsers, deletedSql)
      : []),
    ...(question.asOfMs === undefined ? [] : sqlOf(LeftOut_Reason.RECEIVED_LATER, parts, laterSql)),
  ];
}

function cookielessSql(question: Question, condition: EventCondition): string {
  const buckets = [question.fromMs];
  if (sourceOf(question, { count: 'events left out', of: condition, buckets }) === 'event_counts') {
    const counted = countedEventsSql(question, condition, buckets, 'cookieless_events');
    return `sum(events) AS left_out FROM (${counted})`;
  }
  return countSql(question, { condition: both(condition, eventsWhere('cookieless')) });
}

function deletedSql(question: Question, condition: EventCondition): string {
  const gone = `(NOT cookieless AND profile_key IN ${gonePersonsSql(question.project)})`;
  return countSql(question, { condition: both(condition, eventsWhere(gone)) });
}

function laterSql(question: Question, condition: EventCondition): string {
  return countSql(question, { condition, receivedLater: true });
}

function countSql(question: Question, read: EventRead): string {
  return `count() AS left_out FROM (${readEventsSql(question, read)})`;
}

/** Every reason that a statement may answer. */
const reasons = [
  LeftOut_Reason.COOKIELESS_EVENTS,
  LeftOut_Reason.DELETED_PROFILES,
  LeftOut_Reason.RECEIVED_LATER,
] as const;

/** Of one statement. */
export const maxReasons = reasons.length;

/** The rows of that part begin with it and the reason, and end with the number. */
export function leftOutOf(rows: readonly unknown[][], part: number): LeftOutCount[] {
  const own = rows.filter(([one]) => Number(one) === part);
  return own.map((row) => ({ reason: readReason(row[1]), count: Number(row.at(-1)) }));
}

function readReason(value: unknown): LeftOut_Reason {
  const reason = reasons.find((known) => known === Number(value));
  if (reason === undefined) throw new Error('a statement answered no known reason');
  return reason;
}
