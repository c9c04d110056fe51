// What a question, its series and its groups are called in a mail.

import {
  AggregationType,
  type InsightQuerySpec,
  InsightType,
  RevenueMeasure,
  SessionMetric,
} from '../../proto/gen/shared/insights/v1/insights_pb.js';
import { figure, percent, seconds, type WriteFigure } from './figures.ts';
import { lineInMail } from './text-in-mail.ts';

const maxNameCharacters = 80;

const metrics: Record<SessionMetric, string> = {
  [SessionMetric.UNSPECIFIED]: 'Visits',
  [SessionMetric.SESSIONS]: 'Visits',
  [SessionMetric.AVG_DURATION]: 'Visit duration',
  [SessionMetric.BOUNCE_RATE]: 'Bounce rate',
  [SessionMetric.ENTRY]: 'Entries',
  [SessionMetric.EXIT]: 'Exits',
  [SessionMetric.AVG_EVENTS_PER_SESSION]: 'Events per visit',
};

const aggregations: Record<AggregationType, string> = {
  [AggregationType.UNSPECIFIED]: '',
  [AggregationType.TOTAL]: '',
  [AggregationType.UNIQUE_USERS]: 'users',
  [AggregationType.PER_USER_AVG]: 'events per user',
  [AggregationType.SUM]: 'sum',
  [AggregationType.AVG]: 'average',
  [AggregationType.MIN]: 'minimum',
  [AggregationType.MAX]: 'maximum',
  [AggregationType.MEDIAN]: 'median',
  [AggregationType.P75]: '75th percentile',
  [AggregationType.P90]: '90th percentile',
  [AggregationType.P95]: '95th percentile',
  [AggregationType.P99]: '99th percentile',
  [AggregationType.DISTINCT_VALUES]: 'unique values',
  [AggregationType.SUM_PER_USER]: 'sum per user',
  [AggregationType.AVG_PER_USER]: 'average of users’ averages',
};

const types: Record<InsightType, string> = {
  [InsightType.UNSPECIFIED]: 'Question',
  [InsightType.TRENDS]: 'Trends',
  [InsightType.SEGMENTATION]: 'Segmentation',
  [InsightType.FUNNEL]: 'Funnel',
  [InsightType.RETENTION]: 'Retention',
  [InsightType.USER_FLOW]: 'User flow',
  [InsightType.TOP_K]: 'Top K',
  [InsightType.LIFECYCLE]: 'Lifecycle',
  [InsightType.STICKINESS]: 'Stickiness',
  [InsightType.REVENUE]: 'Revenue',
};

/** Of a tile without a title. */
export function questionName(spec: InsightQuerySpec): string {
  return spec.session ? metrics[spec.session.metric] : types[spec.insightType];
}

/** A kind as people say it: `page_view` and `page.view` are "Page view". */
export function kindName(kind: string): string {
  if (kind === '') return 'Any event';
  const words = lineInMail(kind.replace(/_|\.(?=[a-z])/giu, ' '), maxNameCharacters);
  return words.charAt(0).toUpperCase() + words.slice(1);
}

const revenues: Record<RevenueMeasure, string> = {
  [RevenueMeasure.UNSPECIFIED]: 'revenue',
  [RevenueMeasure.TOTAL]: 'revenue',
  [RevenueMeasure.PER_USER]: 'revenue per user',
  [RevenueMeasure.PER_PAYING_USER]: 'revenue per paying user',
  [RevenueMeasure.PAYMENTS]: 'payments',
};

export interface SeriesOf {
  eventIndex: number;
  formulaIndex?: number | undefined;
  breakdown: { [key: string]: string };
  isOthers: boolean;
  /** Of REVENUE. */
  currency?: string | undefined;
}

