// The methods of the read services: each with its handler, the limit on reads, the deadline, and the one place where a
// failure becomes an answer.
// A new method: 1. its definition below proto/, then `npm run generate`; 2. its row in platform/access/access-table.ts;
// 3. its handler in a folder here, new dependencies in QueryOptions and foundation.ts; 4. its `router.rpc` below;
// 5. its need in test/access-matrix.test.ts, unless it is the service's `*`; 6. a test beside the handler. A new
// service also has a place in test/harness/services/accounts.ts and read-service.ts. ARCHITECTURE.md says more.

import type { DescMessage } from '@bufbuild/protobuf';
import { Code, ConnectError, type ConnectRouter, type HandlerContext } from '@connectrpc/connect';
import { createTokenBuckets, type TokenBuckets } from '../platform/access/token-bucket.ts';
import type { ProfileQueue } from '../platform/broker/profile-queue.ts';
import type { RowReader } from '../platform/clickhouse/select-rows.ts';
import type { Clock } from '../platform/clock.ts';
import type { Log } from '../platform/log.ts';
import { ActivityService } from '../proto/gen/shared/activity/v1/activity_pb.js';
import { InsightsService } from '../proto/gen/shared/insights/v1/insights_pb.js';
import { ProfilesService } from '../proto/gen/shared/profiles/v1/profiles_pb.js';
import { listActivity } from './activity/list-activity.ts';
import { type BoardOptions, registerBoards } from './boards/register-boards.ts';
import { type Deadline, defaultMaxReadMs, startDeadline } from './deadline.ts';
import { queryInsight } from './insights/query-insight.ts';
import type { CompleteUntil } from './insights/run/complete-until.ts';
import { InsightRuns } from './insights/run/insight-runs.ts';
import { maxInsightMs } from './insights/run/run-insight.ts';
import { type JsonStandIns, jsonOptions, jsonStandIns } from './json-codec.ts';
import { type CredentialEnd, defaultStreamBounds, OpenStreams } from './open-streams.ts';
import { deleteProfile } from './profiles/delete-profile.ts';
import { getProfile, getProfileByExternalId } from './profiles/get-profile.ts';
import { listProfiles } from './profiles/list-profiles.ts';
import { readFailure } from './read-failure.ts';
import { getFilterSchema } from './schema/filter-schema.ts';
import { getPropertyValues } from './schema/property-values.ts';
import { defaultSilenceMs, StoreWatch } from './store-watch.ts';
import { systemTimer } from './timer.ts';
import { insightTurnBounds, type StatementKind, Turns, turnBounds } from './turns.ts';
import { ingestHealth } from './watch/ingest-health.ts';
import type { LiveViews } from './watch/live-views.ts';
import { viewerBounds, watchEvents } from './watch/watch-events.ts';

/** The project that a call reads, as authentication found it before the handler runs. */
interface Reader {
  projectId: string;
  /** The credential that the limit on reads counts. */
  keyId: string;
}

interface QueryOptions {
  clickhouse: RowReader;
  /** Whether the store answers at all, in bounded time; never rejects. */
  storeAnswers: () => Promise<boolean>;
  /** A read asks it after so long without a row; after half a second unless given. */
  storeSilenceMs?: number;
  clock: Clock;
  completeUntilMs: CompleteUntil;
  /** The memory of one statement of a question; the server's own bound unless given. */
  insightMemoryBytes?: number;
  /** Takes deletions; without it there is no method Delete. */
  profiles?: ProfileQueue;
  log: Log;
  readerOf: (context: HandlerContext) => Reader;
  /** Asked again and again while a stream is open; without it a stream outlives its credential. */
  credentialEndOf?: (context: HandlerContext) => CredentialEnd;
  /** Without them there are no methods Watch and IngestHealth. */
  live?: LiveViews;
  /** Reads per second of one key, and its reads at once; 0 switches the limit off. */
  readsPerSecond: number;
  /** The time limit of one read; 10 s unless given. */
  maxReadMs?: number;
  /** Turns for a process that alone reads from its engine, unless given. */
  turns?: Turns;
  insightTurns?: Turns;
  streams?: OpenStreams;
  /** Without it no dashboard is rendered. */
  boards?: BoardOptions;
}

