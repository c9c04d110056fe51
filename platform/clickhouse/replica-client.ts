// One client for several servers of ClickHouse that hold the same tables: all calls go to one of them, so that a read
// finds what was written before it, until that one no longer answers. How the servers keep their tables equal is
// theirs.

import { ClickHouseError } from '@clickhouse/client';
import {
  type ClickHouseOptions,
  createClickHouse,
  type DatabaseClient,
  requireClickHouse,
} from './clickhouse.ts';
import type { Select } from './select-rows.ts';
import { hasId, oneId } from './store-identity.ts';

/** The call's server was left for another one: whether it did what it was asked is not known. */
class ServerLeft extends Error {
  readonly code = 'SERVER_LEFT';
}

interface ReplicaOptions extends ClickHouseOptions {
  /** Half a second unless given. */
  lookEveryMs?: number;
}

interface Replica {
  client: DatabaseClient;
  /** From 1, as in the setting: a URL may hold a password. */
  number: number;
  /** Of its calls that have not ended. */
  running: Set<AbortController>;
  /** It has refused what another one may do. */
  unfitUntilMs: number;
}

/** With two unanswered questions of 2 s each, a server that is silent is left within 5 s. */
const defaultLookEveryMs = 500;
const unfitMs = 10_000;

// ClickHouse's codes of what one server of several cannot do now: it has lost its Keeper, or lacks acknowledged rows.
const unfitCodes = new Set([
  '242', // TABLE_IS_READ_ONLY
  '289', // REPLICA_IS_NOT_IN_QUORUM
  '999', // KEEPER_EXCEPTION
]);

/**
 * Resolves with a client once one server of `urls` lets it in; rejects with one sentence for each server where none
 * does within 30 s.
 */
export async function openStore(
  urls: readonly string[],
  options: ReplicaOptions,
): Promise<DatabaseClient> {
  const clients = urls.map((url) => createClickHouse(url, options));
  const letsIn = clients.map(async (client, index) => {
    await requireClickHouse(client, urls[index] ?? '');
    return client;
  });
  try {
    const first = await Promise.any(letsIn);
    return clients.length === 1 ? first : new Replicas(clients, first, options).client();
  } catch (error) {
    await Promise.all(clients.map((client) => client.close()));
    const problems: unknown[] = error instanceof AggregateError ? error.errors : [error];
    throw new Error(problems.map((one) => (one instanceof Error ? one.message : one)).join('\n'));
  }
}

class Replicas {
  readonly #all: readonly Replica[];
  readonly #options: ReplicaOptions;
  #current: Replica;
  /** An id of the store in use: a server that lacks it has other tables. */
  #storeId: string | undefined;
  #looking: Promise<void> | undefined;
  #timer: NodeJS.Timeout | undefined;
  #isClosed = false;

  constructor(clients: readonly DatabaseClient[], first: DatabaseClient, options: ReplicaOptions) {
    const all = clients.map((client, index) => {
      return { client, number: index + 1, running: new Set<AbortController>(), unfitUntilMs: 0 };
    });
    const current = all.find(({ client }) => client === first);
    if (current === undefined) throw new RangeError('the first server is none of all');
    this.#all = all;
    this.#current = current;
    this.#options = options;
    this.#lookLater();
  }

