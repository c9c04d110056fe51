// SQL that counts the events that a question selected and its result leaves out.

import { LeftOut_Reason } from '../../proto/gen/shared/insights/v1/insights_pb.js';
import type { EventCondition } from './events/event-condition.ts';
import { gonePersonsSql } from './events/persons.ts';
import { readEventsSql } from './events/read-events.ts';
import type { Question } from './question/question.ts';

/** An event, series or step of the question. */
export interface Counted {
  condition: EventCondition;
  /** Its result counts users. */
  countsUsers: boolean;
  /** SQL for how often an event counts, where it may be more than once. */
  times?: string;
}

/** SELECTs of (reason, count), one for each reason of each part. */
export function leftOutSql(question: Question, parts: readonly Counted[]): string[] {
  return parts.flatMap(({ condition, countsUsers, times }) => {
    const columns = times === undefined ? {} : { times };
    const counted = times === undefined ? 'count()' : 'sum(times)';
    const selected = (more: string, usesUser = false): EventCondition => ({
      sql: `(${condition.sql} AND ${more})`,
      usesUser: usesUser || condition.usesUser,
      kind: 'filtered',
    });
    const selects: string[] = [];
    const count = (reason: LeftOut_Reason, events: string): void => {
      selects.push(`SELECT ${reason} AS reason, ${counted} AS left_out FROM (${events})`);
    };
    if (countsUsers && !question.spec.includeCookieless) {
      const events = readEventsSql(question, { condition: selected('cookieless'), columns });
      count(LeftOut_Reason.COOKIELESS_EVENTS, events);
    }
    if (countsUsers) {
      // Nothing is read where nobody is deleted.
      const gone = `profile_key IN ${gonePersonsSql(question.project)}`;
      const events = readEventsSql(question, {
        condition: selected(`NOT cookieless AND ${gone}`),
        columns,
      });
      count(LeftOut_Reason.DELETED_PROFILES, events);
    }
    if (question.asOfMs !== undefined) {
      const events = readEventsSql(question, { condition, columns, receivedLater: true });
      count(LeftOut_Reason.RECEIVED_LATER, events);
    }
    return selects;
  });
}

/** Every reason that a statement may answer. */
const reasons = [
  LeftOut_Reason.COOKIELESS_EVENTS,
  LeftOut_Reason.DELETED_PROFILES,
  LeftOut_Reason.RECEIVED_LATER,
] as const;

/** The reason of a row of leftOutSql. */
export function readReason(value: unknown): LeftOut_Reason {
  const reason = reasons.find((known) => known === Number(value));
  if (reason === undefined) throw new Error('a statement answered no known reason');
  return reason;
}
