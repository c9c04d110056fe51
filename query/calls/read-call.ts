// What every call of a read service goes through: the limit of its key, the turns at the engine, the deadline, and
// the one place where a failure becomes an answer.

import { Code, ConnectError, type HandlerContext } from '@connectrpc/connect';
import { createTokenBuckets, type TokenBuckets } from '../../platform/access/token-bucket.ts';
import type { Groups } from '../../platform/clickhouse/groups.ts';
import type { RowReader } from '../../platform/clickhouse/select-rows.ts';
import type { Clock } from '../../platform/clock.ts';
import type { Log } from '../../platform/log.ts';
import { type Deadline, startDeadline } from '../deadline.ts';
import { type JsonStandIns, jsonStandIns } from '../json-codec.ts';
import type { CredentialEnd, OpenStreams } from '../open-streams.ts';
import { type FailureParts, readFailure } from '../read-failure.ts';
import type { StatementKind } from '../turns.ts';
import type { ReadGroup } from './read-groups.ts';

/** The project that a call reads, as authentication found it before the handler runs. */
export interface Reader {
  projectId: string;
  /** The credential that the limit on reads counts. */
  keyId: string;
}

/** Shared by the calls of the process. */
export interface CallOptions {
  log: Log;
  readerOf: (context: HandlerContext) => Reader;
  /** Asked again and again while a stream is open; without it a stream outlives its credential. */
  credentialEndOf?: (context: HandlerContext) => CredentialEnd;
  groups: Groups<ReadGroup>;
  buckets: TokenBuckets;
  engineSeconds: TokenBuckets;
  streams: OpenStreams;
  maxReadMs: number;
}

/** What one call reads with. */
export interface Call {
  projectId: string;
  /** Reads from the project's group of the store in the project's turns. */
  clickhouse: RowReader;
  /** The same for each group, for what is asked of all projects. */
  everywhere(): readonly RowReader[];
  /** Absent where the answer is binary. */
  standIns: JsonStandIns | undefined;
  /** Counts what was read in another way. */
  count(characters: number): void;
  /** Takes a statement's time at the engine from the key's limit, for one that ran in another way. */
  spend(engineMs: number): void;
  /** Takes the price of what was read from the key's limit. */
  charge(): void;
}

/** Runs one call with its deadline. `kind`: the turns at the engine that its statements take. */
export async function read<T>(
  shared: CallOptions,
  kind: StatementKind,
  context: HandlerContext,
  work: (call: Call, deadline: Deadline) => Promise<T>,
): Promise<T> {
  const call = startCall(shared, kind, context);
  const deadline = startDeadline(context, shared.maxReadMs);
  try {
    return await work(call, deadline);
  } catch (cause) {
    throw readFailure(cause, context, deadline, partsOf(shared, call));
  } finally {
    call.charge();
  }
}

/** The same as `read` for a stream: each read that feeds the stream has a deadline of its own. */
export function readStream<T>(
  shared: CallOptions,
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
      throw readFailure(cause, context, deadline, partsOf(shared, call));
    }
  }
  const credentialEnd = shared.credentialEndOf?.(context);
  return shared.streams.watch(call.projectId, context.signal, messages(), credentialEnd);
}

function partsOf({ groups, log }: CallOptions, { projectId }: Call): FailureParts {
  return { isStarved: groups.ofProject(projectId).isStarved, log };
}

/** A read counts once more for each 64 KiB that it reads: an answer stays in memory until its reader has taken it. */
const charactersPerRead = 65_536;

/**
 * Seconds at the engine: a key may have one statement run without a pause. A board of dear questions is asked for at
 * once, and whoever looks at one goes on to the next.
 */
const engineSecondsAtOnce = 30;

/** The limits on what a key reads; 0 reads a second switch both off. */
export function readLimits(
  readsPerSecond: number,
  clock: Clock,
): Pick<CallOptions, 'buckets' | 'engineSeconds'> {
  const perSecond = readsPerSecond === 0 ? 0 : 1;
  return {
    buckets: createTokenBuckets({
      ...{ perSecond: readsPerSecond, clock },
      burst: Math.max(1, readsPerSecond),
    }),
    engineSeconds: createTokenBuckets({ perSecond, burst: engineSecondsAtOnce, clock }),
  };
}

/** Throws resource_exhausted where the key reads too often, or has used too much of the engine's time. */
export function startCall(
  { readerOf: callerOf, buckets, engineSeconds, groups }: CallOptions,
  kind: StatementKind,
  context: HandlerContext,
): Call {
  const { keyId, projectId } = callerOf(context);
  const own = groups.ofProject(projectId);
  own.turns.checkRoom(projectId);
  const restSeconds = engineSeconds.wait(keyId, 1);
  if (restSeconds > 0)
    throw tooMany("reads with this key took too much of the engine's time", restSeconds);
  const waitSeconds = buckets.take(keyId, 1);
  if (waitSeconds > 0) throw tooMany('too many reads with this key', waitSeconds);
  const spend = (engineMs: number): void => engineSeconds.charge(keyId, engineMs / 1_000);
  let characters = 0;
  const count = (read: number): void => {
    characters += read;
  };
  const counted = ({ turns, readerOf }: ReadGroup): RowReader => {
    const inTurns = turns.reader(readerOf(projectId), projectId, kind, spend);
    return {
      select: (select, onRow) =>
        inTurns.select(select, (text) => {
          count(text.length);
          return onRow(text);
        }),
    };
  };
  return {
    projectId,
    count,
    spend,
    clickhouse: counted(own),
    everywhere: () => groups.all.map(counted),
    standIns: standInsFor(context),
    charge: () => buckets.charge(keyId, Math.floor(characters / charactersPerRead)),
  };
}

function tooMany(message: string, waitSeconds: number): ConnectError {
  return new ConnectError(message, Code.ResourceExhausted, { 'retry-after': String(waitSeconds) });
}

/** In every protocol an answer has the codec of its request, and only JSON needs stand-ins. */
function standInsFor(context: HandlerContext): JsonStandIns | undefined {
  const contentType = context.requestHeader.get('content-type') ?? '';
  return /^application\/(?:.+\+)?json\b/.test(contentType) ? jsonStandIns : undefined;
}
