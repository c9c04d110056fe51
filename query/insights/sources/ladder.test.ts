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
  SessionMetric,
  TopKQuery_Dimension,
} from '../../../proto/gen/shared/insights/v1/insights_pb.js';
import { planOf } from '../forms/forms.ts';
import { type Question, readQuestion } from '../read/question.ts';

const fromMs = Date.UTC(2026, 9, 10);
const toMs = Date.UTC(2026, 9, 20);
const { TRENDS, LIFECYCLE, FUNNEL, RETENTION, USER_FLOW, TOP_K, STICKINESS } = InsightType;

type Request = Exclude<MessageInitShape<typeof QueryRequestSchema>, QueryRequest>;

function questionOf(aggregation: AggregationType, more: Request = {}, event = {}): Question {
  const request = create(QueryRequestSchema, {
    timeRange: { from: timestampFromMs(fromMs), to: timestampFromMs(toMs) },
    spec: { insightType: TRENDS, events: [{ event, aggregation }] },
    ...more,
  });
  return readQuestion('a project', request);
}

/** The statement, and those that keep days of it. */
function planned(question: Question) {
  const { sql, question: made } = planOf(question);
  const text = [sql, ...made.notes.dayCells.flatMap(({ keep }) => keep)].join('\n');
  return { text, served: made.notes.served };
}
/** Why a source refused any need of the question. */
function refusalOf(question: Question, source: string): string | undefined {
  const refused = planned(question).served.flatMap((one) => one.refused);
  return refused.find((one) => one.source === source)?.reason;
}

const pro = { property: 'plan', operator: FilterOperator.EQUALS, value: 'pro' };
const ofPlan = { kind: 'page_view', filters: [pro] };
const ofTrait = { filters: [{ ...pro, source: PropertySource.PROFILE }] };
const asOf = timestampFromMs(toMs);
const minutes: Request = {
  granularity: Granularity.MINUTE,
  timeRange: { from: timestampFromMs(fromMs), to: timestampFromMs(fromMs + 3_600_000) },
};
const { TOTAL, UNIQUE_USERS, PER_USER_AVG } = AggregationType;
const stickiness = questionOf(TOTAL, {
  spec: { insightType: STICKINESS, events: [{ event: ofPlan }] },
});

it.each<[string, Question, string]>([
  ['counts of a kind', questionOf(TOTAL, {}, { kind: 'a' }), 'event_counts'],
  ['counts of two kinds', questionOf(TOTAL, {}, { kinds: ['a', 'b'] }), 'event_counts'],
  ['counts of a plan', questionOf(TOTAL, {}, ofPlan), 'kept_cells'],
  ['users', questionOf(UNIQUE_USERS), 'profile_days'],
  ['users a day of a plan', questionOf(UNIQUE_USERS, {}, ofPlan), 'kept_active_profiles'],
  ['stickiness of a plan', stickiness, 'kept_active_profiles'],
  ['users of a plan by the minute', questionOf(UNIQUE_USERS, minutes, ofPlan), 'events'],
])('%s are read from the table that does not refuse them', (_, question, source) => {
  const { text, served } = planned(question);
  expect(served.map((one) => one.source)).toContain(source);
  expect(text).toContain(`FROM ${source}`);
});

it.each<[Question, string, string]>([
  [questionOf(TOTAL, { asOf }), 'as_of', 'event_counts'],
  [questionOf(TOTAL, {}, ofPlan), 'filters', 'event_counts'],
  [questionOf(TOTAL, minutes), 'buckets cut a quarter', 'event_counts'],
  [questionOf(TOTAL, {}, ofTrait), 'persons decide', 'kept_cells'],
  [questionOf(TOTAL, { ...minutes, asOf }), 'as_of', 'kept_cells'],
  [questionOf(TOTAL, minutes, ofPlan), 'the range has less than two', 'kept_cells'],
  [questionOf(UNIQUE_USERS, {}, { kind: 'a' }), 'kinds', 'profile_days'],
  [questionOf(UNIQUE_USERS, minutes), 'buckets cut', 'profile_days'],
  [questionOf(UNIQUE_USERS, { asOf }, ofPlan), 'as_of', 'kept_active_profiles'],
  [questionOf(PER_USER_AVG), 'numbers of single events', 'profile_days'],
])('%o is not read from a table that refuses it', (question, why, source) => {
  expect(refusalOf(question, source)).toMatch(new RegExp(`^${why}`));
  expect(planned(question).text).not.toContain(`FROM ${source} `);
});

it('who is new is looked up in events where cookieless visitors are users', () => {
  const lifecycle = (includeCookieless: boolean) =>
    questionOf(TOTAL, { spec: { insightType: LIFECYCLE, events: [{}], includeCookieless } });
  const [without, withThem] = [lifecycle(false), lifecycle(true)];
  expect(planned(without).text).toContain('FROM profile_listing');
  expect(refusalOf(without, 'profile_listing')).toBeUndefined();
  expect(refusalOf(withThem, 'profile_listing')).toMatch(/^cookieless visitors/);
  expect(planned(withThem).text).not.toContain('profile_listing');
});

it.each<[string, Exclude<Request['spec'], undefined>, string[]]>([
  ['a funnel', { insightType: FUNNEL, events: [{}, {}] }, ['users in order events']],
  ['ways', { insightType: USER_FLOW, userFlow: {} }, ['ways events']],
  [
    'retention',
    { insightType: RETENTION, events: [{}] },
    ['users profile_days', 'events left out event_counts'],
  ],
  [
    'visits',
    { insightType: TRENDS, session: { metric: SessionMetric.SESSIONS } },
    ['visits visits'],
  ],
  [
    'top users',
    { insightType: TOP_K, topK: { dimension: TopKQuery_Dimension.USER } },
    ['events a user profile_days'],
  ],
])('%s tell where each part of the answer comes from', (_, spec, wanted) => {
  const { served } = planned(questionOf(TOTAL, { spec }));
  const named = served.map(({ need, source }) => `${need} ${source}`);
  for (const one of wanted) expect(named).toContain(one);
});
