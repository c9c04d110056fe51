// Has V8 collect the garbage of a quiet thread. V8 walks a heap by itself once it has grown by what package.json names,
// which at a low rate takes hours: the process would grow all that time, and look as if it lost memory.

import { performance } from 'node:perf_hooks';
import { getHeapStatistics } from 'node:v8';

const everyMs = 60_000;
/** A walk through a heap of 40 MB takes some 50 ms. */
const grownBytes = 8 * 1_048_576;
/** Of the time between two looks: a busier thread has better things to do, and meets V8's own bound sooner. */
const quietUtilization = 0.3;

interface Heap {
  usedBytes(): number;
  /** Of the thread since the last call, from 0 to 1. */
  utilization(): number;
  collect(): void;
}

/** One for a thread. */
export class QuietHeap {
  readonly #heap: Heap;
  #collectedBytes: number;

  constructor(heap: Heap) {
    this.#heap = heap;
    this.#collectedBytes = heap.usedBytes();
  }

  look(): void {
    const isQuiet = this.#heap.utilization() < quietUtilization;
    const usedBytes = this.#heap.usedBytes();
    // V8 has walked the heap by itself.
    this.#collectedBytes = Math.min(this.#collectedBytes, usedBytes);
    if (!isQuiet || usedBytes - this.#collectedBytes < grownBytes) return;
    this.#heap.collect();
    this.#collectedBytes = this.#heap.usedBytes();
  }
}

/** Looks each minute while the thread lives, and does not keep it alive. Does nothing without `--expose-gc`. */
export function keepHeapSmall(): void {
  const { gc } = globalThis;
  if (gc === undefined) return;
  let before = performance.eventLoopUtilization();
  const heap = new QuietHeap({
    usedBytes: () => getHeapStatistics().used_heap_size,
    utilization() {
      const now = performance.eventLoopUtilization();
      const { utilization } = performance.eventLoopUtilization(now, before);
      before = now;
      return utilization;
    },
    collect: () => void gc(),
  });
  setInterval(() => heap.look(), everyMs).unref();
}
