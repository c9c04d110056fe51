// Words and formats of a question's figures: what a series, a group and a value are called.

import { milliseconds, percent, shortFigure } from '../../platform/words/figures.ts';
import {
  aggregationNames,
  directName,
  metricNames,
  noCurrencyName,
  othersName,
  revenueNames,
} from '../../platform/words/insight-words.ts';
import { kindName, valueName as plainValueName } from '../../platform/words/value-words.ts';
import type { EventFilter } from '../../proto/gen/common/v1/filter_pb.js';
import {
  AggregationType,
  FunnelQuery_Order,
  Granularity,
  type InsightQuerySpec,
  InsightType,
  RevenueMeasure,
  SessionMetric,
} from '../../proto/gen/shared/insights/v1/insights_pb.js';
import type { Unit } from '../charts/plot/value-axis.ts';
import { segmentName, segmentOf } from '../filter/segment-names.ts';
import { sourceName } from '../sources/source-of.ts';
import { kindNamer } from '../text/namer.ts';

/** One bucket of time: "day". */
export const bucketNames: Record<Granularity, string> = {
  [Granularity.UNSPECIFIED]: 'day',
  [Granularity.MINUTE]: 'minute',
  [Granularity.HOUR]: 'hour',
  [Granularity.DAY]: 'day',
  [Granularity.WEEK]: 'week',
  [Granularity.MONTH]: 'month',
};

/**
 * The values of a group in the order of the question's breakdowns. Unless it `isExact`, two groups of an answer may
 * have one name: see text/namer.ts.
 */
export function groupName(
  spec: InsightQuerySpec,
  { breakdown, isOthers, currency }: Group,
  isExact = true,
): string {
  const values = isOthers
    ? [othersName]
    : spec.breakdowns.map(({ property }) => {
        const value = breakdown[property];
        const isDirect = spec.session && property === '$referrerDomain' && value === undefined;
        return isDirect ? directName : valueName(property, value, isExact);
      });
  const ofMoney = isOfRevenue(spec) ? [currency ?? noCurrencyName] : [];
  return [...ofMoney, ...values].join(' · ');
}

type Group = {
  breakdown: { [key: string]: string };
  isOthers: boolean;
  /** Of revenue, which has one for each currency. */
  currency?: string | undefined;
};

function isOfRevenue({ insightType }: InsightQuerySpec): boolean {
  return insightType === InsightType.REVENUE;
}

/** Whether an answer has several of a series. */
function isSplit(spec: InsightQuerySpec): boolean {
  return spec.breakdowns.length > 0 || isOfRevenue(spec);
}

/**
 * A value of a property; "not in Buyers" of a segment, a host by its site: several may be of one site, unless the name
 * `isExact`.
 */
export function valueName(property: string, value: string | undefined, isExact = true): string {
  if (property === '$referrerDomain' && value) {
    const name = sourceName(value);
    return isExact && name !== value ? `${name} (${value})` : name;
  }
  const segment = value === undefined ? undefined : segmentOf(property);
  return segment === undefined
    ? plainValueName(property, value)
    : `${value} ${segmentName(segment)}`;
}

/** The kinds of one of a question's events, told apart from those of its others. */
export function kindsName(spec: InsightQuerySpec, event: EventFilter | undefined): string {
  const kindsOf = ({ kind = '', kinds = [] }: Partial<EventFilter> = {}): string[] =>
    kinds.length > 0 ? kinds : [kind];
  const nameOf = kindNamer(spec.events.flatMap((one) => kindsOf(one.event)));
  return kindsOf(event).map(nameOf).join(' or ');
}

function eventName(spec: InsightQuerySpec, index: number): string {
  if (spec.session) return metricNames[spec.session.metric];
  const event = spec.events[index];
  const { kind = '', kinds = [] } = event?.event ?? {};
  const name = kindsName(spec, event?.event);
  const isEvery = kind === '' && kinds.length === 0;
  if (isOfRevenue(spec)) {
    const measure = revenueNames[event?.revenue ?? RevenueMeasure.TOTAL];
    return isEvery ? kindName(measure) : `${name}: ${measure}`;
  }
  const aggregation = event?.aggregation ?? AggregationType.TOTAL;
  if (aggregation <= AggregationType.TOTAL) return isEvery ? 'Events' : name;
  const days = event?.rollingDays || spec.rollingDays;
  if (aggregation === AggregationType.UNIQUE_USERS && (isEvery || days > 1)) {
    const users = isEvery ? 'Users' : `${name}: users`;
    return days > 1 ? `${users} of ${days} days` : users;
  }
  const property = event?.aggregationProperty ? ` of ${event.aggregationProperty}` : '';
  return `${name}: ${aggregationNames[aggregation]}${property}`;
}

