// Questions without conditions over the ranges of others: what tables of sums and kept days answer, which conditions
// rule out.

import { dayMs } from '../../../../platform/clock.ts';
import type { Question } from './question.ts';

const leastDays = 4;
/** Days of a range of so many are counted apart. */
const mostDays = 360;

/** Some for each of as many ranges of several days as are asked for. */
export function plainQuestions(questions: readonly Question[], ranges: number): Question[] {
  const several = questions.filter(({ fromMs, toMs }) => {
    const days = (toMs - fromMs) / dayMs;
    return days > leastDays && days < mostDays;
  });
  return several.slice(0, ranges).flatMap(({ fromMs, toMs, timezone }) => {
    const range = { fromMs, toMs, granularity: 'DAY', ...(timezone && { timezone }) } as const;
    const usersOf = (event: { kind?: string }): Question => ({
      ...{ ...range, type: 'TRENDS' },
      events: [{ event, aggregation: 'UNIQUE_USERS' }],
    });
    const topUsers: Question = { ...range, type: 'TOP_K', topK: { dimension: 'USER' } };
    const ofKinds = { kinds: ['page_view', 'click_it'] };
    const counts: Question = { ...range, type: 'TRENDS', events: [{ event: ofKinds }] };
    const visits: Question = { ...range, type: 'TRENDS', session: { metric: 'SESSIONS' } };
    return [usersOf({}), usersOf({ kind: 'page_view' }), topUsers, counts, visits];
  });
}
