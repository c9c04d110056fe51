// Every choice of events in a question, and every property by which it groups, with the place where it stands.

import type { EventFilter } from '../../../proto/gen/common/v1/filter_pb.js';
import type { InsightQuerySpec } from '../../../proto/gen/shared/insights/v1/insights_pb.js';

export interface PlacedFilter {
  event: EventFilter | undefined;
  /** As `spec.events[0].event`. */
  path: string;
}

/** Members are listed: a new one does not compile until somebody has said whether events are chosen in it. */
export function eventFiltersOf(spec: InsightQuerySpec): PlacedFilter[] {
  const { events, session, userFlow, topK, funnel, flow, ...others } = spec;
  const { insightType, breakdowns, breakdownLimit, filterGroups, filterGroupsOperator, ...more } =
    others;
  const { conversionWindow, includeStepTiming, retention, includeCookieless, ...shown } = more;
  const { formulas, compare, rollingDays, cumulative, touch, segments, notInSegments, ...own } =
    shown;
  const { eventsPerUser, movingAverage, $typeName, $unknown, ...rest } = own;
  rest satisfies Record<string, never>;
  return [
    ...events.map(({ event }, index) => ({ event, path: `spec.events[${index}].event` })),
    { event: session?.scope, path: 'spec.session.scope' },
    { event: userFlow?.scope, path: 'spec.userFlow.scope' },
    { event: topK?.scope, path: 'spec.topK.scope' },
    ...(funnel?.exclusions ?? []).map(({ event }, index) => ({
      ...{ event, path: `spec.funnel.exclusions[${index}].event` },
    })),
    { event: flow?.from, path: 'spec.flow.from' },
    { event: flow?.to, path: 'spec.flow.to' },
  ];
}

/** Every property by which a question groups, with the place where it stands; '' where none does. */
export function groupPropertiesOf({
  breakdowns,
  topK,
  userFlow,
}: InsightQuerySpec): { property: string; path: string }[] {
  return [
    ...breakdowns.map(({ property }, index) => ({
      ...{ property, path: `spec.breakdowns[${index}].property` },
    })),
    { property: topK?.property ?? '', path: 'spec.topK.property' },
    { property: userFlow?.nodeProperty ?? '', path: 'spec.userFlow.nodeProperty' },
  ];
}
