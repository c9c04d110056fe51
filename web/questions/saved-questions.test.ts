// Which saved questions a project has, and which of them a reader means.

import { create } from '@bufbuild/protobuf';
import { expect, it } from 'vitest';
import { DashboardSchema } from '../../proto/gen/dashboard/dashboards/v1/dashboards_pb.js';
import { InsightType } from '../../proto/gen/shared/insights/v1/insights_pb.js';
import { isMeant, questionsOf } from './saved-questions.ts';

const ask = (kind: string) => ({
  case: 'insight' as const,
  value: { insightType: InsightType.TRENDS, events: [{ event: { kind } }] },
});
const boards = [
  create(DashboardSchema, {
    id: 'b1',
    displayName: 'Shop',
    tiles: [
      { id: '1', title: 'Orders', content: ask('purchase') },
      { id: '2', title: 'Notes', content: { case: 'markdown', value: '# Notes' } },
      { id: '3', content: ask('signup') },
    ],
  }),
  create(DashboardSchema, {
    id: 'b2',
    displayName: 'Week',
    tiles: [
      { id: '4', title: 'Orders', content: ask('purchase') },
      { id: '5', title: 'Orders', content: ask('order_refunded') },
    ],
  }),
];
const questions = questionsOf(boards);
const listed = (found: typeof questions) =>
  found.map(({ name, boards: on }) => [name, ...on.map((one) => one.name)]);

it('are the tiles that ask something, one for a name and what it asks, by their names', () => {
  expect(listed(questions)).toEqual([
    ['Orders', 'Shop', 'Week'],
    ['Orders', 'Week'],
    ['Trends: Signup', 'Shop'],
  ]);
  expect(new Set(questions.map(({ key }) => key)).size).toBe(3);
});

it('are found by words of their name, their form or a board', () => {
  const found = (text: string) => listed(questions.filter((one) => isMeant(one, text)));
  expect(found('  shop ORDERS')).toEqual([['Orders', 'Shop', 'Week']]);
  expect(found('trends')).toHaveLength(3);
  expect(found('')).toHaveLength(3);
  expect(found('retention')).toEqual([]);
});
