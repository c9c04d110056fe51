// The builders' threads, and the writer's half of the talk with them (thread-messages.ts). A batch is handed over by
// transfer, about a megabyte or more at a time, because each hand-over costs as much as building twenty events. The
// threads are there only while batches come.

import { join } from 'node:path';
import { MessageChannel, type MessagePort } from 'node:worker_threads';
import { Piscina } from 'piscina';
import type {
  BatchIds,
  BuildTask,
  BuiltBatch,
  Messages,
  ReadBatch,
  Verdict,
  WorkerSettings,
} from './thread-messages.ts';

/** Builds batches in other threads. */
export interface BuilderPool {
  /**
   * Builds the batch of `messages`; with `month`, only the rows of that month. Their bytes are lent: once this
   * resolves, `messages.bytes` is another view of the same memory, with any content. `decide` is called once. Rejects
   * where it rejects, or where the thread died or ran out of memory: then the bytes are lost. A verdict that is late
   * holds no thread: the batch is read again once it is there.
   */
  build(
    shard: number,
    messages: Messages,
    decide: (ids: BatchIds) => Promise<Verdict>,
    month?: number,
  ): Promise<BuiltBatch>;
  /** Batches being built or waiting for a thread. */
  readonly active: number;
  close(): Promise<void>;
}

/**
 * A verdict takes milliseconds from memory and tens of them from the tables. Longer than this it may wait for an engine
 * that is away, and the shards of other engines need the thread.
 */
const longestHeldMs = 1_000;
/** A thread keeps the memory of its largest batch. */
const usualIdleMs = 60_000;

interface BuilderPoolOptions {
  threads: number;
  /** Keys the hash of event ids; see event-key.ts. */
  secret: Uint8Array;
  /** The compiled worker.ts; by default the one beside this file, or the one in dist where this file is TypeScript. */
  workerFile?: string;
  /** The threads end this long after the last batch; a minute unless given. The next one starts them again. */
  idleMs?: number;
}

export function createBuilderPool(options: BuilderPoolOptions): BuilderPool {
  const workerData: WorkerSettings = { secret: options.secret };
  const start = (): Piscina<BuildTask, void> =>
    new Piscina({
      filename: options.workerFile ?? compiledWorker(),
      minThreads: options.threads,
      maxThreads: options.threads,
      // A waiting thread must answer messages on its batch's port.
      atomics: 'disabled',
      workerData,
    });
  let threads: Piscina<BuildTask, void> | undefined;
  let idle: NodeJS.Timeout | undefined;
  let active = 0;
  return {
    get active() {
      return active;
    },
    async build(shard, messages, decide, month) {
      let verdict: Promise<Verdict> | undefined;
      const decideOnce = (ids: BatchIds): Promise<Verdict> => (verdict ??= decide(ids));
      clearTimeout(idle);
      active++;
      try {
        for (;;) {
          const built = await buildOnce({ shard, messages, month }, decideOnce);
          if (built !== 'late') return built;
          await verdict;
        }
      } finally {
        active--;
        if (active === 0) idle = setTimeout(end, options.idleMs ?? usualIdleMs).unref();
      }
    },
    async close() {
      clearTimeout(idle);
      await threads?.destroy();
    },
  };

  function end(): void {
    void threads?.destroy();
    threads = undefined;
  }

  /** `late` where the verdict took too long: the thread has forgotten the batch. */
  async function buildOnce(
    batch: Omit<BuildTask, 'port'>,
    decide: (ids: BatchIds) => Promise<Verdict>,
  ): Promise<BuiltBatch | 'late'> {
    const { port1, port2 } = new MessageChannel();
    threads ??= start();
    try {
      const transferList = [port2, batch.messages.bytes.buffer];
      const done = threads.run({ ...batch, port: port2 }, { transferList });
      // A dead thread posts nothing: its task's failure must end the wait too.
      const failed = done.then(() => new Promise<never>(() => {}));
      return await Promise.race([converse(port1, batch.messages, decide), failed]);
    } finally {
      port1.close();
    }
  }
}

/** The writer's half of the talk about one batch. */
function converse(
  port: MessagePort,
  messages: Messages,
  decide: (ids: BatchIds) => Promise<Verdict>,
): Promise<BuiltBatch | 'late'> {
  return new Promise((resolve, reject) => {
    port.once('message', ({ ids, bytes }: ReadBatch) => {
      messages.bytes = bytes;
      port.once('message', (built: BuiltBatch) => resolve(built));
      const late = setTimeout(() => resolve('late'), longestHeldMs);
      const stopClock = (): void => clearTimeout(late);
      decide(ids)
        .then((verdict) => port.postMessage(verdict), reject)
        .finally(stopClock);
    });
  });
}

/** A thread cannot start from TypeScript. */
function compiledWorker(): string {
  const here = import.meta.dirname;
  return import.meta.filename.endsWith('.ts')
    ? join(here, '..', '..', 'dist', 'pipeline', 'build', 'worker.js')
    : join(here, 'worker.js');
}
