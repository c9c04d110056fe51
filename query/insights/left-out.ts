// SQL that counts the events that a question selected and its result leaves out.

import { LeftOut_Reason } from '../../proto/gen/shared/insights/v1/insights_pb.js';
import { countedEventsSql } from './events/counted-kinds.ts';
import type { EventCondition } from './events/event-condition.ts';
import { gonePersonsSql } from './events/persons.ts';
import { readEventsSql } from './events/read-events.ts';
import type { Question } from './question/question.ts';

/** An event, series or step of the question. */
export interface Counted {
  condition: EventCondition;
  /** Its result counts users. */
  countsUsers: boolean;
}

/** SELECTs of (reason, left_out), one for each reason of each part. */
export function leftOutSql(question: Question, parts: readonly Counted[]): string[] {
  return parts.flatMap(({ condition, countsUsers }) => [
    ...(countsUsers && !question.spec.includeCookieless
      ? [
          `SELECT ${LeftOut_Reason.COOKIELESS_EVENTS} AS reason, ${cookielessSql(question, condition)}`,
        ]
      : []),
    ...(countsUsers
      ? [`SELECT ${LeftOut_Reason.DELETED_PROFILES} AS reason, ${deletedSql(question, condition)}`]
      : []),
    ...(question.asOfMs === undefined
      ? []
      : [`SELECT ${LeftOut_Reason.RECEIVED_LATER} AS reason, ${laterSql(question, condition)}`]),
  ]);
}

function cookielessSql(question: Question, condition: EventCondition): string {
  const counted = countedEventsSql(question, condition, [question.fromMs], 'cookieless_events');
  if (counted !== undefined) return `sum(events) AS left_out FROM (${counted})`;
  const cookieless = readEventsSql(question, { condition: narrowed(condition, 'cookieless') });
  return `count() AS left_out FROM (${cookieless})`;
}

function deletedSql(question: Question, condition: EventCondition): string {
  // Where nobody is deleted, the set is empty and nothing is read.
  const gone = `NOT cookieless AND profile_key IN ${gonePersonsSql(question.project)}`;
  const events = readEventsSql(question, { condition: narrowed(condition, gone) });
  return `count() AS left_out FROM (${events})`;
}

function laterSql(question: Question, condition: EventCondition): string {
  return `count() AS left_out FROM (${readEventsSql(question, { condition, receivedLater: true })})`;
}

function narrowed({ sql, usesUser }: EventCondition, more: string): EventCondition {
  return { sql: `(${sql} AND ${more})`, usesUser, kind: 'filtered' };
}