/** A series of TRENDS or SEGMENTATION. Equal names get their place, so that each is the name of one. */
export function seriesName(
  spec: InsightQuerySpec,
  series: Group & { eventIndex: number; formulaIndex?: number | undefined },
  isExact = true,
): string {
  if (series.formulaIndex !== undefined) {
    return formulaName(spec, series.formulaIndex, series, isExact);
  }
  const own = averageName(spec, eventName(spec, series.eventIndex));
  if (!isSplit(spec)) {
    const isTwice = spec.events.some(
      (_, index) =>
        index !== series.eventIndex && averageName(spec, eventName(spec, index)) === own,
    );
    return isTwice ? `${series.eventIndex + 1}. ${own}` : own;
  }
  const group = groupName(spec, series, isExact);
  const hasOthers = spec.events.length > 1 || spec.formulas.length > 0;
  return hasOthers ? `${series.eventIndex + 1}. ${own}, ${group}` : group;
}

function averageName({ movingAverage }: InsightQuerySpec, name: string): string {
  return movingAverage === 0 ? name : `${name}, average of ${movingAverage}`;
}

function formulaName(spec: InsightQuerySpec, index: number, group?: Group, isExact = true): string {
  const { displayName = '', expression = '' } = spec.formulas[index] ?? {};
  const isTwice = spec.formulas.filter((one) => one.displayName === displayName).length > 1;
  const own = displayName === '' || isTwice ? `${displayName} ${expression}`.trim() : displayName;
  return group && isSplit(spec) ? `${own}, ${groupName(spec, group, isExact)}` : own;
}

/** Where there are formulas these are drawn, and the tables have what they are made of, too. */
export function drawnSeries<T extends { formulaIndex?: number | undefined }>(
  series: readonly T[],
): T[] {
  const made = series.filter(({ formulaIndex }) => formulaIndex !== undefined);
  return made.length > 0 ? made : [...series];
}

function breakdownName(property: string): string {
  const segment = segmentOf(property);
  return segment === undefined ? property : segmentName(segment);
}

/** What a question is called until somebody names it: "Trends: Signup by plan". At most 150 characters. */
export function questionName(form: string, spec: InsightQuerySpec): string {
  const formulas = spec.formulas.map((_, index) => formulaName(spec, index));
  const what = spec.session
    ? averageName(spec, metricNames[spec.session.metric])
    : formulas.length > 0
      ? formulas.join(', ')
      : eventNames(spec);
  const groups = spec.breakdowns.map(({ property }) => breakdownName(property)).join(', ');
  const name = what ? `${form}: ${what}` : form;
  return `${name}${groups ? ` by ${groups}` : ''}`.slice(0, 150);
}

/** Steps by their kinds, in their order where they have one; events that are counted by what is counted of them. */
function eventNames(spec: InsightQuerySpec): string {
  const { insightType, events, funnel } = spec;
  const steps = events.map(({ event }) => kindsName(spec, event));
  switch (insightType) {
    case InsightType.FUNNEL:
      return steps.join(funnel?.order === FunnelQuery_Order.ANY ? ', ' : ' → ');
    case InsightType.RETENTION:
      return steps.join(' → ');
    case InsightType.USER_FLOW:
    case InsightType.LIFECYCLE:
    case InsightType.STICKINESS:
      return steps.join(', ');
    default:
      return events.map((_, index) => averageName(spec, eventName(spec, index))).join(', ');
  }
}

/** How the question's values are written. */
export function formatOf(spec: InsightQuerySpec): (value: number) => string {
  switch (spec.session?.metric) {
    case SessionMetric.BOUNCE_RATE:
      return percent;
    case SessionMetric.AVG_DURATION:
      return (seconds) => milliseconds(seconds * 1000);
    default:
      return shortFigure;
  }
}

/** What the axis of its values counts. */
export function unitOf({ session }: InsightQuerySpec): Unit {
  if (session?.metric === SessionMetric.BOUNCE_RATE) return 'share';
  return session?.metric === SessionMetric.AVG_DURATION ? 'seconds' : 'number';
}
