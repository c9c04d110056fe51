// InsightsService.Query, and each tile of a board: checks the question, plans it, looks up what the plan asks for, has
// its one statement run (run/), answers. Each form of a question is a file of forms/; docs/insights.md defines their
// results.

import { create } from '@bufbuild/protobuf';
import { timestampFromMs } from '@bufbuild/protobuf/wkt';
import { monday, type WeekStartOf } from '../../platform/zones/weeks.ts';
import { zones } from '../../platform/zones/zones.ts';
import { type TimeRange, TimeRangeSchema } from '../../proto/gen/common/v1/filter_pb.js';
import {
  InsightType,
  LeftOut_Reason,
  type QueryRequest,
  type QueryResponse,
  QueryResponseSchema,
  Touch,
} from '../../proto/gen/shared/insights/v1/insights_pb.js';
import { type Deadline, startDeadline } from '../deadline.ts';
import type { JsonStandIns } from '../json-codec.ts';
import { conditionIn, type FindSegment, findSegments, idsOf } from '../segments/named-segments.ts';
import { type Planned, planOf } from './forms/forms.ts';
import type { LeftOutCount, LookUp } from './forms/plan.ts';
import { isOfUsers } from './forms/revenue/payment-rows.ts';
import { countUsers } from './forms/series/every-touch.ts';
import { comparedRange } from './read/compared-range.ts';
import { bucketsOf } from './read/form-members.ts';
import type { Range, Served } from './read/plan-notes.ts';
import { asksFacts, type Facts } from './read/property-types.ts';
import { type Question, readQuestion, wholeMinuteMs } from './read/question.ts';
import { bucketLabels } from './read/time-buckets.ts';
import { AskedTogether } from './run/asked-together.ts';
import {
  earliest,
  type InsightOptions,
  type InsightRows,
  InsightRuns,
  type Stored,
} from './run/insight-runs.ts';
import { type InsightStatement, maxInsightMs } from './run/run-insight.ts';
import { unlessLeft } from './run/single-flight.ts';
import { rangeOfReads, readStoredVersion } from './run/stored-version.ts';
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

export interface QuestionOptions extends InsightOptions {
  /** The segments of a project; none unless given. */
  findSegment?: FindSegment;
  /** The zone of a project's questions that name none; UTC unless given. */
  timezoneOf?: (projectId: string) => string;
  /** The day that weeks begin on in a project's questions that name none, 1 to 7; Monday unless given. */
  weekStartOf?: WeekStartOf;
}

/** All who run questions share one of these: its turns, its kept rows, and the statements that run. */
export function createRunQuestion(options: QuestionOptions): RunQuestion {
  const runs = new InsightRuns(options);
  const { timezoneOf = () => 'UTC', weekStartOf = () => monday, clock } = options;
  const { findSegment = async () => undefined } = options;
  return async (call) => {
    const { projectId, request } = call;
    options.insightTurns.checkRoom(projectId);
    const timezone = request.timezone === '' ? timezoneOf(projectId) : request.timezone;
    const weekStart = request.weekStart || weekStartOf(projectId);
    const together = call.together ?? new AskedTogether();
    const asked = { ...call, together, request: { ...request, timezone, weekStart } };
    const isCompared = request.spec?.compare;
    const before =
      isCompared && comparedRange(readQuestion(projectId, asked.request), clock.nowMs());
    const answer = await runQuestion(runs, findSegment, asked);
    if (!before) return answer;
    const timeRange = timeRangeOf(before);
    const former = { ...asked, request: { ...asked.request, timeRange } };
    const previous = await runQuestion(runs, findSegment, former);
    return { ...answer, previous: { ...previous, timeRange } };
  };
}

/**
 * Asks for the service itself: nobody's key counts the question, and nobody can leave before the answer. Throws what a
 * question throws; an AbortError where it takes longer than `maxInsightMs`.
 */
export type AskAlone = (projectId: string, request: QueryRequest) => Promise<QueryResponse>;

export function askAlone(run: RunQuestion): AskAlone {
  return (projectId, request) => {
    const { signal } = new AbortController();
    const deadline = startDeadline({ signal, timeoutMs: () => undefined }, maxInsightMs);
    return run({ projectId, request, deadline });
  };
}

function timeRangeOf({ fromMs, toMs }: Range): TimeRange {
  return create(TimeRangeSchema, { from: timestampFromMs(fromMs), to: timestampFromMs(toMs) });
}

/**
 * Planned, bounded, run, read. A statement whose text depends on facts of the project is planned twice: the first plan
 * tells which facts it would like to know, and how many events it reads.
 */
