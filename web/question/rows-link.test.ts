import { create } from '@bufbuild/protobuf';
import { expect, it } from 'vitest';
import { FilterOperator, LogicalOperator } from '../../proto/gen/common/v1/filter_pb.js';
import {
  Granularity,
  InsightQuerySpecSchema,
  InsightType,
} from '../../proto/gen/shared/insights/v1/insights_pb.js';
import { readConditions } from '../filter/condition.ts';
import { rowsHref } from './rows-link.ts';

const spec = create(InsightQuerySpecSchema, {
  insightType: InsightType.TRENDS,
  events: [{ event: { kind: 'purchase' } }],
  breakdowns: [{ property: 'plan' }, { property: '$country' }],
});
const of = {
  projectId: 'p1',
  spec,
  conditions: [],
  time: { range: '30d' },
  granularity: Granularity.DAY,
};

function asked(href: string | undefined) {
  const url = new URL(href ?? '', 'http://localhost');
  const conditions = readConditions(url.searchParams.get('filters') ?? '');
  return { path: url.pathname, query: Object.fromEntries(url.searchParams), conditions };
}

it('leads to the events of a group, those that lack a property included', () => {
  const { path, query, conditions } = asked(
    rowsHref(of, { kind: 'purchase', eventIndex: 0, breakdown: { plan: 'pro' } }),
  );
  expect(path).toBe('/p/p1/events');
  expect(query).toMatchObject({ kind: 'purchase', range: '30d', bots: '1' });
  expect(conditions.map(({ property, operator, values }) => [property, operator, values])).toEqual([
    ['plan', FilterOperator.EQUALS, ['pro']],
    ['$country', FilterOperator.IS_NOT_SET, []],
  ]);
});

it.each([
  [Granularity.HOUR, '2026-11-01', '2026-11-01'],
  [Granularity.DAY, '2026-11-01', '2026-11-01'],
  [Granularity.WEEK, '2026-11-01', '2026-11-07'],
  [Granularity.MONTH, '2026-11-01', '2026-11-30'],
])('leads to the days of a bucket, granularity %d', (granularity, from, to) => {
  const { query } = asked(rowsHref({ ...of, granularity }, { kind: '', day: '2026-11-01' }));
  expect(query).toMatchObject({ from, to });
});

it('leads nowhere where a list has no words for the filters', () => {
  const filter = { property: 'plan', operator: FilterOperator.EQUALS, value: 'pro' };
  const filterGroups = [{ filters: [filter, filter], operator: LogicalOperator.OR }];
  const either = create(InsightQuerySpecSchema, { filterGroups });
  expect(rowsHref({ ...of, spec: either }, { kind: '' })).toBeUndefined();
});

it('leads to a person', () => {
  expect(rowsHref(of, { kind: '', profileId: 'ab' })).toBe('/p/p1/profiles/ab');
});

it('leads to the payments of a currency, and to those that name none', () => {
  const revenue = create(InsightQuerySpecSchema, {
    insightType: InsightType.REVENUE,
    events: [{ event: { kind: 'purchase' } }],
  });
  const conditionsOf = (currency: string | undefined) =>
    asked(rowsHref({ ...of, spec: revenue }, { kind: '', payment: { currency } })).conditions.map(
      ({ property, operator, values }) => [property, operator, ...values],
    );
  const isPayment = ['amount', FilterOperator.IS_SET];
  expect(conditionsOf('EUR')).toEqual([isPayment, ['currency', FilterOperator.EQUALS, 'EUR']]);
  expect(conditionsOf(undefined)).toEqual([isPayment, ['currency', FilterOperator.IS_NOT_SET]]);
});

it('says nothing of bots where the question does', () => {
  const filter = { property: '$bot', operator: FilterOperator.NOT_EQUALS, value: 'true' };
  const without = create(InsightQuerySpecSchema, { filterGroups: [{ filters: [filter] }] });
  expect(asked(rowsHref({ ...of, spec: without }, { kind: '' })).query).not.toHaveProperty('bots');
});

it('leads to people in segments, and to those outside', () => {
  const [own, other, split] = ['s1', 's2', 's3'];
  const bySegment = create(InsightQuerySpecSchema, {
    insightType: InsightType.TRENDS,
    events: [{ event: { kind: 'purchase' } }],
    ...{ segments: [own], notInSegments: [other] },
    breakdowns: [{ property: `segment.${split}` }],
  });
  const segmentsOf = (value: string) => {
    const breakdown = { [`segment.${split}`]: value };
    const { query, conditions } = asked(
      rowsHref({ ...of, spec: bySegment }, { kind: '', breakdown }),
    );
    expect(conditions).toEqual([]);
    return query['segments'];
  };
  expect(segmentsOf('in')).toBe('s1,s3,!s2');
  expect(segmentsOf('not in')).toBe('s1,!s2,!s3');
});
