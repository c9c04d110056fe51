// Visits from the rows of events.

import { kindsSql } from '../../../filters/event-kinds.ts';
import { every } from '../../read/event-condition.ts';
import type { Question } from '../../read/question.ts';
import { personJoinSql, userKeySql } from '../../sql/persons.ts';
import {
  asksPersons,
  eventOrderSql,
  groupColumns,
  propertyColumns,
  readEventsSql,
  withPersonGroups,
} from '../../sql/read-events.ts';
import { isBounceSql, isPassiveSql, type VisitRead } from './visit.ts';
import { daysAround, type VisitDays } from './visit-days.ts';

/** SELECT of the cells. */
export function rawCellsSql(question: Question, read: VisitRead, days: VisitDays): string {
  const by = [...groupColumns(question.breakdowns.length), 'bucket'].join(', ');
  return `SELECT ${by}, toInt64(count()) AS visits,
      sum(toUnixTimestamp64Milli(last_time) - toUnixTimestamp64Milli(occur_time)) AS duration_ms,
      toInt64(countIf(visit.is_bounce)) AS bounces, toInt64(sum(visit.events)) AS events
    FROM (SELECT *, ${days.bucket} AS bucket FROM (${rawVisitsSql(question, read, days)})) AS visit GROUP BY ${by}`;
}

/**
 * A row for each visit that counts: occur_time, the moment of its first event, last_time, events, is_bounce, and the
 * columns of the breakdowns.
 */
function rawVisitsSql(question: Question, read: VisitRead, days: VisitDays): string {
  const ofEdge = edgeColumns(question, read);
  const isEdge = kindsSql({ kind: '', kinds: [...read.edgeKinds] }, question.bindings) ?? 'true';
  const events = readEventsSql(
    { ...question, everyEvent: every },
    {
      ...days.events,
      columns: {
        session_id: 'session_id',
        day: 'toDate(occur_time)',
        is_view: "kind = 'page_view'",
        is_passive: isPassiveSql,
        counts: read.someEvent.sql,
        is_edge: isEdge,
        ...ofEdge,
      },
      withUser: read.someEvent.usesUser || read.edgeEvent.usesUser,
    },
  );
  const names = Object.keys(ofEdge);
  const pick = read.edge === 'first' ? 'argMin' : 'argMax';
  const edge =
    names.length === 0
      ? ''
      : `, ${pick}If(tuple(${names.join(', ')}), ${eventOrderSql}, is_edge) AS edge`;
  const several = `session_id IN (${severalDaysSql(question, days)})`;
  const visits = `SELECT session_id, min(event.occur_time) AS first_time, max(event.occur_time) AS last_time,
      count() AS events, ${isBounceSql('count()', 'countIf(is_view)', 'countIf(is_passive)')} AS is_bounce, max(counts) AS counts${edge}
    FROM (${events}) AS event ${daysAround.join(several)} GROUP BY ${daysAround.by}
    HAVING ${daysAround.isVisit} AND ${days.begins('first_time')} AND counts AND max(is_edge)`;
  const edgeParts = names.map((name, index) => `, edge.${index + 1} AS ${name}`).join('');
  const counted = `SELECT first_time AS occur_time, last_time, events, is_bounce${edgeParts} FROM (${visits})
    ${names.includes(matches) ? `WHERE ${matches}` : ''}`;
  return withPersons(question, counted);
}

const matches = 'edge_matches';

/** SELECT of the sessions that have events on several days: few. */
function severalDaysSql(question: Question, days: VisitDays): string {
  const columns = { session_id: 'session_id' };
  const events = readEventsSql({ ...question, everyEvent: every }, { ...days.events, columns });
  return `SELECT session_id FROM (${events}) GROUP BY session_id HAVING toDate(min(occur_time)) != toDate(max(occur_time))`;
}

/** What is read of a visit's first or last event, by name. */
function edgeColumns(question: Question, { edgeEvent }: VisitRead): Record<string, string> {
  const { breakdowns } = question;
  return {
    ...(edgeEvent.kind !== 'every' && { [matches]: edgeEvent.sql }),
    ...propertyColumns(question, breakdowns),
    ...(asksPersons(breakdowns) && {
      ...{ sender_key: 'profile_key', sender_is_cookieless: 'cookieless' },
    }),
  };
}

/** The person is looked up for each visit, not for each event. */
function withPersons(question: Question, visits: string): string {
  const { breakdowns } = question;
  if (!asksPersons(breakdowns)) return visits;
  const senders = `SELECT *, sender_key AS profile_key, sender_is_cookieless AS cookieless FROM (${visits})`;
  const persons = `SELECT *, ${userKeySql(question, false)} AS user_key FROM (${senders}) AS visit ${personJoinSql(question.project)}`;
  return withPersonGroups(question, breakdowns, persons);
}
