// Which tables a question's statement reads, and why it leaves out those above.

import { create, type MessageInitShape } from '@bufbuild/protobuf';
import { timestampFromMs } from '@bufbuild/protobuf/wkt';
import { expect, it } from 'vitest';
import { FilterOperator, PropertySource } from '../../../proto/gen/common/v1/filter_pb.js';
import {
  AggregationType,
  Granularity,
  InsightType,
  type QueryRequest,
  QueryRequestSchema,
} from '../../../proto/gen/shared/insights/v1/insights_pb.js';
import { eventCondition } from '../events/event-condition.ts';
import { planOf } from '../query-insight.ts';
import { type Question, readQuestion } from '../question/question.ts';
import {
  needOf,
  refusesDayCells,
  refusesEventCounts,
  refusesFirstSeen,
  refusesKeptProfileDays,
  refusesProfileDays,
} from './refusals.ts';

const fromMs = Date.UTC(2026, 9, 10);
const toMs = Date.UTC(2026, 9, 20);
const { TRENDS, LIFECYCLE } = InsightType;

type Request = Exclude<MessageInitShape<typeof QueryRequestSchema>, QueryRequest>;

function questionOf(aggregation: AggregationType, more: Request = {}, event = {}): Question {
  const request = create(QueryRequestSchema, {
    timeRange: { from: timestampFromMs(fromMs), to: timestampFromMs(toMs) },
    spec: { insightType: TRENDS, events: [{ event, aggregation }] },
    ...more,
  });
  return readQuestion('a project', request);
}

const of = (question: Question) => {
  const event = question.spec.events[0]?.event;
  return needOf(question, eventCondition(event, '', question));
};
/** The statement, and those that keep days of it. */
function textsOf(question: Question): string {
  const { sql } = planOf(question);
  return [sql, ...question.dayCells.flatMap(({ keep }) => keep)].join('\n');
}

const pro = { property: 'plan', operator: FilterOperator.EQUALS, value: 'pro' };
const ofPlan = { kind: 'page_view', filters: [pro] };
const ofTrait = { filters: [{ ...pro, source: PropertySource.PROFILE }] };
const asOf = timestampFromMs(toMs);
const minutes: Request = {
  granularity: Granularity.MINUTE,
  timeRange: { from: timestampFromMs(fromMs), to: timestampFromMs(fromMs + 3_600_000) },
};
const { TOTAL, UNIQUE_USERS } = AggregationType;

it.each<[string, Question, (question: Question) => string | undefined, string]>([
  ['counts of a kind', questionOf(TOTAL, {}, { kind: 'a' }), counts, 'FROM event_counts'],
  ['counts of a plan', questionOf(TOTAL, {}, ofPlan), cells, 'FROM kept_cells'],
  ['users', questionOf(UNIQUE_USERS), profileDays, 'FROM profile_days'],
  ['users of a plan', questionOf(UNIQUE_USERS, {}, ofPlan), kept, 'FROM kept_profile_days'],
])('%s are read from the table that does not refuse them', (_, question, refusal, read) => {
  expect(refusal(question)).toBeUndefined();
  expect(textsOf(question)).toContain(read);
});

it.each<[Question, (question: Question) => string | undefined, string, string]>([
  [questionOf(TOTAL, { asOf }), counts, 'as_of', 'event_counts'],
  [questionOf(TOTAL, {}, ofPlan), counts, 'filters', 'event_counts'],
  [questionOf(TOTAL, minutes), counts, 'buckets cut a quarter', 'event_counts'],
  [questionOf(TOTAL, {}, ofTrait), cells, 'persons decide', 'kept_cells'],
  [questionOf(TOTAL, { ...minutes, asOf }), cells, 'as_of', 'kept_cells'],
  [questionOf(TOTAL, minutes, ofPlan), cells, 'the range has less than two', 'kept_cells'],
  [questionOf(UNIQUE_USERS, {}, { kind: 'a' }), profileDays, 'kinds', 'FROM profile_days'],
  [questionOf(UNIQUE_USERS, minutes), profileDays, 'buckets cut', 'profile_days'],
  [questionOf(UNIQUE_USERS, { asOf }, ofPlan), kept, 'as_of', 'kept_profile_days'],
  [questionOf(UNIQUE_USERS), kept, 'a table of sums has it', 'kept_profile_days'],
])('%o is not read from a table that refuses it', (question, refusal, why, table) => {
  expect(refusal(question)).toMatch(new RegExp(`^${why}`));
  expect(textsOf(question)).not.toContain(table);
});

it('who is new is looked up in events where cookieless visitors are users', () => {
  const lifecycle = (includeCookieless: boolean) =>
    questionOf(TOTAL, { spec: { insightType: LIFECYCLE, events: [{}], includeCookieless } });
  const [without, withThem] = [lifecycle(false), lifecycle(true)];
  expect(refusesFirstSeen(of(without), false)).toBeUndefined();
  expect(textsOf(without)).toContain('FROM profile_listing');
  expect(refusesFirstSeen(of(withThem), true)).toMatch(/^cookieless visitors/);
  expect(textsOf(withThem)).not.toContain('profile_listing');
});

function counts(question: Question): string | undefined {
  return refusesEventCounts(of(question));
}
function cells(question: Question): string | undefined {
  return refusesDayCells(of(question));
}
function profileDays(question: Question): string | undefined {
  return refusesProfileDays(of(question));
}
function kept(question: Question): string | undefined {
  return refusesKeptProfileDays(of(question));
}
