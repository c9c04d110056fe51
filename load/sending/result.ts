// What one run of the load generator found.

import type { LatencySummary } from './latencies.ts';

export interface LoadResult {
  /** Events of all answers with 200. */
  acknowledged: number;
  /** Answers by HTTP status. */
  answers: Readonly<Record<string, number>>;
  /** The first answer other than 200. */
  refusal: string | undefined;
  /** Requests whose connection broke, or that timed out: nobody knows whether their events were queued. */
  unanswered: number;
  /** Requests that were due; 0 without a rate, and where the run was cut short. */
  due: number;
  /** Those of them that were not sent, because every connection waited for its answer. */
  unsent: number;
  /** Of requests answered with 200: from the moment a request was due, without a rate from its sending. */
  latency: LatencySummary | undefined;
  /** Until the last answer, and at least the time that was asked for, unless it was cut short. */
  elapsedMs: number;
  ended: Ended;
  generator: GeneratorCost;
}

export type Ended =
  | { kind: 'time' }
  | { kind: 'interrupted' }
  /** It takes no more connections, or answers nothing. */
  | { kind: 'gone'; why: string };

export interface GeneratorCost {
  cpuMs: number;
  /** The share of time in which the generator's one thread had work. */
  busyShare: number;
}
