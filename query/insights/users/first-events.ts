// SQL for when each user's first event of any kind occurred.

import { eventCondition } from '../events/event-condition.ts';
import { readEventsSql } from '../events/read-events.ts';
import type { Question } from '../question/question.ts';

/** SELECT of user_key, never 0, and occur_time; the least of a user's rows is the first event, if before the range's end. */
export function firstEventsSql(question: Question): string {
  const events = readEventsSql(
    { ...question, everyEvent: eventCondition(undefined, '', question) },
    { condition: eventCondition(undefined, '', question), withUser: true, fromMs: 0 },
  );
  return `SELECT user_key, occur_time FROM (${events}) WHERE user_key != 0`;
}
