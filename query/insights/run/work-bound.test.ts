import { fromJson, type JsonObject } from '@bufbuild/protobuf';
import { expect, it } from 'vitest';
import {
  type Condition,
  ConditionSchema,
} from '../../../proto/gen/dashboard/segments/v1/segments_pb.js';
import { QueryRequestSchema } from '../../../proto/gen/shared/insights/v1/insights_pb.js';
import { readQuestion } from '../read/question.ts';
import { tooMuchWork } from './work-bound.ts';

const timeRange = { from: '2026-01-01T00:00:00Z', to: '2026-01-31T00:00:00Z' };

function refusalOf(spec: JsonObject, events: number): string | undefined {
  const request = fromJson(QueryRequestSchema, { spec, timeRange });
  return tooMuchWork({ ...readQuestion('prj', request), conditionOf }, events)?.message;
}

/** A segment of so many tests of events as its id begins with, besides a trait's. */
const idOf = (tests: number): string =>
  `${String(tests).padStart(8, '0')}-0000-4000-8000-000000000000`;
function conditionOf(id: string): Condition {
  const did = { event: { kind: 'buy' }, atLeast: 1 };
  const tests = Array.from({ length: Number(id.slice(0, 8)) }, (_, place) =>
    place % 2 === 0 ? { did } : { firstSeen: { lastDays: 3 } },
  );
  const trait = { property: 'plan', operator: 'FILTER_OPERATOR_IS_SET' };
  return fromJson(ConditionSchema, { groups: [{ tests: [...tests, { trait }] }] });
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

it('bounds the tests of segments, which each series has looked up', () => {
  const spec = {
    insightType: 'INSIGHT_TYPE_SEGMENTATION',
    events: steps(2),
    ...{ segments: [idOf(3), idOf(15)], notInSegments: [idOf(7)] },
    breakdowns: [{ property: `segment.${idOf(0)}` }],
  };
  // Two entries by a breakdown are 4, and 25 tests for each of them 50.
  expect(refusalOf(spec, 9_259_259)).toBeUndefined();
  expect(refusalOf(spec, 9_259_260)).toBe(
    '[resource_exhausted] spec.segments[1]: 2 entries with 25 tests of segments take at most 9259259 events in timeRange, which has 9259260: ask for fewer, or for a shorter range',
  );
  const split = { ...spec, segments: [], breakdowns: [{ property: `segment.${idOf(20)}` }] };
  expect(refusalOf(split, 100_000_000)).toContain('spec.breakdowns[0].property: 2 entries with 27');
});

it('adds few tests to a dear form, which stays what to ask less of', () => {
  const dear = { insightType: 'INSIGHT_TYPE_FUNNEL', events: steps(20), breakdowns: by(5) };
  expect(refusalOf({ ...dear, segments: [idOf(2)] }, 3_125_000)).toBeUndefined();
  expect(refusalOf({ ...dear, segments: [idOf(2)] }, 3_125_001)).toContain('spec.events: 20');
});

it('asks for no count where segments have few tests, or look at no events', () => {
  const usual = { insightType: 'INSIGHT_TYPE_TRENDS', events: steps(1) };
  const few = { ...usual, segments: [idOf(4)], notInSegments: [idOf(5), idOf(0)] };
  expect(refusalOf(few, Number.MAX_SAFE_INTEGER)).toBeUndefined();
});
