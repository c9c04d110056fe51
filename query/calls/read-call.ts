// What every call of a read service goes through: the limit of its key, the project's turns at the engine, the
// deadline, and the one place where a failure becomes an answer.

import { Code, ConnectError, type HandlerContext } from '@connectrpc/connect';
import type { TokenBuckets } from '../../platform/access/token-bucket.ts';
import type { RowReader } from '../../platform/clickhouse/select-rows.ts';
import type { Log } from '../../platform/log.ts';
import { type Deadline, startDeadline } from '../deadline.ts';
import { type JsonStandIns, jsonStandIns } from '../json-codec.ts';
import type { CredentialEnd, OpenStreams } from '../open-streams.ts';
import { readFailure } from '../read-failure.ts';
import type { StatementKind, Turns } from '../turns.ts';

/** The project that a call reads, as authentication found it before the handler runs. */
export interface Reader {
  projectId: string;
  /** The credential that the limit on reads counts. */
  keyId: string;
}

/** Shared by the calls of the process. */
export interface CallOptions {
  readerOf: (context: HandlerContext) => Reader;
  /** Asked again and again while a stream is open; without it a stream outlives its credential. */
  credentialEndOf?: (context: HandlerContext) => CredentialEnd;
  clickhouse: RowReader;
  buckets: TokenBuckets;
  turns: Turns;
  streams: OpenStreams;
  maxReadMs: number;
  log: Log;
}

/** What one call reads with. */
export interface Call {
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
      throw readFailure(cause, context, deadline, shared.log);
    }
  }
  const credentialEnd = shared.credentialEndOf?.(context);
  return shared.streams.watch(call.projectId, context.signal, messages(), credentialEnd);
}

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
    throw readFailure(cause, context, deadline, shared.log);
  } finally {
    call.charge();
  }
}

/** A read counts once more for each 64 KiB that it reads: an answer stays in memory until its reader has taken it. */
const charactersPerRead = 65_536;

/** Throws resource_exhausted where the key reads too often. */
export function startCall(
  { readerOf, buckets, turns, clickhouse }: CallOptions,
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
