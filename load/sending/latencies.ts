// Latencies in bounded memory, exact to a thousandth of their value however many there are.

import { createHistogram, type RecordableHistogram } from 'node:perf_hooks';

export interface LatencySummary {
  p50Ms: number;
  p90Ms: number;
  p99Ms: number;
  highestMs: number;
}

/** Longer latencies count as this. */
const longestUs = 3_600_000_000;

export class Latencies {
  readonly #histogram: RecordableHistogram = createHistogram({
    lowest: 1,
    highest: longestUs,
    figures: 3,
  });
  #highestMs = 0;

  record(latencyMs: number): void {
    const us = Math.round(latencyMs * 1_000);
    this.#histogram.record(Math.min(longestUs, Math.max(1, us)));
    this.#highestMs = Math.max(this.#highestMs, latencyMs);
  }

  /** Undefined before the first is recorded. */
  summary(): LatencySummary | undefined {
    if (this.#histogram.count === 0) return undefined;
    const at = (percent: number): number => this.#histogram.percentile(percent) / 1_000;
    return { p50Ms: at(50), p90Ms: at(90), p99Ms: at(99), highestMs: this.#highestMs };
  }
}
