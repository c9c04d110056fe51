// SQL for when each profile's first event of any kind occurred.

import { profileKeySql } from '../../identity/identity-sql.ts';
import { every } from '../read/event-condition.ts';
import type { Question } from '../read/question.ts';
import { mergedKeysSql } from '../sql/persons.ts';
import { momentSql, readEventsSql, senderColumns } from '../sql/read-events.ts';
import { sourceOf } from './ladder.ts';

/**
 * SELECT of profile_key, cookieless and occur_time; the least of a user's rows is the first event, if that lies between
 * `fromMs` and the range's end. Most profiles without an event since `fromMs` have no row.
 */
export function firstEventsSql(question: Question, fromMs: number): string {
  const { project, bindings } = question;
  const ofAll = { ...question, everyEvent: every };
  const source = sourceOf(ofAll, { count: 'first events', of: every });
  if (source !== 'profile_listing') return rawSql(ofAll);
  const from = momentSql(fromMs, bindings);
  question.notes.reads.push({ fromMs: 0, toMs: question.toMs });
  const key = profileKeySql('profile_id');
  // Until its parts are merged, the table has a row of a profile for each time that it came: one that begins late does
  // not tell who is new.
  const cameSince = `(SELECT ${key} FROM profile_listing WHERE project_id = ${project} AND first_seen >= ${from})`;
  return `SELECT ${key} AS profile_key, false AS cookieless, first_seen AS occur_time
    FROM profile_listing
    WHERE project_id = ${project} AND (profile_key IN ${cameSince} OR profile_key IN ${mergedKeysSql(project)})`;
}

function rawSql(question: Question): string {
  const events = readEventsSql(question, {
    ...{ condition: every, fromMs: 0 },
    columns: senderColumns,
  });
  return `SELECT sender_key AS profile_key, is_cookieless AS cookieless, occur_time FROM (${events})`;
}
