// Building in a thread costs more CPU than building at once; its purpose is that requests need not wait. Beside the CPU
// this bench tells how long the event loop is held while a batch is built.

import { monitorEventLoopDelay } from 'node:perf_hooks';
import { BatchBuilder } from '../../pipeline/build/build-batch.ts';
import { createBuilderPool } from '../../pipeline/build/pool.ts';
import type { Messages } from '../../pipeline/build/thread-messages.ts';
import { makeBodies } from '../../test/harness/requests/bodies.ts';
import { check, type Mode, type Table } from '../bench.ts';
import { makeFrames, packFrames } from '../harness/frames.ts';
import { type Contender, comparePairs, median } from '../harness/pairs.ts';
import { pairsOf } from './trick.ts';

const seed = 13;
const nowMs = Date.UTC(2026, 10, 20, 12);
const secret = Buffer.alloc(32, 7);
const keepAll = { dropped: undefined };

export async function measureThreads(mode: Mode): Promise<Table> {
  const rows = mode === 'smoke' ? 500 : 50_000;
  const bodies = makeBodies({ size: 'medium', batch: 100, count: rows / 100, seed, nowMs });
  const messages = packFrames(makeFrames(bodies, nowMs));
  const pool = createBuilderPool({ threads: 1, secret });
  const builder = new BatchBuilder(secret);
  const inThread = new Held(async () => {
    const { rows } = await pool.build(0, copyOf(messages), async () => keepAll);
    return rows?.rows ?? 0;
  });
  const atOnce = new Held(async () => {
    builder.read(0, copyOf(messages));
    return builder.finish(keepAll).rows?.rows ?? 0;
  });
  try {
    const pairing = await comparePairs(inThread, atOnce, pairsOf[mode]);
    const results = [pairing.subjectResult, pairing.calibrationResult];
    check(
      results.every((built) => built === rows),
      `both build ${rows} rows`,
    );
    const perEvent = (cpuMs: number): string => ((1_000 * cpuMs) / rows).toFixed(2);
    const held = ({ heldMs }: Held): string => median(heldMs).toFixed(0);
    return {
      title: `A batch of ${rows} rows built in a thread or in the thread that serves requests`,
      columns: ['builder', 'us/event', 'longest hold of the event loop, ms'],
      rows: [
        ['in a thread', perEvent(pairing.subjectCpuMs), held(inThread)],
        ['at once', perEvent(pairing.calibrationCpuMs), held(atOnce)],
      ],
    };
  } finally {
    await pool.close();
  }
}

/** Work, and the time for which it kept the event loop from turning. */
class Held implements Contender {
  readonly #work: () => Promise<number>;
  /** The longest hold of each run. */
  readonly heldMs: number[] = [];

  constructor(work: () => Promise<number>) {
    this.#work = work;
  }

  async run(): Promise<number> {
    const delay = monitorEventLoopDelay({ resolution: 1 });
    delay.enable();
    // Delays are counted from the first tick on.
    await new Promise((resolve) => setTimeout(resolve, 5));
    const result = await this.#work();
    // The hold is seen by the first tick after it.
    await new Promise((resolve) => setTimeout(resolve, 5));
    delay.disable();
    this.heldMs.push(delay.max / 1e6);
    return result;
  }
}

/** The pool transfers its messages to the thread, so each build gets a copy. */
function copyOf({ seqs, lengths, bytes }: Messages): Messages {
  return { seqs, lengths, bytes: new Uint8Array(bytes) };
}
