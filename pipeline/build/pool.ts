// The builders' threads, and the writer's half of the talk with them (thread-messages.ts). A batch is handed over by
// transfer, about a megabyte or more at a time, because each hand-over costs as much as building twenty events.

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
   * where it rejects, or where the thread died or ran out of memory: then the bytes are lost.
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

interface BuilderPoolOptions {
  threads: number;
  /** Keys the hash of event ids; see event-key.ts. */
  secret: Uint8Array;
  /** The compiled worker.ts; by default the one beside this file, or the one in dist where this file is TypeScript. */
  workerFile?: string;
}

export function createBuilderPool(options: BuilderPoolOptions): BuilderPool {
  const workerData: WorkerSettings = { secret: options.secret };
  const threads = new Piscina<BuildTask, void>({
    filename: options.workerFile ?? compiledWorker(),
    minThreads: options.threads,
    maxThreads: options.threads,
    // A waiting thread must answer messages on its batch's port.
    atomics: 'disabled',
    workerData,
  });
  let active = 0;
  return {
    get active() {
      return active;
    },
    async build(shard, messages, decide, month) {
      const { port1, port2 } = new MessageChannel();
      active++;
      try {
        const task = { shard, messages, month, port: port2 };
        const done = threads.run(task, { transferList: [port2, messages.bytes.buffer] });
        // A dead thread posts nothing: its task's failure must end the wait too.
        const failed = done.then(() => new Promise<never>(() => {}));
        return await Promise.race([converse(port1, messages, decide), failed]);
      } finally {
        active--;
        port1.close();
      }
    },
    close: () => threads.destroy(),
  };
}

/** The writer's half of the talk about one batch. */
function converse(
  port: MessagePort,
  messages: Messages,
  decide: (ids: BatchIds) => Promise<Verdict>,
): Promise<BuiltBatch> {
  return new Promise((resolve, reject) => {
    port.once('message', ({ ids, bytes }: ReadBatch) => {
      messages.bytes = bytes;
      port.once('message', (built: BuiltBatch) => resolve(built));
      decide(ids).then((verdict) => port.postMessage(verdict), reject);
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
