// The forms of questions, a file each: what turns a question into a statement, and its rows into a message.

import { invalidArgument } from '../../../platform/http/answers/invalid-argument.ts';
import { InsightType } from '../../../proto/gen/shared/insights/v1/insights_pb.js';
import { both } from '../read/event-condition.ts';
import { checkMembers } from '../read/form-members.ts';
import { createNotes } from '../read/plan-notes.ts';
import { type Facts, noFacts } from '../read/property-types.ts';
import type { Question } from '../read/question.ts';
import { memberSql } from '../segments/membership.ts';
import { inSegments } from '../sql/persons.ts';
import type { Plan } from './plan.ts';
import { planRevenue } from './revenue/revenue.ts';
import { withEarlierBuckets } from './series/moving-average.ts';
import { planTopK } from './top/top-k.ts';
import { planFunnel } from './users/funnel/funnel.ts';
import { planLifecycle } from './users/lifecycle.ts';
import { planRetention } from './users/retention.ts';
import { planStickiness } from './users/stickiness.ts';
import { planSegmentation, planTrends } from './values.ts';
import { planUserFlow } from './visits/flow/user-flow.ts';

/** A plan, and the question as it was planned: with the values that are bound to it, and what planning has noted. */
export interface Planned extends Plan {
  question: Question;
}

/** Each plan has bindings and notes of its own. Throws invalid_argument for a question that its form does not allow. */
export function planOf(asked: Question, facts: Facts = noFacts): Planned {
  checkMembers(asked.spec);
  const notes = createNotes();
  const planned: Question = {
    ...withEarlierBuckets(asked),
    ...{ notes, bindings: asked.bindings.fork() },
    typesOf: (property) => {
      notes.properties.add(property);
      return facts.types?.get(property);
    },
    hasDeletions: () => {
      notes.asksDeletions = true;
      return facts.hasDeletions;
    },
    memberSql: (id) => memberSql(planned, id),
  };
  const question = { ...planned, everyEvent: both(asked.everyEvent, inSegments(planned)) };
  return { ...forms[asked.spec.insightType](question), question };
}

/** A form without a line here does not compile. */
const forms: Readonly<Record<InsightType, (question: Question) => Plan>> = {
  [InsightType.TRENDS]: planTrends,
  [InsightType.SEGMENTATION]: planSegmentation,
  [InsightType.TOP_K]: planTopK,
  [InsightType.FUNNEL]: planFunnel,
  [InsightType.RETENTION]: planRetention,
  [InsightType.LIFECYCLE]: planLifecycle,
  [InsightType.STICKINESS]: planStickiness,
  [InsightType.USER_FLOW]: planUserFlow,
  [InsightType.REVENUE]: planRevenue,
  [InsightType.UNSPECIFIED]: () => {
    throw invalidArgument('spec.insightType', 'is required');
  },
};
