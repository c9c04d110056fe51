// Who is in a segment: a condition on the person of an event, from all events that a question may look at.

import { dayMs } from '../../../../../platform/clock.ts';
import type { Question } from '../../questions/question.ts';
import type { ProfileTest, Segment } from '../../segments/segment.ts';
import { condition, meetsScope } from './filters.ts';
import { text } from './literals.ts';
import { rangeMs, receivedInTime } from './selection.ts';

const quarterMs = 900_000;

/** Cookieless visitors and deleted persons are in none. */
export function isInSegment(question: Question, { groups, operator = 'AND' }: Segment): string {
  const held = groups.map(({ tests, operator: inGroup = 'AND', negated = false }) => {
    const all = tests.map((test) => isMet(question, test));
    return `${negated ? 'NOT ' : ''}(${all.join(` ${inGroup} `)})`;
  });
  return `(NOT cookieless AND NOT deleted AND (${held.join(` ${operator} `)}))`;
}

function isMet(question: Question, test: ProfileTest): string {
  return `(${test.negated ? 'NOT ' : ''}${held(question, test)})`;
}

function held(question: Question, { trait, firstSeen, did, listed }: ProfileTest): string {
  if (trait !== undefined) return condition({ ...trait, source: 'PROFILE' });
  if (listed !== undefined) return `person_id IN (${listed.map(text).join(', ')})`;
  const sent = (where: string, having: string): string =>
    `person IN (SELECT person FROM events WHERE ${receivedInTime(question)} AND ${where} GROUP BY person HAVING ${having})`;
  const { from: first, to } = rangeMs(question);
  const from = question.askedFromMs ?? first;
  if (firstSeen !== undefined) {
    if ('beforeMs' in firstSeen) return sent('true', `min(ts) < ${firstSeen.beforeMs}`);
    const since =
      'sinceMs' in firstSeen ? firstSeen.sinceMs : daysAgo(question, firstSeen.lastDays);
    return sent('true', `min(ts) >= ${since}`);
  }
  const { event, atLeast, atMost = 0, lastDays = 0 } = did ?? {};
  const begin = lastDays === 0 ? from : daysAgo(question, lastDays);
  const where = `ts >= ${begin} AND ts < ${to} AND ${meetsScope(event)}`;
  return atLeast === undefined
    ? `NOT ${sent(where, `count(*) > ${atMost}`)}`
    : sent(where, `count(*) >= ${atLeast}`);
}

/** When so many days of the zone begin that end with the range's last moment, or today. */
function daysAgo(question: Question, days: number): string {
  const { timezone = '' } = question;
  const zone = text(timezone === '' ? 'UTC' : timezone);
  const last = Math.min(rangeMs(question).to - 1, Date.now());
  const day = (ts: string | number): string =>
    `CAST(timezone(${zone}, timezone('UTC', epoch_ms(CAST(${ts} AS BIGINT)))) AS DATE)`;
  const first = Math.floor(last / dayMs - days - 2) * dayMs;
  const slots = `SELECT unnest(range(${first}, ${last + 1}, ${quarterMs})) AS slot`;
  return `(SELECT min(slot) FROM (${slots}) WHERE ${day('slot')} >= ${day(last)} - ${days - 1})`;
}
