// The methods of the read services: each with its handler, the limit on reads, the deadline, and the one place where a
// failure becomes an answer.
// CONTRIBUTING.md has the recipe of a new method.

import type { ConnectRouter, HandlerContext } from '@connectrpc/connect';
import type { Log } from '../platform/log.ts';
import type { RenderPeriod } from '../platform/reports/rendered-period.ts';
import { monday, type WeekStartOf } from '../platform/zones/weeks.ts';
import { type Goal, GoalsService } from '../proto/gen/dashboard/goals/v1/goals_pb.js';
import { SegmentsService } from '../proto/gen/dashboard/segments/v1/segments_pb.js';
import { ActivityService } from '../proto/gen/shared/activity/v1/activity_pb.js';
import { InsightsService } from '../proto/gen/shared/insights/v1/insights_pb.js';
import { ProfilesService } from '../proto/gen/shared/profiles/v1/profiles_pb.js';
import { registerActivity } from './activity/register-activity.ts';
import { type BoardOptions, defaultMaxRenderMs, registerBoards } from './boards/register-boards.ts';
import {
  type CallOptions,
  type Reader,
  read,
  readLimits,
  readStream,
  startCall,
} from './calls/read-call.ts';
import { openReadGroups, type ReadGroupOptions } from './calls/read-groups.ts';
import { defaultMaxReadMs } from './deadline.ts';
import { measureGoals } from './goals/measure-goals.ts';
import { segmentUsers } from './insights/persons/segment-users.ts';
import { type AskAlone, askAlone, type RunQuestion } from './insights/query-insight.ts';
import { maxInsightMs } from './insights/run/run-insight.ts';
import { answerOptions } from './json-codec.ts';
import { type CredentialEnd, defaultStreamBounds, OpenStreams } from './open-streams.ts';
import { type OperatorOptions, registerOperator } from './operator/register-operator.ts';
import {
  type ProfileChangeOptions,
  registerProfileChanges,
} from './profiles/changes/register-changes.ts';
import { getProfile, getProfileByExternalId } from './profiles/get-profile.ts';
import { listProfiles } from './profiles/list-profiles.ts';
import { getFilterSchema } from './schema/filter-schema.ts';
import { getPropertyValues } from './schema/property-values.ts';
import { hasBots } from './schema/seen-visitors.ts';
import { countProfiles } from './segments/count-profiles.ts';
import type { FindSegment } from './segments/named-segments.ts';
import { systemTimer } from './timer.ts';
import { ingestHealth } from './watch/ingest-health.ts';
import type { LiveViews } from './watch/live-views.ts';
import { viewerBounds, watchEvents } from './watch/watch-events.ts';

interface QueryOptions extends ReadGroupOptions, ProfileChangeOptions {
  log: Log;
  readerOf: (context: HandlerContext) => Reader;
  /** Asked again and again while a stream is open; without it a stream outlives its credential. */
  credentialEndOf?: (context: HandlerContext) => CredentialEnd;
  /** Without them there are no methods Watch and IngestHealth. */
  live?: LiveViews;
  /** Whether callers are looked up; undefined where this process takes no events. */
  looksUpPlaces?: boolean;
  /** Reads per second of one key, and its reads at once; 0 switches the limit off. */
  readsPerSecond: number;
  /** The time limit of one read; 10 s unless given. */
  maxReadMs?: number;
  /** The time limit of one question; 30 s unless given. */
  maxQuestionMs?: number;
  /** Made unless given. */
  streams?: OpenStreams;
  /** Without it no dashboard is rendered. */
  boards?: BoardOptions;
  /** The goals of a project; without them none is measured. */
  goalsOf?: (projectId: string) => readonly Goal[];
  /** Without it there is no OperatorService. */
  operator?: OperatorOptions;
}

/** Shared by all calls of the process. */
interface Shared extends QueryOptions, CallOptions {
  findSegment: FindSegment;
  weekStartOf: WeekStartOf;
  maxReadMs: number;
  streams: OpenStreams;
}

/** What the service asks by itself. */
export interface OwnQuestions {
  ask: AskAlone;
  /** Undefined where no dashboard is rendered. */
  renderPeriod: RenderPeriod | undefined;
}

/**
 * Registers ProfilesService, ActivityService, InsightsService and OperatorService, and the methods that render
 * dashboards, measure goals and count segments. Returns how the service asks a question and renders a dashboard by
 * itself.
 */
export function registerQuery(router: ConnectRouter, options: QueryOptions): OwnQuestions {
  const { clock, readsPerSecond, ownerOf } = options;
  const shared = {
    findSegment: async () => undefined,
    weekStartOf: () => monday,
    maxReadMs: defaultMaxReadMs,
    streams: new OpenStreams(defaultStreamBounds, systemTimer, ownerOf),
    ...options,
    groups: openReadGroups(options),
    ...readLimits(readsPerSecond, clock),
  };
  registerProfiles(router, shared);
  const own = registerInsights(router, shared);
  registerSchema(router, shared);
  registerActivity(router, shared);
  if (shared.live !== undefined) registerLive(router, shared, shared.live);
  if (shared.operator !== undefined) registerOperator(router, shared, shared.operator);
  return own;
}