/** What one call reads with. */
interface Call {
  projectId: string;
  /** Reads from the store in the project's turns. */
  clickhouse: RowReader;
  /** Absent where the answer is binary. */
  standIns: JsonStandIns | undefined;
  /** Counts what was read in another way. */
  count(characters: number): void;
  /** Takes the price of what was read from the key's limit. */
  charge(): void;
}

/** Shared by all calls of the process. */
interface Shared extends QueryOptions {
  buckets: TokenBuckets;
  turns: Turns;
  streams: OpenStreams;
  maxReadMs: number;
  insightRuns: InsightRuns;
}

/** Registers ProfilesService, ActivityService and InsightsService, and what renders dashboards. */
export function registerQuery(router: ConnectRouter, options: QueryOptions): void {
  const { clock, readsPerSecond } = options;
  const burst = Math.max(1, readsPerSecond);
  const watch = new StoreWatch({
    answers: options.storeAnswers,
    timer: systemTimer,
    silenceMs: options.storeSilenceMs ?? defaultSilenceMs,
  });
  const clickhouse = watch.reader(options.clickhouse);
  const turns = options.turns ?? new Turns(turnBounds(1), systemTimer);
  const insightTurns = options.insightTurns ?? new Turns(insightTurnBounds(1), systemTimer);
  const { completeUntilMs, insightMemoryBytes: memoryBytes } = options;
  const shared = {
    maxReadMs: defaultMaxReadMs,
    streams: new OpenStreams(defaultStreamBounds, systemTimer),
    ...options,
    turns,
    clickhouse,
    insightRuns: new InsightRuns({
      clickhouse,
      completeUntilMs,
      turns,
      insightTurns,
      ...(memoryBytes !== undefined && { memoryBytes }),
    }),
    buckets: createTokenBuckets({ perSecond: readsPerSecond, burst, clock }),
  };
  registerProfiles(router, shared);
  registerInsights(router, shared);
  registerSchema(router, shared);
  const { list } = ActivityService.method;
  router.rpc(
    list,
    (request, context) =>
      read(shared, 'search', context, ({ projectId, clickhouse, standIns }, deadline) =>
        listActivity({ clickhouse, clock }, projectId, request, deadline, standIns),
      ),
    requestOptions(list.input),
  );
  if (shared.live !== undefined) registerLive(router, shared, shared.live);
}

function registerLive(router: ConnectRouter, shared: Shared, { feed, refusals }: LiveViews): void {
  const { watch, ingestHealth: health } = ActivityService.method;
  const { clock, log } = shared;
  const viewers = new OpenStreams(viewerBounds, systemTimer);
  router.rpc(
    watch,
    (request, context) =>
      readStream({ ...shared, streams: viewers }, context, ({ projectId }) =>
        watchEvents({ feed, clock, log }, projectId, request),
      ),
    requestOptions(watch.input),
  );
  router.rpc(
    health,
    (request, context) =>
      read(shared, 'look-up', context, ({ projectId, clickhouse }, deadline) =>
        ingestHealth({ clickhouse, refusals, clock }, projectId, request, deadline),
      ),
    requestOptions(health.input),
  );
}

function registerProfiles(router: ConnectRouter, shared: Shared): void {
  const { get, getByExternalId, list, delete: remove } = ProfilesService.method;
  router.rpc(
    get,
    (request, context) =>
      read(shared, 'look-up', context, ({ projectId, clickhouse, standIns }, deadline) =>
        getProfile({ clickhouse }, projectId, request, deadline, standIns),
      ),
    requestOptions(get.input),
  );
  router.rpc(
    getByExternalId,
    (request, context) =>
      read(shared, 'look-up', context, ({ projectId, clickhouse, standIns }, deadline) =>
        getProfileByExternalId({ clickhouse }, projectId, request, deadline, standIns),
      ),
    requestOptions(getByExternalId.input),
  );
  router.rpc(
    list,
    (request, context) =>
      readStream(shared, context, ({ projectId, clickhouse, standIns }, startOne) =>
        listProfiles({ clickhouse, startDeadline: startOne }, projectId, request, standIns),
      ),
    requestOptions(list.input),
  );
  const { profiles } = shared;
  if (profiles === undefined) return;
  router.rpc(
    remove,
    (request, context) =>
      read(shared, 'look-up', context, ({ projectId, clickhouse }, deadline) =>
        deleteProfile({ clickhouse, profiles }, projectId, request, deadline),
      ),
    requestOptions(remove.input),
  );
}

