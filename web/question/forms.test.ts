// Which questions depend on who counts as a user: beside these alone a page says what becomes of cookieless visitors.

import { create, type MessageInitShape } from '@bufbuild/protobuf';
import { expect, it } from 'vitest';
import {
  AggregationType,
  TopKQuery_Dimension as Dimension,
  InsightQuerySpecSchema,
  InsightType,
  RevenueMeasure,
  SessionMetric,
} from '../../proto/gen/shared/insights/v1/insights_pb.js';
import { asForm, forms, startOf } from './forms.ts';
import { countsUsers } from './series/counts-users.ts';

const { TRENDS, SEGMENTATION, TOP_K, REVENUE } = InsightType;
const { UNIQUE_USERS, PER_USER_AVG, TOTAL, SUM, SUM_PER_USER } = AggregationType;
const of = (...aggregations: AggregationType[]) =>
  aggregations.map((aggregation) => ({ aggregation }));

it('are these, as they begin', () => {
  const counting = forms.filter((form) => countsUsers(startOf(form))).map(({ id }) => id);
  expect(counting).toEqual(['funnel', 'retention', 'lifecycle', 'stickiness']);
});

it.each<[string, boolean, MessageInitShape<typeof InsightQuerySpecSchema>]>([
  ['trends with a series of users', true, { insightType: TRENDS, events: of(TOTAL, UNIQUE_USERS) }],
  ['a mean of users', true, { insightType: SEGMENTATION, events: of(PER_USER_AVG) }],
  ['a sum per user', true, { insightType: TRENDS, events: of(SUM_PER_USER) }],
  ['a sum', false, { insightType: SEGMENTATION, events: of(SUM) }],
  [
    'what users pay',
    true,
    { insightType: REVENUE, events: [{ revenue: RevenueMeasure.PER_USER }] },
  ],
  ['what is paid', false, { insightType: REVENUE, events: [{}] }],
  ['visits', false, { insightType: TRENDS, session: { metric: SessionMetric.SESSIONS } }],
  ['the greatest users', true, { insightType: TOP_K, topK: { dimension: Dimension.USER } }],
  ['values by users', true, { insightType: TOP_K, topK: { metric: UNIQUE_USERS } }],
  ['values by events', false, { insightType: TOP_K, topK: { metric: TOTAL } }],
])('%s: %s', (_, expected, spec) => {
  expect(countsUsers(create(InsightQuerySpecSchema, spec))).toBe(expected);
});

it('a question about revenue begins with purchases, whatever was asked before', () => {
  const [trends, revenue] = ['trends', 'revenue'].map((id) => forms.find((form) => form.id === id));
  if (!trends || !revenue) expect.fail('no such form');
  const asked = asForm(startOf(trends), revenue);
  expect(asked.events.map(({ event }) => event?.kind)).toEqual(['purchase']);
  const kept = asForm({ ...asked, breakdowns: [] }, revenue);
  expect(kept.events.map(({ event }) => event?.kind)).toEqual(['purchase']);
});
