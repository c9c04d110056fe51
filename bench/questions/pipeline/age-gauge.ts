// The work of an engine since its gauge was opened: CPU of inserts and of merges, and what the watch of its parts saw.

import { check } from '../../bench.ts';
import { type Watched, watchParts } from '../../harness/engine/part-watch.ts';
import type { ServiceEngine } from '../../harness/engine/service-engine.ts';
import { cpuMsWithoutMerges, mergeCpuMsOf } from '../../harness/usage.ts';

export interface Gauged {
  seconds: number;
  /** CPU of the engine without merges, and of its merges of all tables. */
  insertMs: number;
  mergeMs: number;
  /** CPU of the bench, which makes and sends the batches. */
  makingMs: number;
  watched: Watched;
}

interface Gauge {
  read(): Promise<Gauged>;
  close(): Promise<void>;
}

export function openGauge(engine: ServiceEngine): Gauge {
  const pid = engine.pid();
  const watch = watchParts(engine);
  const before = {
    insertMs: cpuMsWithoutMerges(pid),
    mergeMs: mergeCpuMsOf(pid),
    own: process.cpuUsage(),
  };
  const startMs = performance.now();
  return {
    async read() {
      check(engine.pid() === pid, 'the engine was never started again');
      const seconds = (performance.now() - startMs) / 1_000;
      const mergeMs = mergeCpuMsOf(pid) - before.mergeMs;
      const insertMs = cpuMsWithoutMerges(pid) - before.insertMs;
      const { user, system } = process.cpuUsage(before.own);
      return {
        ...{ seconds, insertMs, mergeMs, makingMs: (user + system) / 1_000 },
        watched: await watch.look(),
      };
    },
    close: () => watch.stop(),
  };
}
