// Rows of LIFECYCLE and STICKINESS: (part, place, number), and what the answer leaves out.

import { invalidArgument } from '../../../../platform/http/answers/invalid-argument.ts';
import type { LeftOut_Reason } from '../../../../proto/gen/shared/insights/v1/insights_pb.js';
import type { EventCondition } from '../../read/event-condition.ts';
import { eventCondition } from '../../read/event-condition.ts';
import type { Question } from '../../read/question.ts';
import { leftOutSql, readReason } from '../left-out.ts';
import type { LeftOutCount } from '../plan.ts';

const leftOutPart = -1;

/** The question's one event. Throws invalid_argument for another number of events. */
export function onlyEvent(question: Question): EventCondition {
  const { events } = question.spec;
  const [first] = events;
  if (first === undefined || events.length > 1) {
    throw invalidArgument('spec.events', 'must have one entry');
  }
  return eventCondition(first.event, 'spec.events[0].event', question);
}

/** `numbers` is a SELECT of (part, place, number), where no part is negative. */
export function placesPlanSql(
  question: Question,
  condition: EventCondition,
  numbers: string,
): string {
  const rows = `SELECT toInt32(part) AS part, toUInt64(place) AS place, toUInt64(number) AS number FROM (${numbers})`;
  const leftOut = leftOutSql(question, [{ condition, countsUsers: true }]).map(
    (sql) =>
      `SELECT toInt32(${leftOutPart}) AS part, toUInt64(reason) AS place, left_out AS number FROM (${sql})`,
  );
  return [rows, ...leftOut].join(' UNION ALL ');
}

/** How many rows placesPlanSql answers besides its numbers. */
export const maxLeftOutRows = 3;

export interface Places {
  /** The number of that part and place; 0 where there is none. */
  at(part: number, place: number): number;
  leftOut: LeftOutCount[];
}

export function readPlaces(rows: readonly unknown[][]): Places {
  const numbers = new Map<string, number>();
  const leftOut: { reason: LeftOut_Reason; count: number }[] = [];
  for (const [part, place, number] of rows) {
    if (Number(part) === leftOutPart) {
      leftOut.push({ reason: readReason(place), count: Number(number) });
    } else {
      numbers.set(`${part} ${place}`, Number(number));
    }
  }
  return { leftOut, at: (part, place) => numbers.get(`${part} ${place}`) ?? 0 };
}
