// SQL of TOP_K by user: the users with the greatest values, and the profile of each one.

import { profileIdSql } from '../../identity/identity-sql.ts';
import { both, type EventCondition } from '../events/event-condition.ts';
import { personJoinSql, userKeySql } from '../events/persons.ts';
import { readEventsSql } from '../events/read-events.ts';
import type { Question } from '../question/question.ts';
import { ofUsersSql, profileEventsSql } from '../users/activity.ts';
import { type Greatest, greatestSql, othersAreTheRest } from './greatest-groups.ts';

/**
 * SELECT of (place, dimension, value, groups, whole, external_id, trait_keys, trait_values), as greatestSql answers
 * them; `dimension` is the profile's id in hex, and the last three are empty for who has no record.
 */
export function topUsersSql(
  question: Question,
  condition: EventCondition,
  greatest: Greatest,
): string {
  const { project } = question;
  // By the bytes of the profile's id, of which user_key has the first ones.
  const groups = `SELECT byteSwap(user_key) AS name, a, b FROM (${usersSql(question, condition, greatest)})`;
  const top = `SELECT groupArray((place, name, value, groups, whole)) FROM (${greatestSql(groups, greatest)})`;
  const asked = 'IN (SELECT byteSwap(arrayJoin(top.2)))';
  // An id with events is in profile_listing; a root without events of its own has a record.
  const stored = `SELECT profile_id FROM profile_listing WHERE project_id = ${project} AND ${keyOf('profile_id')} ${asked}
    UNION DISTINCT SELECT profile_id FROM profiles WHERE project_id = ${project} AND profile_key ${asked}`;
  const records = `SELECT profile_key AS user_key, named, distinct_id, traits FROM profiles FINAL
    WHERE project_id = ${project} AND NOT edge AND profile_id IN (SELECT arrayJoin(stored))`;
  return `WITH (${top}) AS top, (SELECT groupArray(profile_id) FROM (${stored})) AS stored
    SELECT place, lower(hex(id)) AS dimension, value, groups, whole, is_person,
      if(named, distinct_id, '') AS external_id, mapKeys(traits) AS trait_keys, mapValues(traits) AS trait_values
    FROM (
      SELECT one.1 AS place, byteSwap(one.2) AS user_key, one.3 AS value, one.4 AS groups, one.5 AS whole
      FROM (SELECT arrayJoin(top) AS one)) AS users
    LEFT ANY JOIN (
      SELECT id, ${keyOf('id')} AS user_key, is_person FROM (
        SELECT arrayJoin(stored) AS id, true AS is_person UNION ALL ${otherIdsSql(question, condition)}
      )) AS ids USING (user_key)
    LEFT ANY JOIN (${records}) AS records USING (user_key)`;
}

function keyOf(id: string): string {
  return `reinterpretAsUInt64(substring(${id}, 1, 8))`;
}

/** SELECT of (user_key, a, b) for each user. */
function usersSql(question: Question, condition: EventCondition, greatest: Greatest): string {
  const { aggregation } = greatest;
  const { ofEvents, measure } = aggregation;
  const columns =
    aggregation.counts === 'events' && aggregation.number !== undefined
      ? { number: aggregation.number }
      : {};
  const { includeCookieless } = question.spec;
  const sums = othersAreTheRest(greatest) ? profileEventsSql(question, condition) : undefined;
  if (sums !== undefined) {
    return `SELECT user_key, toFloat64(sum(events)) AS a, toFloat64(0) AS b
      FROM (${ofUsersSql(question, sums, ['events'])}) GROUP BY user_key`;
  }
  if (both(question.everyEvent, condition).usesUser) {
    const events = readEventsSql(question, { condition, columns, withUser: true });
    return `SELECT user_key, ${ofEvents.a} AS a, ${ofEvents.b} AS b FROM (${events}) WHERE user_key != 0 GROUP BY user_key`;
  }
  // The merges are looked up for each id, not for each event.
  const sender = { ...columns, profile_key: 'profile_key', is_cookieless: 'cookieless' };
  const events = readEventsSql(question, { condition, columns: sender });
  const parts = `${ofEvents.a} AS a, ${ofEvents.b} AS b FROM (${events})`;
  // One key is grouped faster than two.
  const ids = includeCookieless
    ? `SELECT profile_key, is_cookieless AS cookieless, ${parts} GROUP BY profile_key, is_cookieless`
    : `SELECT profile_key, false AS cookieless, ${parts} WHERE NOT is_cookieless GROUP BY profile_key`;
  return `SELECT user_key, ${measure.combine}(ids.a) AS a, sum(ids.b) AS b FROM (
      SELECT ${userKeySql(question, includeCookieless)} AS user_key, a, b FROM (${ids}) AS sender ${personJoinSql(question.project)}
    ) AS ids WHERE user_key != 0 GROUP BY user_key`;
}

/** The ids of cookieless visitors, whom no table of profiles has, and of profiles whose rows are on their way there. */
function otherIdsSql(question: Question, condition: EventCondition): string {
  const others = `(SELECT arrayJoin(arrayFilter(key -> NOT has(arrayMap(id -> ${keyOf('id')}, stored), key), arrayMap(name -> byteSwap(name), top.2))))`;
  const events = readEventsSql(question, {
    condition: {
      sql: `(${condition.sql} AND profile_key IN ${others})`,
      usesUser: condition.usesUser,
      kind: 'filtered',
    },
    columns: { id: profileIdSql('project_id', 'distinct_id'), is_person: 'NOT cookieless' },
  });
  return `SELECT id, max(is_person) AS is_person FROM (${events}) GROUP BY id`;
}
