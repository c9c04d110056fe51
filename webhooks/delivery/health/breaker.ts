// Keeps attempts away from endpoints that fail: after enough failures nothing is sent for a while, then one delivery
// tries whether the endpoint is back. What was kept away has used up no attempt. Each process judges by its own
// attempts; the lasting counters are health-record.ts's.

import type { Clock } from '../../../platform/clock.ts';
import { setBounded } from '../../../platform/memory/bounded-map.ts';

export type BreakerOutcome = 'succeeded' | 'failed' | 'timed_out';

/** Fast failures count too: an endpoint that refuses at once takes turns from others as well. */
const windowMs = 300_000;
const fewestAttempts = 10;
const failedShare = 0.7;
const timeoutsInARow = 5;
const firstPauseMs = 30_000;
const longestPauseMs = 900_000;
/** A probe that never told its outcome, because its webhook was paused, is forgotten after this time. */
const probeMs = 60_000;
/** Of webhooks with a failure. */
const maxBreakers = 20_000;

interface Breaker {
  windowSinceMs: number;
  attempts: number;
  failures: number;
  timeouts: number;
  /** 0 while the breaker is closed. */
  pauseMs: number;
  openUntilMs: number;
  probingUntilMs: number;
}

export class Breakers {
  readonly #clock: Clock;
  readonly #breakers = new Map<string, Breaker>();

  /** `clock`: a steady one, because a clock that is set back would keep deliveries away as long. */
  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** `probe`: one delivery may be sent, which `admit` chooses. */
  state(webhookId: string): 'closed' | 'open' | 'probe' {
    const breaker = this.#breakers.get(webhookId);
    if (breaker === undefined || breaker.pauseMs === 0) return 'closed';
    const nowMs = this.#clock.nowMs();
    const isWaiting = nowMs < breaker.openUntilMs || nowMs < breaker.probingUntilMs;
    return isWaiting ? 'open' : 'probe';
  }

  /** Whether a delivery may be sent now; one that is let through an open breaker is its probe. */
  admit(webhookId: string): boolean {
    const state = this.state(webhookId);
    const breaker = this.#breakers.get(webhookId);
    if (state === 'probe' && breaker !== undefined) {
      breaker.probingUntilMs = this.#clock.nowMs() + probeMs;
    }
    return state !== 'open';
  }

  /** True where this outcome has opened the breaker. */
  record(webhookId: string, outcome: BreakerOutcome): boolean {
    const known = this.#breakers.get(webhookId);
    if (outcome === 'succeeded') {
      this.#succeeded(webhookId, known);
      return false;
    }
    const breaker = known ?? newBreaker(this.#clock.nowMs());
    setBounded(this.#breakers, webhookId, breaker, maxBreakers);
    return this.#failed(breaker, outcome);
  }

  openCount(): number {
    let open = 0;
    for (const { pauseMs } of this.#breakers.values()) if (pauseMs > 0) open++;
    return open;
  }

  #succeeded(webhookId: string, breaker: Breaker | undefined): void {
    if (breaker === undefined) return;
    const isOld = this.#clock.nowMs() - breaker.windowSinceMs > windowMs;
    if (breaker.pauseMs > 0 || isOld) {
      this.#breakers.delete(webhookId);
      return;
    }
    breaker.attempts++;
    breaker.timeouts = 0;
  }

  #failed(breaker: Breaker, outcome: BreakerOutcome): boolean {
    const nowMs = this.#clock.nowMs();
    if (breaker.pauseMs > 0) {
      // Attempts that began before it opened tell nothing new.
      if (breaker.probingUntilMs === 0) return false;
      this.#open(breaker, Math.min(longestPauseMs, breaker.pauseMs * 2));
      return true;
    }
    if (nowMs - breaker.windowSinceMs > windowMs) {
      Object.assign(breaker, { windowSinceMs: nowMs, attempts: 0, failures: 0 });
    }
    breaker.attempts++;
    breaker.failures++;
    breaker.timeouts = outcome === 'timed_out' ? breaker.timeouts + 1 : 0;
    const hasFailed =
      breaker.attempts >= fewestAttempts && breaker.failures >= failedShare * breaker.attempts;
    if (!hasFailed && breaker.timeouts < timeoutsInARow) return false;
    this.#open(breaker, firstPauseMs);
    return true;
  }

  #open(breaker: Breaker, pauseMs: number): void {
    breaker.pauseMs = pauseMs;
    breaker.openUntilMs = this.#clock.nowMs() + pauseMs;
    breaker.probingUntilMs = 0;
  }
}

function newBreaker(nowMs: number): Breaker {
  return {
    windowSinceMs: nowMs,
    attempts: 0,
    failures: 0,
    timeouts: 0,
    pauseMs: 0,
    openUntilMs: 0,
    probingUntilMs: 0,
  };
}
