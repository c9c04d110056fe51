import { fromJson, type JsonObject } from '@bufbuild/protobuf';
import { expect, it } from 'vitest';
import { QueryRequestSchema } from '../../../proto/gen/shared/insights/v1/insights_pb.js';
import { readQuestion } from '../read/question.ts';
import { tooMuchWork } from './work-bound.ts';

const timeRange = { from: '2026-01-01T00:00:00Z', to: '2026-01-31T00:00:00Z' };

function refusalOf(spec: JsonObject, events: number): string | undefined {
  const request = fromJson(QueryRequestSchema, { spec, timeRange });
  return tooMuchWork(readQuestion('prj', request), events)?.message;
}

const steps = (count: number) => Array.from({ length: count }, () => ({ event: { kind: 'k' } }));
const by = (count: number) => Array.from({ length: count }, (_, n) => ({ property: `p${n}` }));

it('bounds the events of a range by steps and breakdowns, and says what to narrow', () => {
  const dearest = { insightType: 'INSIGHT_TYPE_FUNNEL', events: steps(20), breakdowns: by(5) };
  expect(refusalOf(dearest, 4_166_666)).toBeUndefined();
  expect(refusalOf(dearest, 4_166_667)).toBe(
    '[resource_exhausted] spec.events: 20 entries by 5 breakdowns take at most 4166666 events in timeRange, which has 4166667: ask for fewer, or for a shorter range',
  );
});

it('bounds the hops of a flow by a property', () => {
  const flow = { nodeKind: 'NODE_KIND_PROPERTY', nodeProperty: 'p', maxHops: 10 };
  const spec = { insightType: 'INSIGHT_TYPE_USER_FLOW', userFlow: flow };
  expect(refusalOf(spec, 25_000_000)).toBeUndefined();
  expect(refusalOf(spec, 25_000_001)).toContain('spec.userFlow.maxHops: 10 hops by a property');
});

it('asks for no count where a form is usual', () => {
  const usual = { insightType: 'INSIGHT_TYPE_FUNNEL', events: steps(5), breakdowns: by(1) };
  expect(refusalOf(usual, Number.MAX_SAFE_INTEGER)).toBeUndefined();
});