  client(): DatabaseClient {
    const signalOf = (params: { abort_signal?: AbortSignal }) => params.abort_signal;
    return {
      database: this.#current.client.database,
      query: (params) =>
        this.#run(signalOf(params), (client, abort_signal) =>
          client.query({ ...params, abort_signal }),
        ),
      command: (params) =>
        this.#run(signalOf(params), (client, abort_signal) =>
          client.command({ ...params, abort_signal }),
        ),
      exec: (params) =>
        this.#run(signalOf(params), (client, abort_signal) =>
          client.exec({ ...params, abort_signal }),
        ),
      insert: (params) =>
        this.#run(signalOf(params), (client, abort_signal) =>
          client.insert({ ...params, abort_signal }),
        ),
      select: (select, onRow) =>
        this.#run(select.signal, (client, signal) => client.select({ ...select, signal }, onRow)),
      stream: (select, format) => this.#stream(select, format),
      isReady: async () =>
        (await Promise.all(this.#all.map(({ client }) => client.isReady()))).some(Boolean),
      close: () => this.#close(),
    };
  }

  async #run<T>(
    caller: AbortSignal | undefined,
    work: (client: DatabaseClient, signal: AbortSignal) => Promise<T>,
  ): Promise<T> {
    const replica = this.#current;
    const left = new AbortController();
    const signal = caller === undefined ? left.signal : AbortSignal.any([caller, left.signal]);
    replica.running.add(left);
    try {
      return await work(replica.client, signal);
    } catch (error) {
      throw this.#failureOf(error, replica, left.signal, signal);
    } finally {
      replica.running.delete(left);
    }
  }

  async *#stream(select: Select, format: string): AsyncGenerator<Buffer, void, undefined> {
    const replica = this.#current;
    const left = new AbortController();
    const signal = AbortSignal.any([select.signal, left.signal]);
    replica.running.add(left);
    try {
      yield* replica.client.stream({ ...select, signal }, format);
    } catch (error) {
      throw this.#failureOf(error, replica, left.signal, signal);
    } finally {
      replica.running.delete(left);
    }
  }

  /** What to throw for a failed call that `signal` would end; looks at the server where that may be at fault. */
  #failureOf(error: unknown, replica: Replica, left: AbortSignal, signal: AbortSignal): unknown {
    // The reason is the first one's that was aborted.
    if (left.aborted && signal.reason === left.reason) return left.reason;
    if (signal.aborted) return error;
    if (error instanceof ClickHouseError && unfitCodes.has(error.code)) {
      replica.unfitUntilMs = performance.now() + unfitMs;
      void this.#look();
    } else if (isOfNetwork(error)) void this.#look();
    return error;
  }

  #lookLater(): void {
    if (this.#isClosed) return;
    const { lookEveryMs = defaultLookEveryMs } = this.#options;
    this.#timer = setTimeout(() => void this.#look().then(() => this.#lookLater()), lookEveryMs);
    this.#timer.unref();
  }

  /** One look at a time, whoever asks. Never rejects. */
  #look(): Promise<void> {
    this.#looking ??= this.#leaveIfAway().finally(() => {
      this.#looking = undefined;
    });
    return this.#looking;
  }

  /** A busy server may leave one question unanswered. */
  async #leaveIfAway(): Promise<void> {
    const replica = this.#current;
    if (isFit(replica) && (await replica.client.isReady())) return this.#learnId(replica);
    const others = this.#all.filter((one) => one !== replica && isFit(one));
    const [isBack, ...canTakeOver] = await Promise.all([
      isFit(replica) && replica.client.isReady(),
      ...others.map((one) => this.#canTakeOver(one)),
    ]);
    const next = others.find((_, index) => canTakeOver[index]);
    if (isBack || next === undefined || this.#isClosed) return;
    this.#current = next;
    this.#options.log.warn(
      { left: replica.number, asked: next.number },
      'a server of ClickHouse does not answer, or cannot do what it was asked: another one of its group is asked',
    );
    const reason = new ServerLeft(
      'the server did not answer, and another one is asked from now on',
    );
    for (const left of replica.running) left.abort(reason);
  }

  async #learnId({ client }: Replica): Promise<void> {
    this.#storeId ??= await oneId(client).catch(() => undefined);
  }

  async #canTakeOver({ client, number }: Replica): Promise<boolean> {
    if (!(await client.isReady())) return false;
    if (this.#storeId === undefined) return true;
    const isSame = await hasId(client, this.#storeId).catch(() => undefined);
    if (isSame === false) {
      const problem = 'a server of ClickHouse is passed over: it has not the tables of its group';
      this.#options.log.error({ server: number }, problem);
    }
    return isSame === true;
  }

  async #close(): Promise<void> {
    this.#isClosed = true;
    clearTimeout(this.#timer);
    await this.#looking;
    await Promise.all(this.#all.map(({ client }) => client.close()));
  }
}

function isFit({ unfitUntilMs }: Replica): boolean {
  return performance.now() >= unfitUntilMs;
}

/** The system's code of a broken connection; a time-out has none and is found by the next look. */
function isOfNetwork(error: unknown): boolean {
  return !(error instanceof ClickHouseError) && error instanceof Error && 'code' in error;
}
