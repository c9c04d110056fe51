// The simplest and the dearest questions that may be asked.

import { dayMs, systemClock } from '../../../platform/clock.ts';
import type { JsonObject } from '../../../platform/json.ts';
import { uniqueProperty } from '../engine/stored-owners.ts';

const day = 'GRANULARITY_DAY';
const kinds = ['page_view', 'click', 'signup', 'purchase'];
const eventsOf = (some: readonly string[], more: JsonObject = {}): JsonObject[] =>
  some.map((kind) => ({ event: { kind }, ...more }));
const users = { aggregation: 'AGGREGATION_TYPE_UNIQUE_USERS' };
const everyKind = Array.from({ length: 20 }, (_, n) => (n % 5 === 4 ? '' : (kinds[n % 4] ?? '')));
const breakdowns = [uniqueProperty, '$browser', '$os', '$country', '$distinct_id'].map(
  (property) => ({ property }),
);

export const simpleQuestions: Readonly<Record<string, JsonObject>> = {
  'trend of one kind': {
    granularity: day,
    spec: { insightType: 'INSIGHT_TYPE_TRENDS', events: eventsOf(['page_view']) },
  },
  'unique users of all kinds': {
    granularity: day,
    spec: { insightType: 'INSIGHT_TYPE_TRENDS', events: eventsOf([''], users) },
  },
  'funnel of 3 steps': {
    spec: { insightType: 'INSIGHT_TYPE_FUNNEL', events: eventsOf(kinds.slice(0, 3)) },
  },
};

export const dearestQuestions: Readonly<Record<string, JsonObject>> = {
  'funnel of 20 steps by 5 properties': {
    spec: {
      ...{ insightType: 'INSIGHT_TYPE_FUNNEL', events: eventsOf(everyKind), breakdowns },
      ...{ includeStepTiming: true, breakdownLimit: 100 },
    },
  },
  '10 series of users by 5 properties': {
    granularity: day,
    spec: {
      ...{
        insightType: 'INSIGHT_TYPE_TRENDS',
        events: eventsOf(everyKind.slice(0, 10), users),
        breakdowns,
      },
      breakdownLimit: 100,
    },
  },
  'flow of 10 hops by a unique property': {
    spec: {
      insightType: 'INSIGHT_TYPE_USER_FLOW',
      userFlow: {
        ...{ nodeKind: 'NODE_KIND_PROPERTY', nodeProperty: uniqueProperty },
        ...{ maxHops: 10, maxNodes: 50, maxLinks: 500 },
      },
    },
  },
};

export const queryPath = '/shared.insights.v1.InsightsService/Query';

/** Each turn has another range: no answer is kept whole. */
export function lastMonth(turn: number): JsonObject {
  const toMs = systemClock.nowMs() - turn;
  const [from, to] = [toMs - 30 * dayMs, toMs].map((ms) => new Date(ms).toISOString());
  return { timezone: 'Europe/Berlin', timeRange: { from: from ?? '', to: to ?? '' } };
}
