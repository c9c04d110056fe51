// InsightsService.Query, and each tile of a board: checks the question, has its one statement run (run/), answers. Each
// form of a question is a file beside this one; docs/insights.md defines their results.

import { create } from '@bufbuild/protobuf';
import { timestampFromMs } from '@bufbuild/protobuf/wkt';
import { Code, ConnectError } from '@connectrpc/connect';
import {
  InsightType,
  type QueryRequest,
  type QueryResponse,
  QueryResponseSchema,
} from '../../proto/gen/shared/insights/v1/insights_pb.js';
import type { Deadline } from '../deadline.ts';
import type { JsonStandIns } from '../json-codec.ts';
import type { LeftOutCount, Plan } from './plan.ts';
import { type Question, readQuestion } from './question/question.ts';
import { InsightRuns, type InsightSources } from './run/insight-runs.ts';
import { rangeOf } from './run/stored-version.ts';
import { planSegmentation } from './segmentation.ts';
import { planTrends } from './trends.ts';

export interface InsightCall {
  projectId: string;
  request: QueryRequest;
  deadline: Deadline;
  /** Absent where the answer is binary. */
  standIns?: JsonStandIns | undefined;
  /** Told how many characters the rows have, kept ones too. */
  onRead?: (characters: number) => void;
}

/** Throws invalid_argument that names the field, and resource_exhausted for a question that needs too much. */
export type RunQuestion = (call: InsightCall) => Promise<QueryResponse>;

/** All who run questions share one of these: its turns, its kept rows, and the statements that run. */
export function createRunQuestion(sources: InsightSources): RunQuestion {
  const runs = new InsightRuns(sources);
  return (call) => runQuestion(runs, call);
}

async function runQuestion(
  runs: InsightRuns,
  { projectId, request, deadline, standIns, onRead }: InsightCall,
): Promise<QueryResponse> {
  const question = readQuestion(projectId, request, standIns);
  const { sql, maxRows, read } = planOf(question);
  const statement = { sql, maxRows, params: question.bindings.params };
  const answered = await runs.rows(projectId, rangeOf(question), statement, deadline);
  onRead?.(answered.characters);
  const { result, leftOut } = read(answered.texts.map((text) => JSON.parse(text)));
  const { completeUntilMs } = answered;
  return create(QueryResponseSchema, {
    result,
    ...(completeUntilMs !== undefined && { completeUntil: timestampFromMs(completeUntilMs) }),
    leftOut: added(leftOut),
    identitiesAreCurrent: question.asOfMs !== undefined,
  });
}

function planOf(question: Question): Plan {
  const { insightType } = question.spec;
  switch (insightType) {
    case InsightType.TRENDS:
      return planTrends(question);
    case InsightType.SEGMENTATION:
      return planSegmentation(question);
    default:
      throw new ConnectError(`${InsightType[insightType]} is not served yet`, Code.Unimplemented);
  }
}

/** One entry for each reason that left something out. */
function added(counts: readonly LeftOutCount[]) {
  const sums = new Map<LeftOutCount['reason'], number>();
  for (const { reason, count } of counts) sums.set(reason, (sums.get(reason) ?? 0) + count);
  return [...sums]
    .filter(([, count]) => count > 0)
    .sort(([one], [other]) => one - other)
    .map(([reason, count]) => ({ reason, count: BigInt(count) }));
}