function registerLive(router: ConnectRouter, shared: Shared, live: LiveViews): void {
  const { watch, ingestHealth: health } = ActivityService.method;
  const { clock, log } = shared;
  const viewers = new OpenStreams(viewerBounds, systemTimer, shared.ownerOf);
  router.rpc(
    watch,
    (request, context) =>
      readStream({ ...shared, streams: viewers }, context, ({ projectId }) =>
        watchEvents({ feed: live.feed, clock, log }, projectId, request),
      ),
    answerOptions,
  );
  router.rpc(
    health,
    (request, context) =>
      read(shared, 'look-up', context, ({ projectId, clickhouse }, deadline) =>
        ingestHealth({ clickhouse, live, clock }, projectId, request, deadline),
      ),
    answerOptions,
  );
}

function registerProfiles(router: ConnectRouter, shared: Shared): void {
  const { get, getByExternalId, list } = ProfilesService.method;
  router.rpc(
    get,
    (request, context) =>
      read(shared, 'look-up', context, ({ projectId, clickhouse, standIns }, deadline) =>
        getProfile({ clickhouse }, projectId, request, deadline, standIns),
      ),
    answerOptions,
  );
  router.rpc(
    getByExternalId,
    (request, context) =>
      read(shared, 'look-up', context, ({ projectId, clickhouse, standIns }, deadline) =>
        getProfileByExternalId({ clickhouse }, projectId, request, deadline, standIns),
      ),
    answerOptions,
  );
  router.rpc(
    list,
    (request, context) =>
      readStream(shared, context, ({ projectId, clickhouse, standIns }, startOne) =>
        listProfiles(
          { ...shared, clickhouse, startDeadline: startOne },
          projectId,
          request,
          standIns,
        ),
      ),
    answerOptions,
  );
  registerProfileChanges(router, shared);
}

function registerInsights(router: ConnectRouter, shared: Shared): OwnQuestions {
  const { query, segmentUsers: users } = InsightsService.method;
  const { groups, boards } = shared;
  // For every method that answers questions.
  const runQuestion: RunQuestion = (call) => groups.ofProject(call.projectId).runQuestion(call);
  router.rpc(
    users,
    (request, context) =>
      read(shared, 'search', context, ({ projectId, clickhouse }, deadline) =>
        segmentUsers({ ...shared, clickhouse }, projectId, request, deadline),
      ),
    answerOptions,
  );
  router.rpc(
    query,
    (request, context) =>
      read(
        { ...shared, maxReadMs: shared.maxQuestionMs ?? maxInsightMs },
        'look-up',
        context,
        ({ projectId, standIns, count, spend }, deadline) =>
          runQuestion({ projectId, request, deadline, standIns, onRead: count, spend }),
      ),
    answerOptions,
  );
  registerGoals(router, shared, runQuestion);
  router.rpc(
    SegmentsService.method.count,
    (request, context) =>
      read(shared, 'search', context, ({ projectId, clickhouse }, deadline) =>
        countProfiles({ ...shared, clickhouse }, projectId, request, deadline),
      ),
    answerOptions,
  );
  const ask = askAlone(runQuestion);
  if (boards === undefined) return { ask, renderPeriod: undefined };
  const renderPeriod = registerBoards(router, {
    ...shared,
    ...boards,
    runQuestion,
    isStarved: (projectId) => groups.ofProject(projectId).isStarved(),
    hasBots: (projectId, deadline) =>
      hasBots(groups.ofProject(projectId).clickhouse, projectId, deadline),
    startCall: (context) => startCall(shared, 'look-up', context),
  });
  return { ask, renderPeriod };
}

function registerGoals(router: ConnectRouter, shared: Shared, run: RunQuestion): void {
  const { goalsOf, clock, groups, timezoneOf, weekStartOf } = shared;
  if (goalsOf === undefined) return;
  router.rpc(
    GoalsService.method.measure,
    (request, context) =>
      read(
        { ...shared, maxReadMs: shared.boards?.maxRenderMs ?? defaultMaxRenderMs },
        'look-up',
        context,
        ({ projectId, standIns, count, spend }, deadline) => {
          const call = { deadline, standIns, onRead: count, spend };
          const hasBotsIn = (id: string) => hasBots(groups.ofProject(id).clickhouse, id, deadline);
          const own = { goalsOf, timezoneOf, weekStartOf, hasBots: hasBotsIn };
          const deps = { ...own, clock, run, call };
          return measureGoals(deps, projectId, request);
        },
      ),
    answerOptions,
  );
}

/** Both services have them. */
function registerSchema(router: ConnectRouter, shared: Shared): void {
  for (const { method } of [InsightsService, ActivityService]) {
    const { getFilterSchema: names, getPropertyValues: values } = method;
    router.rpc(
      names,
      (request, context) =>
        read(shared, 'search', context, ({ projectId, clickhouse }, deadline) =>
          getFilterSchema({ clickhouse }, projectId, request, deadline),
        ),
      answerOptions,
    );
    router.rpc(
      values,
      (request, context) =>
        read(shared, 'search', context, ({ projectId, clickhouse }, deadline) =>
          getPropertyValues({ clickhouse, clock: shared.clock }, projectId, request, deadline),
        ),
      answerOptions,
    );
  }
}
