// InsightsService.Query, and each tile of a board: checks the question, has its one statement run (run/), answers. Each
// form of a question is a file of forms/; docs/insights.md defines their results.

import { create } from '@bufbuild/protobuf';
import { timestampFromMs } from '@bufbuild/protobuf/wkt';
import { zones } from '../../platform/zones/zones.ts';
import {
  type QueryRequest,
  type QueryResponse,
  QueryResponseSchema,
} from '../../proto/gen/shared/insights/v1/insights_pb.js';
import type { Deadline } from '../deadline.ts';
import type { JsonStandIns } from '../json-codec.ts';
import { planOf } from './forms/forms.ts';
import type { Answer, LeftOutCount, LookUp } from './forms/plan.ts';
import type { Served } from './read/plan-notes.ts';
import { type Question, readQuestion } from './read/question.ts';
import { bucketLabels } from './read/time-buckets.ts';
import { AskedTogether } from './run/asked-together.ts';
import { factsOf } from './run/facts.ts';
import {
  earliest,
  type InsightRows,
  InsightRuns,
  type InsightSources,
  keyOf,
  type Stored,
} from './run/insight-runs.ts';
import { type InsightStatement, needsTooMuch } from './run/run-insight.ts';
import { rangeOf, rangeOfAll } from './run/stored-version.ts';
import { checkWork } from './run/work-bound.ts';
import { daysOfQuestion } from './sources/day-cells.ts';

export interface InsightCall {
  projectId: string;
  request: QueryRequest;
  deadline: Deadline;
  /** Absent where the answer is binary. */
  standIns?: JsonStandIns | undefined;
  /** Told how many characters the rows have, kept ones too. */
  onRead?: (characters: number) => void;
  /** Told the milliseconds that each statement of the question was at the engine. */
  spend?: (engineMs: number) => void;
  /** Of one project and moment; absent for a question on its own. */
  together?: AskedTogether;
}

/** Throws invalid_argument that names the field, and resource_exhausted for a question that needs too much. */
export type RunQuestion = (call: InsightCall) => Promise<QueryResponse>;

export interface QuestionSources extends InsightSources {
  /** The zone of a project's questions that name none; UTC unless given. */
  timezoneOf?: (projectId: string) => string;
}

/** All who run questions share one of these: its turns, its kept rows, and the statements that run. */
export function createRunQuestion(sources: QuestionSources): RunQuestion {
  const runs = new InsightRuns(sources);
  const { timezoneOf = () => 'UTC' } = sources;
  return async (call) => {
    const { projectId, request } = call;
    sources.insightTurns.checkRoom(projectId);
    const timezone = request.timezone === '' ? timezoneOf(projectId) : request.timezone;
    return runQuestion(runs, { ...call, request: { ...request, timezone } });
  };
}

async function runQuestion(runs: InsightRuns, call: InsightCall): Promise<QueryResponse> {
  const { projectId, request, deadline, standIns, together = new AskedTogether() } = call;
  const own = readQuestion(projectId, request, standIns);
  await checkWork(own, () => runs.stored(projectId, rangeOf(own)), deadline);
  const beside = together.questions(projectId);
  const range = rangeOfAll([own, ...beside]);
  const look = (): Promise<Stored> => runs.stored(projectId, range);
  const stored = await together.stored.get(`${range.fromMs} ${range.toMs}`, deadline.signal, look);
  const facts = await factsOf([own, ...beside], { runs, stored, together, deadline });
  const others = beside.map((other) => ({ ...other, ...facts, served: undefined }));
  // Planning a question binds values to it: each plan reads it anew.
  const readBeside: ReadBeside = (asked) => ({
    ...readQuestion(projectId, request, standIns),
    ...{ ...facts, beside: asked },
  });
  return answerQuestion(runs, { ...call, together }, readBeside, others, stored);
}

/** The question, among those that its statement may answer with it. */
type ReadBeside = (beside: readonly Question[]) => Question;

async function answerQuestion(
  runs: InsightRuns,
  call: Required<Pick<InsightCall, 'together'>> & InsightCall,
  readBeside: ReadBeside,
  beside: readonly Question[],
  stored: Stored,
): Promise<QueryResponse> {
  const { projectId, deadline, onRead, together } = call;
  const question = readBeside(beside);
  const { joint, lookUps = [], read, ...first } = planOf(question);
  const sources = sourcesOf(question);
  runs.log?.debug({ projectId, sources }, 'a question is planned');
  const statement = statementOf(joint ?? question, first);
  const run = (): Promise<InsightRows> => runs.rows(call, stored, statement, deadline);
  // The rows of other statements are not held while the rest is asked.
  const answered = await (joint === undefined
    ? run()
    : together.rows
        .get(keyOf(projectId, statement), deadline.signal, run)
        .catch((error: unknown) => {
          if (beside.length > 0 && needsTooMuch(error)) return undefined;
          throw error;
        }));
  // What needs too much together may not need it alone.
  if (answered === undefined) return answerQuestion(runs, call, readBeside, [], stored);
  const parts = [answered];
  const rows = rowsOf(answered);
  for (const lookUp of lookUps) {
    const next = lookUp(rows);
    if (next === undefined) continue;
    const found = await runs.rows(call, stored, statementOf(question, next), deadline);
    parts.push(found);
    rows.push(...rowsOf(found));
  }
  onRead?.(parts.reduce((sum, { characters }) => sum + characters, 0));
  const { result, leftOut } = read(rows);
  const completeUntilMs = earliest(parts.map((part) => part.completeUntilMs));
  return create(QueryResponseSchema, {
    result,
    ...(completeUntilMs !== undefined && { completeUntil: timestampFromMs(completeUntilMs) }),
    leftOut: added(leftOut),
    identitiesAreCurrent: question.asOfMs !== undefined,
    sources: call.request.explain ? sources : [],
    ...zoneOf(question, result),
  });
}

/** Each need once. */
function sourcesOf({ served = [] }: Question): Served[] {
  const byText = new Map(served.map((one) => [JSON.stringify(one), one]));
  return [...byText.values()];
}

/** The zone of the question, and what its clock shows. */
function zoneOf({ timezone, buckets }: Question, { case: form }: Answer['result']) {
  const isOfTime = form === 'trends' || form === 'retention' || form === 'lifecycle';
  const differFromMs = zones.differFromMs(timezone);
  const { used: version, package: packageVersion, node: nodeVersion } = zones.versions;
  return {
    timezone,
    bucketLabels: isOfTime ? bucketLabels(timezone, buckets) : [],
    ...(differFromMs !== undefined && {
      zoneRules: {
        ...{ version, packageVersion, nodeVersion },
        differFrom: timestampFromMs(differFromMs),
      },
    }),
  };
}

function rowsOf({ texts }: Pick<InsightRows, 'texts'>): unknown[][] {
  return texts.map((text) => JSON.parse(text));
}

/** A copy of the parameters: a look-up binds more. */
function statementOf(
  question: Question,
  { sql, maxRows, isCheap = false }: LookUp,
): InsightStatement {
  const { bindings, dayCells } = question;
  const statement = { sql, maxRows, isCheap, params: { ...bindings.params } };
  const days = dayCells.length === 0 ? undefined : daysOfQuestion(question);
  if (days === undefined) return statement;
  // Two series may have the same cells.
  const unlike = new Map(dayCells.map((cells) => [cells.keys.join(), cells]));
  return {
    ...statement,
    kept: { ...days, cells: [...unlike.values()] },
  };
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
