// The drawings that an answer can have, by what its question counts: nothing is added up that has no sum.

import {
  AggregationType,
  type InsightQuerySpec,
  InsightType,
  RevenueMeasure,
  SessionMetric,
  Touch,
} from '../../../proto/gen/shared/insights/v1/insights_pb.js';
import type { PlotKind } from '../../charts/plot/layers.ts';

/** As the address has it. */
export type DrawingId = PlotKind | 'number' | 'pie' | 'table' | 'columns' | 'cohorts' | 'flow';

export const drawingNames: Record<DrawingId, string> = {
  line: 'Lines',
  bars: 'Bars',
  area: 'Area',
  stacked: 'Stacked bars',
  percent: 'Percentages',
  number: 'Number',
  pie: 'Pie',
  table: 'Table only',
  columns: 'Columns',
  cohorts: 'Cohort table',
  flow: 'Flow diagram',
};

/** The lines of a funnel are a choice only beside its steps, and are named for what they add. */
export function drawingName({ insightType }: InsightQuerySpec, id: DrawingId): string {
  return insightType === InsightType.FUNNEL && id === 'line' ? 'Over time' : drawingNames[id];
}

const plots: readonly PlotKind[] = ['line', 'bars', 'area', 'stacked', 'percent'];

/** How the chart of an answer is drawn; undefined where the answer is no chart. */
export function plotOf(drawn: DrawingId): PlotKind | undefined {
  return plots.find((one) => one === drawn);
}

/** Those of a question, the first of which is drawn where none is chosen; none where it has no form. */
export function drawingsOf(spec: InsightQuerySpec): readonly DrawingId[] {
  switch (spec.insightType) {
    case InsightType.TRENDS:
    case InsightType.REVENUE:
      return ofTime(spec);
    case InsightType.SEGMENTATION:
      return ofRange(spec);
    case InsightType.TOP_K:
      return ['bars', ...(isCount(spec.topK?.metric) ? (['pie'] as const) : []), 'table'];
    case InsightType.LIFECYCLE:
      return ['stacked', 'line', 'table'];
    case InsightType.STICKINESS:
      return ['bars', 'table'];
    case InsightType.FUNNEL:
      return [...(spec.funnel?.overTime ? (['line'] as const) : []), 'bars', 'columns', 'table'];
    case InsightType.RETENTION:
      return ['cohorts', 'line', 'table'];
    case InsightType.USER_FLOW:
      return ['flow', 'table'];
    case InsightType.UNSPECIFIED:
      return [];
    default:
      return spec.insightType satisfies never;
  }
}

/** What was asked for where the question can have it, else its first; undefined where it has no choice. */
export function drawingOf(
  spec: InsightQuerySpec,
  asked: string | undefined,
): DrawingId | undefined {
  const all = drawingsOf(spec);
  return all.find((one) => one === asked) ?? all[0];
}

/** Whether a value of the range is a part of the sum of all, so that it has a share of it. */
export function hasShares(spec: InsightQuerySpec): boolean {
  return drawingsOf(spec).includes('pie');
}

function ofRange(spec: InsightQuerySpec): DrawingId[] {
  const { events, formulas, breakdowns } = spec;
  const isOne = breakdowns.length === 0 && (formulas.length || events.length) < 2;
  if (isOne) return ['number', 'table'];
  return ['bars', ...(isStackable(spec) ? (['pie'] as const) : []), 'number', 'table'];
}

function ofTime(spec: InsightQuerySpec): DrawingId[] {
  const stacks = isStackable(spec);
  const several = stacks && isSeveral(spec);
  const { cumulative, movingAverage } = spec;
  const adds = isSum(spec) && !cumulative && movingAverage === 0;
  return [
    ...(['line', 'bars'] as const),
    ...(stacks ? (['area'] as const) : []),
    ...(several ? (['stacked', 'percent'] as const) : []),
    ...(adds ? (['number'] as const) : []),
    ...(adds && several ? (['pie'] as const) : []),
    'table',
  ];
}

function isSeveral({ events, breakdowns, insightType }: InsightQuerySpec): boolean {
  return events.length > 1 || breakdowns.length > 0 || insightType === InsightType.REVENUE;
}

/** Whether the values of its series add up to one of all of them. */
function isStackable(spec: InsightQuerySpec): boolean {
  const { UNIQUE_USERS } = AggregationType;
  const ofUsers = spec.events.every(({ aggregation }) => aggregation === UNIQUE_USERS);
  // Users of one series are others in each group, where none has all that they touched, but not in each series.
  const isOfGroups =
    ofUsers && spec.touch !== Touch.EVERY && spec.events.length === 1 && spec.session === undefined;
  return isSum(spec) || (isOfGroups && spec.formulas.length === 0 && !isOfPayments(spec));
}

/** Whether its values add up: over groups, series and time. */
function isSum(spec: InsightQuerySpec): boolean {
  const { events, session, formulas } = spec;
  if (formulas.length > 0) return false;
  if (session) return isOfVisits(session.metric);
  // There is no rate between currencies.
  if (isOfPayments(spec)) return events.every(({ revenue }) => revenue === RevenueMeasure.PAYMENTS);
  return events.every(({ aggregation }) => isCount(aggregation));
}

function isOfPayments({ insightType }: InsightQuerySpec): boolean {
  return insightType === InsightType.REVENUE;
}

function isCount(aggregation = AggregationType.TOTAL): boolean {
  const { UNSPECIFIED, TOTAL, SUM } = AggregationType;
  return [UNSPECIFIED, TOTAL, SUM].some((one) => one === aggregation);
}

function isOfVisits(metric: SessionMetric): boolean {
  const { UNSPECIFIED, SESSIONS, ENTRY, EXIT } = SessionMetric;
  return [UNSPECIFIED, SESSIONS, ENTRY, EXIT].some((one) => one === metric);
}
