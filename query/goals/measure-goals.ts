// GoalsService.Measure: the numbers of all goals over a range and the range before, or of one goal by source and page.
// All of them are answers of ordinary questions; a rate divides two of them.

import { create } from '@bufbuild/protobuf';
import { timestampFromMs, timestampMs } from '@bufbuild/protobuf/wkt';
import { Code, ConnectError } from '@connectrpc/connect';
import type { Clock } from '../../platform/clock.ts';
import {
  eventsOfGoal,
  goalQuestion,
  usersQuestion,
  visitsQuestion,
} from '../../platform/goals/goal-question.ts';
import type { WeekStartOf } from '../../platform/zones/weeks.ts';
import {
  type Goal,
  type GoalFigures,
  GoalFiguresSchema,
  type GoalGroup,
  GoalGroupSchema,
  type MeasuredGoal,
  MeasuredGoalSchema,
  type MeasureRequest,
  type MeasureResponse,
  MeasureResponseSchema,
} from '../../proto/gen/dashboard/goals/v1/goals_pb.js';
import {
  Granularity,
  type InsightQuerySpec,
  type QueryResponse,
  type SegmentationSeries,
} from '../../proto/gen/shared/insights/v1/insights_pb.js';
import { boardTime, isAskable, type Range, timeMessage } from '../boards/board-time.ts';
import { checkFilters } from '../boards/check-question.ts';
import { questionOf } from '../boards/question.ts';
import { inTurn } from '../in-turn.ts';
import type { InsightCall, RunQuestion } from '../insights/query-insight.ts';
import { AskedTogether } from '../insights/run/asked-together.ts';
import { earliest } from '../insights/run/insight-runs.ts';

export interface MeasureDeps {
  /** In the order in which they were made. */
  goalsOf: (projectId: string) => readonly Goal[];
  /** The time zone of a project's reports. */
  timezoneOf: (projectId: string) => string;
  weekStartOf: WeekStartOf;
  /** Whether a project has events of bots. */
  hasBots: (projectId: string) => Promise<boolean>;
  clock: Clock;
  run: RunQuestion;
  /** What every question is asked with. */
  call: Pick<InsightCall, 'deadline' | 'standIns' | 'onRead' | 'spend'>;
}

/** As many as a board asks at once. */
const questionsAtOnce = 3;
const groupProperties = { sources: '$referrerDomain', pages: '$pathname' } as const;
const shownGroups = 10;
/** Groups of all visits, among which those of a goal are looked up: as many as a question may have. */
const knownGroups = 100;

/** One question over one range. */
interface Asked {
  name: string;
  range: Range;
  spec: InsightQuerySpec;
}
/** `before` is undefined where it would begin before 1970. */
interface Ranges {
  now: Range;
  before: Range | undefined;
}
type Find = (name: string, range: Range) => QueryResponse | undefined;

/** Throws not_found for a goal that is not there, and what questions throw. */
export async function measureGoals(
  deps: MeasureDeps,
  projectId: string,
  request: MeasureRequest,
): Promise<MeasureResponse> {
  const { filters, goalId, includeCookieless } = request;
  if (filters !== undefined) checkFilters(filters);
  const goals = goalsField(deps.goalsOf(projectId), goalId);
  const timezone = request.timezone === '' ? deps.timezoneOf(projectId) : request.timezone;
  const time = boardTime(
    {
      ...{ timeRange: request.timeRange, granularity: Granularity.UNSPECIFIED, timezone },
      weekStart: deps.weekStartOf(projectId),
    },
    deps.clock.nowMs(),
  );
  const leavesOutBots = request.leaveOutBots && (await deps.hasBots(projectId));
  const board = { filters, includeCookieless, leavesOutBots };
  const ranges = { now: time.range, before: isAskable(time.previous) ? time.previous : undefined };
  const [only] = goalId === '' ? [] : goals;
  const asked =
    goals.length === 0 ? [] : [...figuresAsked(goals, ranges), ...visitsAsked(only, ranges)];
  const requests = asked.map(({ spec, range }) => questionOf(spec, board, time, range));
  const together = new AskedTogether();
  const answers = await inTurn(requests, questionsAtOnce, (one) =>
    deps.run({ ...deps.call, together, projectId, request: one }),
  );
  const find: Find = (name, range) =>
    answers[asked.findIndex((one) => one.name === name && one.range === range)];
  const completeUntilMs = answers.length === 0 ? undefined : earliest(answers.map(untilMs));
  return create(MeasureResponseSchema, {
    goals: goals.map((goal) => measured(goal, ranges, find)),
    time: timeMessage(time),
    ...(completeUntilMs !== undefined && { completeUntil: timestampFromMs(completeUntilMs) }),
  });
}

