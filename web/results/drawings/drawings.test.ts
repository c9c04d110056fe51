import { create, type MessageInitShape } from '@bufbuild/protobuf';
import { expect, it } from 'vitest';
import {
  AggregationType,
  InsightQuerySpecSchema,
  InsightType,
  RevenueMeasure,
  SessionMetric,
  Touch,
} from '../../../proto/gen/shared/insights/v1/insights_pb.js';
import { forms, startOf } from '../../question/forms.ts';
import { drawingName, drawingNames, drawingOf, drawingsOf, hasShares } from './drawings.ts';
import { idOfDrawing, storedDrawing } from './tile-drawings.ts';

const { TRENDS, SEGMENTATION, REVENUE, TOP_K, FUNNEL, RETENTION } = InsightType;
const { TOTAL, UNIQUE_USERS, AVG } = AggregationType;
type Spec = MessageInitShape<typeof InsightQuerySpecSchema>;
const spec = (of: Spec) => create(InsightQuerySpecSchema, of);
const trend = (aggregations: AggregationType[], more: Spec = {}) =>
  spec({
    insightType: TRENDS,
    events: aggregations.map((aggregation) => ({ event: {}, aggregation })),
    ...more,
  });
const byPlan = { breakdowns: [{ property: 'plan' }] };

it('lets counts be added up, over series, groups and time', () => {
  const all = ['line', 'bars', 'area', 'stacked', 'percent', 'number', 'pie', 'table'];
  expect(drawingsOf(trend([TOTAL, TOTAL]))).toEqual(all);
  expect(drawingsOf(trend([TOTAL], byPlan))).toEqual(all);
  expect(drawingsOf(trend([TOTAL]))).toEqual(['line', 'bars', 'area', 'number', 'table']);
});

it('adds up no users of several days, no means, no sums of sums, and no formulas', () => {
  expect(drawingsOf(trend([UNIQUE_USERS], byPlan))).toEqual([
    ...['line', 'bars', 'area', 'stacked', 'percent', 'table'],
  ]);
  expect(drawingsOf(trend([AVG], byPlan))).toEqual(['line', 'bars', 'table']);
  expect(drawingsOf(trend([UNIQUE_USERS, UNIQUE_USERS]))).toEqual(['line', 'bars', 'table']);
  expect(drawingsOf(trend([TOTAL], { cumulative: true }))).not.toContain('number');
  expect(drawingsOf(trend([TOTAL], { formulas: [{ expression: 'A' }] }))).toEqual([
    ...['line', 'bars', 'table'],
  ]);
});

it('adds up no currencies, and of visits only how many there are', () => {
  const paid = (revenue: RevenueMeasure) => spec({ insightType: REVENUE, events: [{ revenue }] });
  expect(drawingsOf(paid(RevenueMeasure.TOTAL))).toEqual(['line', 'bars', 'table']);
  expect(drawingsOf(paid(RevenueMeasure.PAYMENTS))).toContain('pie');
  const visits = (metric: SessionMetric) => spec({ insightType: TRENDS, session: { metric } });
  expect(drawingsOf(visits(SessionMetric.SESSIONS))).toContain('number');
  expect(drawingsOf(visits(SessionMetric.BOUNCE_RATE))).toEqual(['line', 'bars', 'table']);
});

it('cuts a pie of counts alone', () => {
  const top = (metric: AggregationType) => spec({ insightType: TOP_K, topK: { metric } });
  expect(drawingsOf(top(TOTAL))).toContain('pie');
  expect(drawingsOf(top(UNIQUE_USERS))).toEqual(['bars', 'table']);
  const segments = (aggregation: AggregationType) =>
    spec({ insightType: SEGMENTATION, events: [{ aggregation }], ...byPlan });
  expect(drawingsOf(segments(TOTAL))).toContain('pie');
  expect(drawingsOf(segments(AVG))).toEqual(['bars', 'number', 'table']);
  expect(drawingsOf(segments(UNIQUE_USERS))).toContain('pie');
  const one = spec({ insightType: SEGMENTATION, events: [{ aggregation: TOTAL }] });
  expect(drawingsOf(one)).toEqual(['number', 'table']);
});

it('takes no share of users who count in each group that they touched', () => {
  const every = { ...byPlan, touch: Touch.EVERY };
  const users = { insightType: SEGMENTATION, events: [{ aggregation: UNIQUE_USERS }] };
  expect(hasShares(spec({ ...users, ...every }))).toBe(false);
  expect(hasShares(spec({ ...users, ...byPlan }))).toBe(true);
  expect(drawingsOf(trend([UNIQUE_USERS], every))).toEqual(['line', 'bars', 'table']);
  expect(drawingsOf(trend([TOTAL], every))).toContain('percent');
});

it('draws a funnel over time where its question has that', () => {
  const funnel = spec({ insightType: FUNNEL });
  expect(drawingsOf(funnel)).toEqual(['bars', 'columns', 'table']);
  expect(drawingOf(funnel, 'line')).toBe('bars');
  const overTime = spec({ insightType: FUNNEL, funnel: { overTime: true } });
  expect(drawingsOf(overTime)).toEqual(['line', 'bars', 'columns', 'table']);
  expect([drawingName(overTime, 'line'), drawingName(overTime, 'bars')]).toEqual([
    ...['Over time', 'Bars'],
  ]);
});

it('draws what the address asks for where the question can have it, else its first', () => {
  expect(drawingOf(trend([TOTAL]), 'area')).toBe('area');
  expect(drawingOf(trend([AVG]), 'pie')).toBe('line');
  expect(drawingOf(trend([AVG]), 'nonsense')).toBe('line');
  expect(drawingOf(spec({ insightType: RETENTION }), 'line')).toBe('line');
  expect(drawingOf(spec({ insightType: RETENTION }), 'columns')).toBe('cohorts');
});

it('stores each on boards', () => {
  const ids = Object.keys(drawingNames);
  expect(ids.map((id) => idOfDrawing(storedDrawing(id)))).toEqual(ids);
  expect(idOfDrawing(storedDrawing('nonsense'))).toBeUndefined();
});

it('knows every form', () => {
  const found = Object.fromEntries(
    forms.map((form) => [form.id, drawingsOf(startOf(form)).length]),
  );
  expect(Object.keys(found)).toHaveLength(10);
  expect([found['funnel'], found['retention'], found['user-flow']]).toEqual([3, 3, 2]);
  expect(found['lifecycle']).toBe(3);
});
