import { create } from '@bufbuild/protobuf';
import { timestampFromDate, timestampFromMs } from '@bufbuild/protobuf/wkt';
import { describe, expect, it } from 'vitest';
import { FilterOperator, PropertyFilterSchema } from '../../proto/gen/common/v1/filter_pb.js';
import {
  BehaviourSchema,
  FirstSeenSchema,
  ProfileListSchema,
  type ProfileTest,
} from '../../proto/gen/dashboard/segments/v1/segments_pb.js';
import { conditionText, missingIn } from './condition-words.ts';
import { conditionOf, groupOf, testOf } from './groups.ts';

const equals = { operator: FilterOperator.EQUALS };
const plan = create(PropertyFilterSchema, { ...equals, property: 'plan', value: 'pro' });
const isPro = testOf({ case: 'trait', value: plan });
const did = (bound: 'atLeast' | 'atMost', value: number, lastDays = 0, kind = 'purchase') =>
  testOf({
    case: 'did',
    value: create(BehaviourSchema, { event: { kind }, times: { case: bound, value }, lastDays }),
  });
const seen = (when: ReturnType<typeof create<typeof FirstSeenSchema>>['when'], negated = false) =>
  testOf({ case: 'firstSeen', value: create(FirstSeenSchema, { when }) }, negated);
/** Midnight in Berlin. */
const november = timestampFromDate(new Date('2026-10-31T23:00:00Z'));
const listed = create(ProfileListSchema, { profileIds: ['a', 'b'] });

describe('a condition in words', () => {
  const text = (...groups: ReturnType<typeof groupOf>[]) =>
    conditionText(conditionOf(groups, true), 'Europe/Berlin');

  it.each<[ProfileTest, string]>([
    [isPro, 'plan is pro'],
    [did('atLeast', 1), 'did purchase at least once'],
    [did('atLeast', 2, 30), 'did purchase at least 2 times in the last 30 days'],
    [did('atMost', 3, 1), 'did purchase at most 3 times in the last day'],
    [did('atMost', 0, 0, ''), 'never did anything'],
    [seen({ case: 'since', value: november }), 'first seen on 1 Nov 2026 or later'],
    [seen({ case: 'before', value: november }), 'first seen before 1 Nov 2026'],
    [seen({ case: 'lastDays', value: 7 }, true), 'not (first seen in the last 7 days)'],
    [testOf({ case: 'listed', value: listed }), 'one of 2 listed users'],
  ])('%# has a test that is read at once', (test, words) => {
    expect(text(groupOf([test]))).toBe(words);
  });

  it('says how tests and groups combine', () => {
    expect(text(groupOf([isPro, isPro], 'any'))).toBe('plan is pro or plan is pro');
    expect(text(groupOf([isPro], 'none'))).toBe('not (plan is pro)');
    expect(text(groupOf([isPro, isPro]), groupOf([did('atMost', 0)]))).toBe(
      '(plan is pro and plan is pro) or never did purchase',
    );
  });
});

describe('what a condition lacks', () => {
  it.each<[ProfileTest, string | RegExp]>([
    [did('atLeast', 0), 'Say how often.'],
    [did('atLeast', 1, -1), 'Say in how many days.'],
    [testOf({ case: 'trait', value: create(PropertyFilterSchema, equals) }), /^Choose the trait/],
    [seen({ case: 'before', value: timestampFromMs(0) }), 'Say when they were first seen.'],
    [seen({ case: 'lastDays', value: 0 }), 'Say when they were first seen.'],
  ])('%# is said', (test, gap) => {
    expect(missingIn(conditionOf([groupOf([isPro]), groupOf([isPro, test])]))).toMatch(gap);
  });

  it('is nothing where all is there; never is a number', () => {
    expect(missingIn(conditionOf([groupOf([isPro, did('atMost', 0)])]))).toBeUndefined();
    expect(missingIn(conditionOf([groupOf([isPro]), groupOf()]))).toBe('Add a condition.');
  });
});
