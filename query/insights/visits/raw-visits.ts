// SELECT of visits from the rows of events.

import { every } from '../events/event-condition.ts';
import { personJoinSql, userKeySql } from '../events/persons.ts';
import { propertyTextSql } from '../events/property-text.ts';
import { eventOrderSql, groupColumn, readEventsSql, withTrait } from '../events/read-events.ts';
import { type Question, traitPrefix } from '../question/question.ts';
import type { VisitRead } from './visit.ts';
import type { VisitDays } from './visit-days.ts';

/**
 * A row for each visit that counts: occur_time, the moment of its first event, last_time, events, views, and the
 * columns of the breakdowns.
 */
export function rawVisitsSql(question: Question, read: VisitRead, days: VisitDays): string {
  const ofEdge = edgeColumns(question, read);
  const events = readEventsSql(
    { ...question, everyEvent: every },
    {
      ...days.events,
      columns: {
        session_id: 'session_id',
        day: 'toDate(occur_time)',
        is_view: "kind = 'page_view'",
        counts: read.someEvent.sql,
        ...Object.fromEntries(ofEdge),
      },
      withUser: read.someEvent.usesUser || read.edgeEvent.usesUser,
    },
  );
  const names = ofEdge.map(([name]) => name);
  const pick = read.edge === 'first' ? 'argMin' : 'argMax';
  const edge = names.length === 0 ? '' : `, ${pick}(tuple(${names.join(', ')}), ${eventOrderSql})`;
  const ofDay = read.edge === 'first' ? 'own.7' : 'if(goes_on, next.7, own.7)';
  const ofVisit = names.length === 0 ? '' : `, ${ofDay} AS edge`;
  const ofDays = `SELECT session_id, (day, min(event.occur_time), max(event.occur_time), count(), countIf(is_view), max(counts)${edge}) AS one
    FROM (${events}) AS event GROUP BY session_id, day`;
  // Beside the first and the last of the array is a day of 1970, which has no events.
  const neighbors = `SELECT own, next, own.1 + 1 = next.1 AS goes_on
    FROM (SELECT arraySort(one -> one.1, groupArray(one)) AS days FROM (${ofDays}) GROUP BY session_id)
    ARRAY JOIN days AS own, arrayShiftRight(days, 1) AS before, arrayShiftLeft(days, 1) AS next WHERE before.1 + 1 != own.1`;
  const visits = `SELECT own.2 AS occur_time, if(goes_on, next.3, own.3) AS last_time, own.4 + goes_on * next.4 AS events,
      own.5 + goes_on * next.5 AS views, own.6 OR goes_on AND next.6 AS counts${ofVisit}
    FROM (${neighbors})`;
  const edgeParts = names.map((name, index) => `, edge.${index + 1} AS ${name}`).join('');
  const counted = `SELECT occur_time, last_time, events, views${edgeParts} FROM (${visits})
    WHERE ${days.begins('occur_time')} AND counts
      ${names.includes(matches) ? `AND ${matches}` : ''}`;
  return withTraits(question, counted);
}

const matches = 'edge_matches';

/** What is read of a visit's first or last event, by name. */
function edgeColumns(
  { breakdowns, bindings, typesOf }: Question,
  { edgeEvent }: VisitRead,
): [string, string][] {
  const columns: [string, string][] = edgeEvent.kind === 'every' ? [] : [[matches, edgeEvent.sql]];
  for (const [index, property] of breakdowns.entries()) {
    if (!property.startsWith(traitPrefix)) {
      columns.push([groupColumn(index), propertyTextSql(property, bindings, typesOf(property))]);
    }
  }
  if (breakdowns.some((property) => property.startsWith(traitPrefix))) {
    columns.push(['sender_key', 'profile_key'], ['sender_is_cookieless', 'cookieless']);
  }
  return columns;
}

/** Adds the columns of traits. The person is looked up for each visit, not for each event. */
function withTraits(question: Question, visits: string): string {
  const traits = question.breakdowns.flatMap((property, index) =>
    property.startsWith(traitPrefix) ? [{ trait: property.slice(traitPrefix.length), index }] : [],
  );
  if (traits.length === 0) return visits;
  const senders = `SELECT *, sender_key AS profile_key, sender_is_cookieless AS cookieless FROM (${visits})`;
  const persons = `SELECT *, ${userKeySql(question, false)} AS user_key FROM (${senders}) AS visit ${personJoinSql(question.project)}`;
  return traits.reduce((sql, { trait, index }) => withTrait(question, sql, trait, index), persons);
}
