// SQL that counts the events that a question selected and its result leaves out.

import { LeftOut_Reason } from '../../proto/gen/shared/insights/v1/insights_pb.js';
import { countedEvents } from './events/counted-kinds.ts';
import type { EventCondition } from './events/event-condition.ts';
import { gonePersonsSql } from './events/persons.ts';
import { type EventRead, readEventsSql } from './events/read-events.ts';
import type { Question } from './question/question.ts';

/** An event, series or step of the question. */
export interface Counted {
  condition: EventCondition;
  /** Its result counts users. */
  countsUsers: boolean;
  /** SQL for how often an event counts, where it may be more than once. */
  times?: string;
}

/** SELECTs of (reason, left_out), one for each reason of each part. */
export function leftOutSql(question: Question, parts: readonly Counted[]): string[] {
  return parts.flatMap((part) => [
    ...(part.countsUsers && !question.spec.includeCookieless
      ? [`SELECT ${LeftOut_Reason.COOKIELESS_EVENTS} AS reason, ${cookielessSql(question, part)}`]
      : []),
    ...(part.countsUsers && question.hasDeletions
      ? [`SELECT ${LeftOut_Reason.DELETED_PROFILES} AS reason, ${deletedSql(question, part)}`]
      : []),
    ...(question.asOfMs === undefined
      ? []
      : [`SELECT ${LeftOut_Reason.RECEIVED_LATER} AS reason, ${laterSql(question, part)}`]),
  ]);
}

function cookielessSql(question: Question, part: Counted): string {
  const { condition, times } = part;
  const counted =
    times === undefined
      ? countedEvents(question, condition, [question.fromMs], 'cookieless_events')
      : undefined;
  if (counted !== undefined) return `sum(${counted.events}) AS left_out FROM ${counted.from}`;
  return countSql(question, part, { condition: narrowed(condition, 'cookieless') });
}

function deletedSql(question: Question, part: Counted): string {
  const gone = `NOT cookieless AND profile_key IN ${gonePersonsSql(question.project)}`;
  return countSql(question, part, { condition: narrowed(part.condition, gone) });
}

function laterSql(question: Question, part: Counted): string {
  return countSql(question, part, { condition: part.condition, receivedLater: true });
}

function countSql(question: Question, { times }: Counted, read: EventRead): string {
  if (times === undefined) return `count() AS left_out FROM (${readEventsSql(question, read)})`;
  const events = readEventsSql(question, { ...read, columns: { times } });
  return `sum(times) AS left_out FROM (${events})`;
}

function narrowed({ sql, usesUser }: EventCondition, more: string): EventCondition {
  return { sql: `(${sql} AND ${more})`, usesUser, kind: 'filtered' };
}

/** Every reason that a statement may answer. */
const reasons = [
  LeftOut_Reason.COOKIELESS_EVENTS,
  LeftOut_Reason.DELETED_PROFILES,
  LeftOut_Reason.RECEIVED_LATER,
] as const;

/** Of one part. */
export const maxReasons = reasons.length;

/** The reason of a row of leftOutSql. */
export function readReason(value: unknown): LeftOut_Reason {
  const reason = reasons.find((known) => known === Number(value));
  if (reason === undefined) throw new Error('a statement answered no known reason');
  return reason;
}
