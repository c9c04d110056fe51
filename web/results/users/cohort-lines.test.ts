import { create, type MessageInitShape } from '@bufbuild/protobuf';
import { timestampFromDate } from '@bufbuild/protobuf/wkt';
import { expect, it } from 'vitest';
import {
  type RetentionCohortSchema,
  RetentionSeriesSchema,
} from '../../../proto/gen/shared/insights/v1/insights_pb.js';
import { cohortCount, cohortLines, meanLine, spread } from './cohort-lines.ts';

const labels = ['2026-11-01T00:00:00Z', '2026-11-02T00:00:00Z', '2026-11-03T00:00:00Z'];
const series = (cohorts: MessageInitShape<typeof RetentionCohortSchema>[]) =>
  create(RetentionSeriesSchema, { cohorts });
const cohort = (cohortSize: number, ...returned: number[]) => ({
  ...{ cohortSize, points: returned.map((value) => ({ value })) },
  incompleteFrom: timestampFromDate(new Date('2026-11-03T00:00:00Z')),
});
const named = (index: number) => `cohort ${index}`;

it('draws the share of each cohort that returned, open where its bucket is not over', () => {
  const three = series([cohort(4, 4, 1, 2), cohort(2, 2, 1), cohort(1, 1)]);
  expect(cohortLines(three, labels, 7, named)).toEqual([
    { name: 'cohort 0', values: [1, 0.25, 0.5], openFrom: 2, cohort: 0 },
    { name: 'cohort 1', values: [1, 0.5], openFrom: 1, cohort: 1 },
  ]);
  expect(cohortCount(three)).toBe(3);
});

it('leaves out cohorts without users, and draws a point where there is no line', () => {
  const last = series([cohort(0, 0, 0, 0), cohort(0, 0, 0), cohort(3, 3)]);
  expect(cohortLines(last, labels, 7, named)).toMatchObject([{ name: 'cohort 2', values: [1] }]);
  expect(cohortCount(last)).toBe(1);
});

it('spreads over all cohorts those that it draws', () => {
  const all = Array.from({ length: 30 }, (_, index) => index);
  expect(spread(all, 7)).toEqual([0, 5, 10, 15, 19, 24, 29]);
  expect(spread(all.slice(0, 3), 7)).toEqual([0, 1, 2]);
  expect(spread(all, 1)).toEqual([0]);
});

it('has no mean where no cohort is over', () => {
  const means = [
    { size: 4, returned: 4, share: 1 },
    { size: 0, returned: 0 },
  ];
  const known = create(RetentionSeriesSchema, { means }).means;
  expect(meanLine('Mean', known)).toEqual({ name: 'Mean', values: [1, null] });
});