function goalsField(goals: readonly Goal[], goalId: string): readonly Goal[] {
  if (goalId === '') return goals;
  const named = goals.filter(({ id }) => id === goalId);
  if (named.length === 0) throw new ConnectError('there is no such goal', Code.NotFound);
  return named;
}

function listed({ now, before }: Ranges): Range[] {
  return before === undefined ? [now] : [now, before];
}

function figuresAsked(goals: readonly Goal[], ranges: Ranges): Asked[] {
  return listed(ranges).flatMap((range) => [
    { name: 'users', range, spec: usersQuestion() },
    ...goals.map((goal) => ({ name: `figures ${goal.id}`, range, spec: goalQuestion(goal) })),
  ]);
}

/** What is asked of one goal alone. */
function visitsAsked(goal: Goal | undefined, ranges: Ranges): Asked[] {
  if (goal === undefined) return [];
  const scope = eventsOfGoal(goal);
  const whole = listed(ranges).flatMap((range) => [
    { name: 'visits', range, spec: visitsQuestion(undefined) },
    { name: 'visits of goal', range, spec: visitsQuestion(scope) },
  ]);
  const grouped = Object.entries(groupProperties).flatMap(([name, property]) => {
    const [all, own] = [knownGroups, shownGroups].map((limit) => ({ property, limit }));
    return [
      { name, range: ranges.now, spec: visitsQuestion(undefined, all) },
      { name: `${name} of goal`, range: ranges.now, spec: visitsQuestion(scope, own) },
    ];
  });
  return [...whole, ...grouped];
}

function measured(goal: Goal, { now, before }: Ranges, find: Find): MeasuredGoal {
  const groups = (name: keyof typeof groupProperties): GoalGroup[] =>
    groupsOf(groupProperties[name], find(name, now), find(`${name} of goal`, now));
  return create(MeasuredGoalSchema, {
    goal,
    figures: figures(goal, now, find),
    ...(before !== undefined && { previous: figures(goal, before, find) }),
    ...{ sources: groups('sources'), pages: groups('pages') },
  });
}

function figures(goal: Goal, range: Range, find: Find): GoalFigures {
  const values = seriesOf(find(`figures ${goal.id}`, range)).map(({ value = 0 }) => value);
  const [completions = 0, users = 0, revenue = 0] = values;
  const all = seriesOf(find('users', range))[0]?.value ?? 0;
  const visits = find('visits of goal', range);
  const visitCount = seriesOf(visits)[0]?.value ?? 0;
  return create(GoalFiguresSchema, {
    ...{ completions, users, rate: share(users, all) },
    ...(goal.valueProperty !== '' && { revenue }),
    ...(visits !== undefined && {
      visits: visitCount,
      visitRate: share(visitCount, seriesOf(find('visits', range))[0]?.value ?? 0),
    }),
  });
}

function groupsOf(
  property: string,
  all: QueryResponse | undefined,
  ofGoal: QueryResponse | undefined,
): GoalGroup[] {
  const known = new Map(
    seriesOf(all).flatMap(({ breakdown, isOthers, value = 0 }) =>
      isOthers ? [] : [[breakdown[property], value] as const],
    ),
  );
  return seriesOf(ofGoal).map(({ breakdown, isOthers, value: visits = 0 }) => {
    const value = isOthers ? undefined : breakdown[property];
    const whole = isOthers ? undefined : known.get(value);
    return create(GoalGroupSchema, {
      ...(value !== undefined && { value }),
      ...{ isOthers, visits },
      ...(whole !== undefined && { visitRate: share(visits, whole) }),
    });
  });
}

function seriesOf(answer: QueryResponse | undefined): readonly SegmentationSeries[] {
  return answer?.result.case === 'segmentation' ? answer.result.value.series : [];
}

/** 0 of nothing. */
function share(part: number, whole: number): number {
  return whole === 0 ? 0 : part / whole;
}

function untilMs({ completeUntil }: QueryResponse): number | undefined {
  return completeUntil && timestampMs(completeUntil);
}
