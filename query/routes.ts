// The methods of the read services: each with its handler, the limit on reads, the deadline, and the one place where a
// failure becomes an answer.
// A new method: 1. its definition below proto/, then `npm run generate`; 2. its row in platform/access/access-table.ts;
// 3. its handler in a folder here, new dependencies in QueryOptions and foundation.ts; 4. its `router.rpc` below;
// 5. its need in test/access-matrix.test.ts, unless it is the service's `*`; 6. a test beside the handler. A new
// service also has a place in test/harness/services/accounts.ts and read-service.ts. ARCHITECTURE.md says more.

import { Code, ConnectError, type ConnectRouter, type HandlerContext } from '@connectrpc/connect';
import { createTokenBuckets, type TokenBuckets } from '../platform/access/token-bucket.ts';
import type { ProfileQueue } from '../platform/broker/profile-queue.ts';
import type { RowReader } from '../platform/clickhouse/select-rows.ts';
import type { Clock } from '../platform/clock.ts';
import type { Log } from '../platform/log.ts';
import { ActivityService } from '../proto/gen/shared/activity/v1/activity_pb.js';
import { ProfilesService } from '../proto/gen/shared/profiles/v1/profiles_pb.js';
import { listActivity } from './activity/list-activity.ts';
import { type Deadline, defaultMaxReadMs, startDeadline } from './deadline.ts';
import { type JsonStandIns, jsonOptions, jsonStandIns } from './json-codec.ts';
import { deleteProfile } from './profiles/delete-profile.ts';
import { getProfile, getProfileByExternalId } from './profiles/get-profile.ts';
import { listProfiles } from './profiles/list-profiles.ts';
import { readFailure } from './read-failure.ts';

/** The project that a call reads, as authentication found it before the handler runs. */
interface Reader {
  projectId: string;
  /** The credential that the limit on reads counts. */
  keyId: string;
}

interface QueryOptions {
  clickhouse: RowReader;
  clock: Clock;
  /** Takes deletions; without it there is no method Delete. */
  profiles?: ProfileQueue;
  log: Log;
  readerOf: (context: HandlerContext) => Reader;
  /** Reads per second of one key, and its reads at once; 0 switches the limit off. */
  readsPerSecond: number;
  /** The time limit of one read; 10 s unless given. */
  maxReadMs?: number;
}

/** Registers ProfilesService and ActivityService. */
export function registerQuery(router: ConnectRouter, options: QueryOptions): void {
  const { clickhouse, clock, readsPerSecond } = options;
  const buckets = createTokenBuckets({
    perSecond: readsPerSecond,
    burst: Math.max(1, readsPerSecond),
    clock,
  });
  registerProfiles(router, options, buckets);
  const { list } = ActivityService.method;
  router.rpc(
    list,
    (request, context) =>
      read(options, buckets, context, ({ projectId }, deadline) =>
        listActivity({ clickhouse, clock }, projectId, request, deadline, standInsFor(context)),
      ),
    { jsonOptions: jsonOptions(list.input) },
  );
}

function registerProfiles(
  router: ConnectRouter,
  options: QueryOptions,
  buckets: TokenBuckets,
): void {
  const { clickhouse, profiles } = options;
  const { get, getByExternalId, list, delete: remove } = ProfilesService.method;
  router.rpc(
    get,
    (request, context) =>
      read(options, buckets, context, ({ projectId }, deadline) =>
        getProfile({ clickhouse }, projectId, request, deadline, standInsFor(context)),
      ),
    { jsonOptions: jsonOptions(get.input) },
  );
  router.rpc(
    getByExternalId,
    (request, context) =>
      read(options, buckets, context, ({ projectId }, deadline) =>
        getProfileByExternalId({ clickhouse }, projectId, request, deadline, standInsFor(context)),
      ),
    { jsonOptions: jsonOptions(getByExternalId.input) },
  );
  router.rpc(
    list,
    (request, context) =>
      readStream(options, buckets, context, ({ projectId }, startOne) =>
        listProfiles(
          { clickhouse, startDeadline: startOne },
          projectId,
          request,
          standInsFor(context),
        ),
      ),
    { jsonOptions: jsonOptions(list.input) },
  );
  if (profiles === undefined) return;
  router.rpc(
    remove,
    (request, context) =>
      read(options, buckets, context, ({ projectId }, deadline) =>
        deleteProfile({ clickhouse, profiles }, projectId, request, deadline),
      ),
    { jsonOptions: jsonOptions(remove.input) },
  );
}

/** The same as `read` for a stream: each read that feeds the stream has a deadline of its own. */
async function* readStream<T>(
  { readerOf, log, maxReadMs = defaultMaxReadMs }: QueryOptions,
  buckets: TokenBuckets,
  context: HandlerContext,
  work: (reader: Reader, startOne: () => Deadline) => AsyncIterable<T>,
): AsyncGenerator<T> {
  const reader = readerOf(context);
  const waitSeconds = buckets.take(reader.keyId, 1);
  if (waitSeconds > 0) throw tooManyReads(waitSeconds);
  let deadline = startDeadline(context, maxReadMs);
  try {
    yield* work(reader, () => {
      deadline = startDeadline(context, maxReadMs);
      return deadline;
    });
  } catch (cause) {
    throw readFailure(cause, context, deadline, log);
  }
}

async function read<T>(
  { readerOf, log, maxReadMs = defaultMaxReadMs }: QueryOptions,
  buckets: TokenBuckets,
  context: HandlerContext,
  work: (reader: Reader, deadline: Deadline) => Promise<T>,
): Promise<T> {
  const reader = readerOf(context);
  const waitSeconds = buckets.take(reader.keyId, 1);
  if (waitSeconds > 0) throw tooManyReads(waitSeconds);
  const deadline = startDeadline(context, maxReadMs);
  try {
    return await work(reader, deadline);
  } catch (cause) {
    throw readFailure(cause, context, deadline, log);
  }
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