function registerInsights(router: ConnectRouter, shared: Shared): void {
  const { query } = InsightsService.method;
  const { insightRuns, boards } = shared;
  router.rpc(
    query,
    (request, context) =>
      read(
        { ...shared, maxReadMs: maxInsightMs },
        'look-up',
        context,
        ({ projectId, standIns, count }, deadline) =>
          queryInsight(insightRuns, { projectId, request, deadline, standIns, onRead: count }),
      ),
    requestOptions(query.input),
  );
  if (boards === undefined) return;
  registerBoards(router, {
    ...shared,
    ...boards,
    runQuestion: (call) => queryInsight(insightRuns, call),
    startCall: (context) => startCall(shared, 'look-up', context),
  });
}

function registerSchema(router: ConnectRouter, shared: Shared): void {
  const { getFilterSchema: names, getPropertyValues: values } = InsightsService.method;
  router.rpc(
    names,
    (request, context) =>
      read(shared, 'search', context, ({ projectId, clickhouse }, deadline) =>
        getFilterSchema({ clickhouse }, projectId, request, deadline),
      ),
    requestOptions(names.input),
  );
  router.rpc(
    values,
    (request, context) =>
      read(shared, 'search', context, ({ projectId, clickhouse }, deadline) =>
        getPropertyValues({ clickhouse, clock: shared.clock }, projectId, request, deadline),
      ),
    requestOptions(values.input),
  );
}

function requestOptions(input: DescMessage) {
  return { jsonOptions: jsonOptions(input) };
}

/** The same as `read` for a stream: each read that feeds the stream has a deadline of its own. */
function readStream<T>(
  shared: Shared,
  context: HandlerContext,
  work: (call: Call, startOne: () => Deadline) => AsyncIterable<T>,
): AsyncIterable<T> {
  const call = startCall(shared, 'search', context);
  async function* messages(): AsyncGenerator<T> {
    let deadline = startDeadline(context, shared.maxReadMs);
    try {
      yield* work(call, () => {
        deadline = startDeadline(context, shared.maxReadMs);
        return deadline;
      });
    } catch (cause) {
      throw readFailure(cause, context, deadline, shared.log);
    }
  }
  const credentialEnd = shared.credentialEndOf?.(context);
  return shared.streams.watch(call.projectId, context.signal, messages(), credentialEnd);
}

async function read<T>(
  shared: Shared,
  kind: StatementKind,
  context: HandlerContext,
  work: (call: Call, deadline: Deadline) => Promise<T>,
): Promise<T> {
  const call = startCall(shared, kind, context);
  const deadline = startDeadline(context, shared.maxReadMs);
  try {
    return await work(call, deadline);
  } catch (cause) {
    throw readFailure(cause, context, deadline, shared.log);
  } finally {
    call.charge();
  }
}

/** A read counts once more for each 64 KiB that it reads: an answer stays in memory until its reader has taken it. */
const charactersPerRead = 65_536;

/** Throws resource_exhausted where the key reads too often. */
function startCall(
  { readerOf, buckets, turns, clickhouse }: Shared,
  kind: StatementKind,
  context: HandlerContext,
): Call {
  const { keyId, projectId } = readerOf(context);
  const waitSeconds = buckets.take(keyId, 1);
  if (waitSeconds > 0) throw tooManyReads(waitSeconds);
  const inTurns = turns.reader(clickhouse, projectId, kind);
  let characters = 0;
  const count = (read: number): void => {
    characters += read;
  };
  return {
    projectId,
    count,
    clickhouse: {
      select: (select, onRow) =>
        inTurns.select(select, (text) => {
          count(text.length);
          return onRow(text);
        }),
    },
    standIns: standInsFor(context),
    charge: () => buckets.charge(keyId, Math.floor(characters / charactersPerRead)),
  };
}

function tooManyReads(waitSeconds: number): ConnectError {
  return new ConnectError('too many reads with this key', Code.ResourceExhausted, {
    'retry-after': String(waitSeconds),
  });
}

/** In every protocol an answer has the codec of its request, and only JSON needs stand-ins. */
function standInsFor(context: HandlerContext): JsonStandIns | undefined {
  const contentType = context.requestHeader.get('content-type') ?? '';
  return /^application\/(?:.+\+)?json\b/.test(contentType) ? jsonStandIns : undefined;
}
