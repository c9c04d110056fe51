import { create } from '@bufbuild/protobuf';
import { expect, it } from 'vitest';
import { LogicalOperator } from '../../proto/gen/common/v1/filter_pb.js';
import {
  FilterGroupSchema,
  InsightQuerySpecSchema,
} from '../../proto/gen/shared/insights/v1/insights_pb.js';
import { questionHref } from './question-link.ts';

const group = (property: string) => create(FilterGroupSchema, { filters: [{ property }] });
const of = (spec: Parameters<typeof create<typeof InsightQuerySpecSchema>>[1]) => ({
  projectId: 'p1',
  spec: create(InsightQuerySpecSchema, spec),
  time: { range: '30d' },
});

it('asks with the filters of its page besides its own', () => {
  const href = questionHref({
    ...of({ filterGroups: [group('plan')] }),
    filterGroups: [group('$country')],
  });
  const { pathname, searchParams } = new URL(href ?? '', 'http://host');
  expect(pathname).toBe('/p/p1/insights/trends');
  expect(searchParams.get('range')).toBe('30d');
  const { filterGroups } = JSON.parse(searchParams.get('q') ?? '{}');
  expect(filterGroups).toMatchObject([
    { filters: [{ property: 'plan' }] },
    { filters: [{ property: '$country' }] },
  ]);
});

it('goes to the form of its question', () => {
  const href = questionHref({ ...of({ session: { metric: 1 } }), filterGroups: [] });
  expect(href).toMatch(/^\/p\/p1\/insights\/sessions\?/);
});

it('is none where alternatives and a page’s filters would have to hold together', () => {
  const either = of({
    filterGroups: [group('plan'), group('seats')],
    filterGroupsOperator: LogicalOperator.OR,
  });
  expect(questionHref({ ...either, filterGroups: [] })).toBeDefined();
  expect(questionHref({ ...either, filterGroups: [group('$country')] })).toBeUndefined();
});
