// SQL for when each user's first event of any kind occurred.

import { profileKeySql } from '../../identity/identity-sql.ts';
import { eventCondition } from '../events/event-condition.ts';
import { personJoinSql, userKeySql } from '../events/persons.ts';
import { readEventsSql } from '../events/read-events.ts';
import type { Question } from '../question/question.ts';

/**
 * SELECT of user_key, never 0, and occur_time; the least of a user's rows is the first event, if that is before the
 * range's end.
 */
export function firstEventsSql(question: Question): string {
  // The table knows neither cookieless visitors nor when an event was received.
  const isRaw = question.asOfMs !== undefined || question.spec.includeCookieless;
  return `SELECT user_key, occur_time FROM (${isRaw ? rawSql(question) : listedSql(question)}) WHERE user_key != 0`;
}

function listedSql({ project }: Question): string {
  return `SELECT ${userKeySql(false)} AS user_key, occur_time FROM (
      SELECT ${profileKeySql('profile_id')} AS profile_key, first_seen AS occur_time, false AS cookieless
      FROM profile_listing WHERE project_id = ${project}
    ) AS listing ${personJoinSql(project)}`;
}

function rawSql(question: Question): string {
  const every = eventCondition(undefined, '', question);
  return readEventsSql(
    { ...question, everyEvent: every },
    { condition: every, withUser: true, fromMs: 0 },
  );
}
