// The persons behind a number of a question: the first hundred, in the order of their ids. The service names them with
// their traits and the ids by which senders know them; plain SQL lists the persons alone.

import { dayMs } from '../../../../platform/clock.ts';
import type { JsonObject } from '../../../../platform/json.ts';
import { listOf } from '../answers.ts';
import { momentOf } from '../ask.ts';
import {
  anyOrderReached,
  funnelQuestions,
  reachedSql,
  visitReached,
} from '../funnels/funnel-questions.ts';
import type { Layout } from '../layout.ts';
import { ofKind, personQuestions, persons } from '../person-questions.ts';
import type { Asked, Question } from '../question.ts';

/** Persons of a list. */
const pageSize = 100;
/** Hex digits of an id that plain SQL lists, too. */
const idDigits = 16;

/** `sql` is a SELECT of each person once, as the column `person`. */
function listOf100(
  question: string,
  point: (asked: Asked) => JsonObject,
  sql: (layout: Layout, asked: Asked) => string,
): Question {
  const numbered = [...personQuestions, ...funnelQuestions].find(({ name }) => name === question);
  if (numbered === undefined) throw new Error(`${question} is no question`);
  return {
    ...{ name: `persons of ${question}`, days: numbered.days, queries: numbered.queries },
    daysAreKept: false,
    persons: { pageSize, point },
    sql: (layout, asked) => `SELECT ${layout.userText('person')} FROM (${sql(layout, asked)})
      ORDER BY ${layout.userOrder('person')} LIMIT ${pageSize}`,
    rowsOf: (pages) =>
      pages.flatMap((page) =>
        listOf(page, 'profiles').map(({ id }) => [String(id).slice(0, idDigits)]),
      ),
  };
}

const firstBucket = ({ fromMs }: Asked): JsonObject => ({ bucket: momentOf(fromMs) });

/** Whoever did it on the first day. */
const ofFirstDay = (question: string, kind: string): Question =>
  listOf100(question, firstBucket, (layout, { fromMs }) => {
    const day = { fromMs, toMs: fromMs + dayMs };
    return `SELECT DISTINCT ${layout.user} AS person ${persons(layout, day, ofKind(layout, kind))}`;
  });

/** Who reached the second step of three, and not the third. */
const ofFunnel = (question: string, users: typeof reachedSql): Question =>
  listOf100(
    question,
    () => ({ step: 2, droppedOff: true }),
    (layout, asked) => `SELECT person FROM (${users(layout, asked)}) WHERE reached = 2`,
  );

/** Who did it in the first week, and again in the second. */
const ofRetention = (question: string, kind: string): Question =>
  listOf100(
    question,
    (asked) => ({ ...firstBucket(asked), returned: momentOf(asked.fromMs + 7 * dayMs) }),
    (layout, { fromMs }) => beforeAndAfter(layout, fromMs + 7 * dayMs, 7, kind),
  );

/** Who did it on the day before the first, and on that one. */
const ofLifecycle = (question: string, kind: string): Question =>
  listOf100(
    question,
    (asked) => ({ ...firstBucket(asked), state: 'LIFECYCLE_STATE_RETURNING' }),
    (layout, { fromMs }) => beforeAndAfter(layout, fromMs, 1, kind),
  );

function beforeAndAfter(layout: Layout, ms: number, days: number, kind: string): string {
  const around = { fromMs: ms - days * dayMs, toMs: ms + days * dayMs };
  const moment = `fromUnixTimestamp64Milli(${ms})`;
  return `SELECT ${layout.user} AS person ${persons(layout, around, ofKind(layout, kind))}
    GROUP BY person HAVING min(${layout.time}) < ${moment} AND max(${layout.time}) >= ${moment}`;
}

/** Who did it on two days. */
const ofStickiness = (question: string, kind: string): Question =>
  listOf100(
    question,
    () => ({ activeBuckets: 2 }),
    (
      layout,
      asked,
    ) => `SELECT ${layout.user} AS person ${persons(layout, asked, ofKind(layout, kind))}
      GROUP BY person HAVING uniqExact(toDate(${layout.time}, '${asked.timezone}')) = 2`,
  );

export const numberQuestions: readonly Question[] = [
  ofFirstDay('unique users of one kind', 'page_view'),
  ofFirstDay('unique users of all kinds', ''),
  ofFunnel('funnel of 3 steps', reachedSql),
  ofFunnel('funnel of 3 steps in any order', anyOrderReached),
  ofFunnel('funnel of 3 steps in one visit', visitReached),
  ofRetention('weekly retention, 8 weeks', ''),
  ofRetention('weekly retention of one kind', 'page_view'),
  ofLifecycle('lifecycle', ''),
  ofLifecycle('lifecycle of one kind', 'page_view'),
  ofStickiness('stickiness', ''),
  ofStickiness('stickiness of one kind', 'page_view'),
];
