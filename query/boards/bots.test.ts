// A question that says something of bots anywhere is asked as it is.

import { create } from '@bufbuild/protobuf';
import { expect, it } from 'vitest';
import {
  type InsightQuerySpec,
  InsightQuerySpecSchema,
  InsightType,
} from '../../proto/gen/shared/insights/v1/insights_pb.js';
import { saysOfBots } from './bots.ts';

const filters = [{ property: '$bot', value: 'true' }];
const ofBots = { kind: 'page_view', filters };
const insightType = InsightType.TRENDS;

it.each<[string, Parameters<typeof create<typeof InsightQuerySpecSchema>>[1]]>([
  ['events', { events: [{ event: ofBots }] }],
  ['filterGroups', { filterGroups: [{ filters }] }],
  ['breakdowns', { breakdowns: [{ property: '$bot' }] }],
  ['session', { session: { scope: ofBots } }],
  ['userFlow', { userFlow: { scope: ofBots } }],
  ['topK', { topK: { scope: ofBots } }],
  ['topK.property', { topK: { property: '$bot' } }],
  ['userFlow.nodeProperty', { userFlow: { nodeProperty: '$bot' } }],
  ['funnel.exclusions', { funnel: { exclusions: [{ event: ofBots }] } }],
  ['flow.from', { flow: { from: ofBots } }],
  ['flow.to', { flow: { to: ofBots } }],
])('says something in %s', (_, members) => {
  const spec: InsightQuerySpec = create(InsightQuerySpecSchema, { insightType, ...members });
  expect(saysOfBots(spec)).toBe(true);
});

it('says nothing where another property is compared', () => {
  const event = { kind: 'page_view', filters: [{ property: 'plan', value: 'true' }] };
  expect(saysOfBots(create(InsightQuerySpecSchema, { insightType, events: [{ event }] }))).toBe(
    false,
  );
});
