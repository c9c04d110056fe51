// What a question, its series and its groups are called in a mail.

import { figure, milliseconds, percent } from '../../platform/words/figures.ts';
import {
  aggregationNames,
  directName,
  metricNames,
  noCurrencyName,
  othersName,
  revenueNames,
  typeNames,
} from '../../platform/words/insight-words.ts';
import { readablePath } from '../../platform/words/readable-path.ts';
import {
  kindName as kindWords,
  valueName as valueWords,
} from '../../platform/words/value-words.ts';
import {
  AggregationType,
  type InsightQuerySpec,
  InsightType,
  RevenueMeasure,
  SessionMetric,
} from '../../proto/gen/shared/insights/v1/insights_pb.js';
import { lineInMail } from './text-in-mail.ts';

const maxNameCharacters = 80;

/** Of a tile without a title. */
export function questionName(spec: InsightQuerySpec): string {
  return spec.session ? metricNames[spec.session.metric] : typeNames[spec.insightType];
}

/** Of a kind, in a line of a mail. */
export function kindName(kind: string): string {
  return lineInMail(kindWords(kind), maxNameCharacters);
}

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
  const named = currency === undefined ? noCurrencyName : lineInMail(currency, maxNameCharacters);
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
  if (spec.session) return metricNames[spec.session.metric];
  const {
    event,
    aggregation = AggregationType.TOTAL,
    aggregationProperty = '',
  } = spec.events[eventIndex] ?? {};
  const { kind = '', kinds = [] } = event ?? {};
  const isEvery = kind === '' && kinds.length === 0;
  const name = kinds.length > 0 ? kinds.map(kindName).join(' or ') : kindName(kind);
  if (spec.insightType === InsightType.REVENUE) {
    const measure = revenueNames[spec.events[eventIndex]?.revenue ?? RevenueMeasure.TOTAL];
    return isEvery ? kindName(measure) : `${name}: ${measure}`;
  }
  if (aggregation <= AggregationType.TOTAL) return isEvery ? 'Events' : name;
  const days = spec.events[eventIndex]?.rollingDays || spec.rollingDays;
  if (aggregation === AggregationType.UNIQUE_USERS && (isEvery || days > 1)) {
    const users = isEvery ? 'Users' : `${name}: users`;
    return days > 1 ? `${users} of ${days} days` : users;
  }
  const of = aggregationProperty ? ` of ${lineInMail(aggregationProperty, maxNameCharacters)}` : '';
  return `${name}: ${aggregationNames[aggregation]}${of}`;
}

/** The values of a group in the order of the question's breakdowns. */
export function groupName(
  spec: InsightQuerySpec,
  { breakdown, isOthers }: Pick<SeriesOf, 'breakdown' | 'isOthers'>,
): string {
  if (isOthers) return othersName;
  if (spec.breakdowns.length === 0) return 'All';
  return spec.breakdowns
    .map(({ property }) => {
      const value = breakdown[property];
      const isDirect = spec.session && property === '$referrerDomain' && value === undefined;
      return isDirect ? directName : valueName(property, value);
    })
    .join(' · ');
}

/** A value of a property in a line of a mail. */
export function valueName(property: string, value: string | undefined): string {
  // "in" and "not in"; the tile's title says which.
  const isOfSegment = value !== undefined && property.startsWith('segment.');
  const words = isOfSegment ? `${value} the segment` : valueWords(property, value);
  return lineInMail(readablePath(words), maxNameCharacters);
}

/** How the values of a question are written. */
export type WriteFigure = (value: number) => string;

/** As its values are read, in full. */
export function writerOf(spec: InsightQuerySpec): WriteFigure {
  switch (spec.session?.metric) {
    case SessionMetric.BOUNCE_RATE:
      return percent;
    case SessionMetric.AVG_DURATION:
      return (seconds) => milliseconds(seconds * 1000);
    default:
      return figure;
  }
}