async function runQuestion(
  runs: InsightRuns,
  findSegment: FindSegment,
  call: InsightCall,
): Promise<QueryResponse> {
  const { projectId, request, deadline, standIns, onRead, together = new AskedTogether() } = call;
  const { signal } = deadline;
  const { completeUntilMs: readCompleteUntilMs, log, ladder, clock } = runs.options;
  const checked = readQuestion(projectId, request, standIns);
  const segments = await findSegments(findSegment, projectId, idsOf(checked.spec));
  const asked = {
    ...{ ...checked, conditionOf: conditionIn(segments) },
    ...{ sources: ladder, nowMs: wholeMinuteMs(clock) },
  };
  const firstPlan = planOf(asked);
  // Asked first: a statement may count what is stored meanwhile, and misses nothing from before.
  const completeUntilMs = await together.moments.get('', signal, () =>
    readCompleteUntilMs(projectId),
  );
  const storedFor = ({ question: { notes } }: Planned): Stored => {
    const range = rangeOfReads(notes.reads);
    const key = `${range.fromMs} ${range.toMs}`;
    const stored =
      together.stored.get(key) ?? runs.stored(projectId, range, completeUntilMs, notes.properties);
    together.stored.set(key, stored);
    return stored;
  };
  await checkWork(asked, () => storedFor(firstPlan).seen(), deadline);
  const facts = await factsOf(runs, call, firstPlan, storedFor(firstPlan), together);
  const plan = facts === undefined ? firstPlan : planOf(asked, facts);
  const { question } = plan;
  const sources = sourcesOf(question);
  log?.debug({ projectId, sources }, 'a question is planned');
  const asker = { ...call, together: together.token };
  const { parts, rows } = await readParts(plan, (lookUp) =>
    runs.rows(asker, storedFor(plan), statementOf(question, lookUp), deadline),
  );
  onRead?.(parts.reduce((sum, { characters }) => sum + characters, 0));
  const untilMs = earliest(parts.map((part) => part.completeUntilMs));
  // What the broker does not tell, nobody knows.
  const knownMs = Math.min(untilMs ?? Number.NEGATIVE_INFINITY, question.asOfMs ?? Infinity);
  const { result, leftOut } = plan.read(rows, knownMs);
  return create(QueryResponseSchema, {
    result,
    ...(untilMs !== undefined && { completeUntil: timestampFromMs(untilMs) }),
    leftOut: [...added(leftOut), ...olderLeftOut(question, runs.options.retainedFrom?.(projectId))],
    identitiesAreCurrent: question.asOfMs !== undefined,
    sources: request.explain ? sources : [],
    ...zoneOf(asked),
    touch: touchOf(question),
    segments: [...segments.values()].map(({ id, displayName }) => ({ id, displayName })),
  });
}

/** The rows of a plan's statement, then those of its look-ups, each of which is made of the rows until then. */
async function readParts(
  { sql, maxRows, lookUps = [] }: Planned,
  ask: (lookUp: LookUp) => Promise<InsightRows>,
): Promise<{ parts: InsightRows[]; rows: unknown[][] }> {
  const parts = [await ask({ sql, maxRows })];
  const rows = parts.flatMap(rowsOf);
  for (const lookUp of lookUps) {
    const next = lookUp(rows);
    if (next === undefined) continue;
    const found = await ask(next);
    parts.push(found);
    rows.push(...rowsOf(found));
  }
  return { parts, rows };
}

/** What planning would have liked to know, with what was stored where that tells it; undefined for nothing. */
async function factsOf(
  runs: InsightRuns,
  { projectId, deadline }: InsightCall,
  { question: { notes } }: Planned,
  stored: Stored,
  together: AskedTogether,
): Promise<Facts | undefined> {
  if (!asksFacts(notes)) return undefined;
  const { signal } = deadline;
  const properties = [...notes.properties];
  const look = async () => {
    const seen = properties.every((property) => stored.properties.has(property))
      ? unlessLeft(stored.seen(), signal)
      : readStoredVersion(
          runs.smallReads(projectId),
          projectId,
          stored.range,
          deadline,
          properties,
        );
    return (await seen).facts;
  };
  return together.facts.get(JSON.stringify(properties), signal, look);
}

/** Where breakdowns count users, which groups a user counts in. */
function touchOf({ spec, breakdowns }: Question): Touch {
  const { insightType, events, touch } = spec;
  const { REVENUE, TRENDS, SEGMENTATION } = InsightType;
  if (breakdowns.length === 0) return Touch.UNSPECIFIED;
  // Payments are in the groups of their own values.
  if (insightType === REVENUE) return events.some(isOfUsers) ? Touch.EVERY : Touch.UNSPECIFIED;
  const isOfValues = insightType === TRENDS || insightType === SEGMENTATION;
  if (isOfValues && !countUsers(events)) return Touch.UNSPECIFIED;
  return touch === Touch.EVERY ? Touch.EVERY : Touch.FIRST;
}

/** Each need once. */
function sourcesOf({ notes }: Question): Served[] {
  const byText = new Map(notes.served.map((one) => [JSON.stringify(one), one]));
  return [...byText.values()];
}

/** The zone and the weeks of the question, and what its clock shows. */
function zoneOf({ timezone, weekStart, buckets, spec }: Question) {
  const areTimed = bucketsOf(spec) === 'timed';
  const differFromMs = zones.differFromMs(timezone);
  const { used: version, package: packageVersion, node: nodeVersion } = zones.versions;
  return {
    ...{ timezone, weekStart },
    bucketLabels: areTimed ? bucketLabels(timezone, buckets) : [],
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
function statementOf(question: Question, { sql, maxRows }: LookUp): InsightStatement {
  const { bindings, notes } = question;
  const statement = { sql, maxRows, params: { ...bindings.params } };
  const days = notes.dayCells.length === 0 ? undefined : daysOfQuestion(question);
  if (days === undefined) return statement;
  // Two series may have the same cells.
  const unlike = new Map(notes.dayCells.map((cells) => [cells.key, cells]));
  return { ...statement, kept: { ...days, cells: [...unlike.values()] } };
}

/** Says from when on events are counted, where the range that was asked for begins before. */
function olderLeftOut({ asked }: Question, retainedFromMs: number | undefined) {
  if (retainedFromMs === undefined || asked.fromMs >= retainedFromMs) return [];
  const { OLDER_THAN_RETENTION: reason } = LeftOut_Reason;
  return [{ reason, count: 0n, before: timestampFromMs(retainedFromMs) }];
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
