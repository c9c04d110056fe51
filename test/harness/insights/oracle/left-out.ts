// The events that a question selects and its result does not count, with the reason.

import { dayMs } from '../../../../platform/clock.ts';
import type { EventFilter } from '../questions/event-filter.ts';
import type { Question } from '../questions/question.ts';
import type { LeftOut } from './part.ts';
import { matches, numberOf } from './statement/conditions.ts';
import { isInRange, rangeMs } from './statement/selection.ts';
import { isPersonBased } from './statement/values.ts';
import type { Tables } from './tables.ts';

/** SQL: the event may tell of one of the range's visits: it lies in the UTC days of the range or beside them. */
function isNearRange(question: Question): string {
  const { from, to } = rangeMs(question);
  const [first, last] = [Math.floor(from / dayMs), Math.floor((to - 1) / dayMs)];
  return `(ts >= ${(first - 1) * dayMs} AND ts < ${(last + 2) * dayMs})`;
}

interface Asked {
  event: EventFilter | undefined;
  needsUser: boolean;
  /** Only events with a number in this property. */
  hasNumber?: string;
}

/** The events that a question asks for, and whether the result counts users. */
function asked(question: Question): Asked[] {
  const { topK, userFlow, flow, events = [] } = question;
  switch (question.type) {
    case 'TOP_K':
      return [
        {
          event: topK?.scope,
          needsUser: topK?.dimension === 'USER' || isPersonBased(topK?.metric),
        },
      ];
    case 'USER_FLOW':
      return [userFlow?.scope, ...[flow?.from, flow?.to].filter((end) => end !== undefined)].map(
        (event) => ({ event, needsUser: userFlow?.groupBy === 'USER' }),
      );
    case 'TRENDS':
    case 'SEGMENTATION':
      return events.map(({ event, aggregation }) => ({
        event,
        needsUser: isPersonBased(aggregation),
      }));
    case 'REVENUE':
      return events.flatMap(({ event = {}, revenue, aggregationProperty: property = 'amount' }) => {
        const needsUser = revenue === 'PER_USER' || revenue === 'PER_PAYING_USER';
        const ofNumber = { event, needsUser, hasNumber: property };
        return [ofNumber, ...(revenue === 'PER_USER' ? [{ event: {}, needsUser }] : [])];
      });
    case 'FUNNEL':
    case 'RETENTION':
    case 'LIFECYCLE':
    case 'STICKINESS':
      return events.map(({ event }) => ({ event, needsUser: true }));
    default: {
      const unknown: never = question.type;
      throw new Error(`no such question: ${String(unknown)}`);
    }
  }
}

export async function leftOut(tables: Tables, question: Question): Promise<LeftOut> {
  const isLater = question.asOfMs === undefined ? 'false' : `received > ${question.asOfMs}`;
  if (question.session !== undefined) {
    const [row] = await tables.rows(`SELECT count(*) AS later FROM events
      WHERE ${isNearRange(question)} AND ${isLater}`);
    return { RECEIVED_LATER: Number(row?.['later'] ?? 0) };
  }
  const all = asked(question);
  const condition = ({ event, hasNumber }: Asked): string => {
    const ofNumber = hasNumber === undefined ? 'true' : `${numberOf(hasNumber)} IS NOT NULL`;
    return `(${matches(question, event)} AND ${ofNumber})`;
  };
  const anyOf = (of: typeof all): string => `(${['false', ...of.map(condition)].join(' OR ')})`;
  const ofUsers = anyOf(all.filter(({ needsUser }) => needsUser));
  const [row] =
    await tables.rows(`SELECT count(*) FILTER (WHERE ${isLater} AND ${anyOf(all)}) AS later,
    count(*) FILTER (WHERE NOT ${isLater} AND cookieless AND ${ofUsers}) AS cookieless,
    count(*) FILTER (WHERE NOT ${isLater} AND deleted AND ${ofUsers}) AS deleted
    FROM events WHERE ${isInRange(question)}`);
  return {
    RECEIVED_LATER: Number(row?.['later'] ?? 0),
    COOKIELESS_EVENTS: question.includeCookieless ? 0 : Number(row?.['cookieless'] ?? 0),
    DELETED_PROFILES: Number(row?.['deleted'] ?? 0),
  };
}
