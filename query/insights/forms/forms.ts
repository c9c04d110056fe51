// The forms of questions, a file each: what turns a question into a statement, and its rows into a message.

import { invalidArgument } from '../../../platform/http/answers/invalid-argument.ts';
import { InsightType } from '../../../proto/gen/shared/insights/v1/insights_pb.js';
import { checkMembers } from '../read/form-members.ts';
import type { Question } from '../read/question.ts';
import type { Plan } from './plan.ts';
import { planSegmentation } from './series/segmentation.ts';
import { planTrends } from './series/trends.ts';
import { planTopK } from './top/top-k.ts';
import { planFunnel } from './users/funnel/funnel.ts';
import { planLifecycle } from './users/lifecycle.ts';
import { planRetention } from './users/retention.ts';
import { planStickiness } from './users/stickiness.ts';
import { planUserFlow } from './visits/flow/user-flow.ts';
import { planSessions } from './visits/sessions.ts';

/** Throws invalid_argument for a question that its form does not allow. */
export function planOf(question: Question): Plan {
  const { insightType, session } = question.spec;
  checkMembers(question.spec);
  switch (insightType) {
    case InsightType.TRENDS:
      return session === undefined ? planTrends(question) : planSessions(question, 'trends');
    case InsightType.SEGMENTATION:
      return session === undefined
        ? planSegmentation(question)
        : planSessions(question, 'segmentation');
    case InsightType.TOP_K:
      return planTopK(question);
    case InsightType.FUNNEL:
      return planFunnel(question);
    case InsightType.RETENTION:
      return planRetention(question);
    case InsightType.LIFECYCLE:
      return planLifecycle(question);
    case InsightType.STICKINESS:
      return planStickiness(question);
    case InsightType.USER_FLOW:
      return planUserFlow(question);
    case InsightType.UNSPECIFIED:
      throw invalidArgument('spec.insightType', 'is required');
    default: {
      const unknown: never = insightType;
      throw invalidArgument('spec.insightType', `${Number(unknown)} is not a type`);
    }
  }
}