/** Of TRENDS, SEGMENTATION and REVENUE, with its group where there are breakdowns or currencies. */
export function seriesName(spec: InsightQuerySpec, series: SeriesOf): string {
  const { movingAverage } = spec;
  const isMean = movingAverage > 0 && series.formulaIndex === undefined;
  const own = `${ownName(spec, series)}${isMean ? `, average of ${movingAverage}` : ''}`;
  const isOfRevenue = spec.insightType === InsightType.REVENUE;
  if (spec.breakdowns.length === 0 && !isOfRevenue) return own;
  const { currency } = series;
  const named = currency === undefined ? 'no currency' : lineInMail(currency, maxNameCharacters);
  const money = isOfRevenue ? [named] : [];
  const values = spec.breakdowns.length === 0 ? [] : [groupName(spec, series)];
  const group = [...money, ...values].join(' · ');
  const isOne = spec.events.length <= 1 && spec.formulas.length === 0 && !isOfRevenue;
  return isOne ? group : `${own}, ${group}`;
}

function ownName(spec: InsightQuerySpec, { eventIndex, formulaIndex }: SeriesOf): string {
  if (formulaIndex !== undefined) {
    const { displayName = '', expression = '' } = spec.formulas[formulaIndex] ?? {};
    return lineInMail(displayName || expression, maxNameCharacters);
  }
  if (spec.session) return metrics[spec.session.metric];
  const {
    event,
    aggregation = AggregationType.TOTAL,
    aggregationProperty = '',
  } = spec.events[eventIndex] ?? {};
  const { kind = '', kinds = [] } = event ?? {};
  const isEvery = kind === '' && kinds.length === 0;
  const name = kinds.length > 0 ? kinds.map(kindName).join(' or ') : kindName(kind);
  if (spec.insightType === InsightType.REVENUE) {
    const measure = revenues[spec.events[eventIndex]?.revenue ?? RevenueMeasure.TOTAL];
    return isEvery ? kindName(measure) : `${name}: ${measure}`;
  }
  if (aggregation <= AggregationType.TOTAL) return isEvery ? 'Events' : name;
  const days = spec.events[eventIndex]?.rollingDays || spec.rollingDays;
  if (aggregation === AggregationType.UNIQUE_USERS && (isEvery || days > 1)) {
    const users = isEvery ? 'Users' : `${name}: users`;
    return days > 1 ? `${users} of ${days} days` : users;
  }
  const of = aggregationProperty ? ` of ${lineInMail(aggregationProperty, maxNameCharacters)}` : '';
  return `${name}: ${aggregations[aggregation]}${of}`;
}

/** The values of a group in the order of the question's breakdowns. */
export function groupName(
  spec: InsightQuerySpec,
  { breakdown, isOthers }: Pick<SeriesOf, 'breakdown' | 'isOthers'>,
): string {
  if (isOthers) return 'All others';
  if (spec.breakdowns.length === 0) return 'All';
  return spec.breakdowns
    .map(({ property }) => {
      const value = breakdown[property];
      const isDirect = spec.session && property === '$referrerDomain' && value === undefined;
      return isDirect ? 'Direct / none' : valueName(property, value);
    })
    .join(' · ');
}

const countries = new Intl.DisplayNames('en', { type: 'region', fallback: 'code' });

/** A value of a property; a country by its name. */
export function valueName(property: string, value: string | undefined): string {
  if (value === undefined) return '(none)';
  // "in" and "not in"; the tile's title says which.
  if (property.startsWith('segment.')) {
    return lineInMail(`${value} the segment`, maxNameCharacters);
  }
  if (property === '$country' && /^[A-Z]{2}$/.test(value)) return countries.of(value) ?? value;
  return value === '' ? '(empty)' : lineInMail(value, maxNameCharacters);
}

/** How the question's values are written. */
export function writerOf(spec: InsightQuerySpec): WriteFigure {
  switch (spec.session?.metric) {
    case SessionMetric.BOUNCE_RATE:
      return percent;
    case SessionMetric.AVG_DURATION:
      return seconds;
    default:
      return figure;
  }
}
