// TOP_K by user and number of events where the range's days are held in memory: the statement reads the other events,
// and who was merged or deleted.

import { keyBytesSql } from '../../identity/identity-sql.ts';
import type { EventCondition } from '../events/event-condition.ts';
import { deletedSql, mergedIdsSql } from '../events/persons.ts';
import type { HeldRange } from '../held/held-range.ts';
import { bytesSql, packPairsSql, packSql, readWords } from '../held/packed-words.ts';
import type { MostEvents } from '../held/profile-sums.ts';
import { daysNotKept } from '../kept/day-cells.ts';
import type { Question } from '../question/question.ts';
import { profileEventsSql } from '../users/activity.ts';

/** Of the rows: pairs of a profile's key and its events; of an id's key and its root's; keys of deleted persons. */
const eventsPart = -2;
const mergedPart = -3;
const deletedPart = -4;

/**
 * SELECTs of (part, name), one row each; undefined where held days do not answer the question: they know no cookieless
 * visitors.
 */
export function heldTopUsersSql(
  question: Question,
  condition: EventCondition,
): string[] | undefined {
  const { project, spec, hasDeletions } = question;
  if (spec.includeCookieless) return undefined;
  const events = profileEventsSql(question, condition, daysNotKept);
  if (events === undefined) return undefined;
  const sums = `(SELECT profile_key, sum(events) AS sum FROM (${events}) WHERE NOT cookieless GROUP BY profile_key)`;
  const [key, root] = [keyBytesSql('profile_id'), keyBytesSql('root_id')];
  const packed = [
    {
      part: eventsPart,
      sql: `${packPairsSql(bytesSql('profile_key'), bytesSql('sum'))} AS name FROM ${sums}`,
    },
    { part: mergedPart, sql: `${packPairsSql(key, root)} AS name ${mergedIdsSql(project)}` },
    ...(hasDeletions
      ? [{ part: deletedPart, sql: `${packSql(key)} AS name FROM ${deletedSql(project)}` }]
      : []),
  ];
  return packed.map(({ part, sql }) => `SELECT ${part} AS part, ${sql}`);
}

/** `texts` are the names of heldTopUsersSql's rows, by their parts. */
export function heldTopUsers(
  texts: ReadonlyMap<number, string>,
  held: HeldRange,
  limit: number,
): Promise<MostEvents> {
  const textOf = (part: number): string => texts.get(part) ?? '';
  const identities = { merged: textOf(mergedPart), deleted: textOf(deletedPart) };
  return held.most(identities, readWords(textOf(eventsPart)), limit);
}
