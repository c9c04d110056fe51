// Holds the writers of a process between two batches while an operator's command takes the tables as they are at one
// moment. What is promised is finished: nothing new is promised until the command says so, or says nothing any more.

import type { NatsConnection } from '../platform/broker/nats.ts';
import type { Clock } from '../platform/clock.ts';
import {
  holdLeaseMs,
  longestHoldMs,
  readHoldWord,
  writersHoldSubject,
} from '../platform/ledger/writers-hold.ts';
import { hearLive } from '../platform/live/live-messages.ts';
import type { Log } from '../platform/log.ts';

export interface WriterHold {
  /** Resolves once a batch may be promised; at once as a rule. */
  mayPromise(): Promise<void>;
  /** Lets every writer go on, and hears no more. */
  close(): void;
}

interface HoldOptions {
  nats: Pick<NatsConnection, 'subscribe'>;
  /** Goes on evenly whatever becomes of the clock on the wall. */
  clock: Clock;
  log: Pick<Log, 'info'>;
  /** Calls `work` later, until the returned function is called; by a timer unless given. */
  later?(ms: number, work: () => void): () => void;
}

/** `writers` stand still since `sinceMs`. */
interface Held {
  sinceMs: number;
  passed: Promise<void>;
  end(): void;
  stopTimer(): void;
}

export function hearHold({ nats, clock, log, later = byTimer }: HoldOptions): WriterHold {
  let held: Held | undefined;
  let restsUntilMs = Number.NEGATIVE_INFINITY;

  const go = (): void => {
    if (held === undefined) return;
    const { sinceMs, end, stopTimer } = held;
    held = undefined;
    stopTimer();
    const ms = Math.round(clock.nowMs() - sinceMs);
    // Whoever asks without end would stop the writers.
    restsUntilMs = clock.nowMs() + ms;
    log.info({ ms }, 'the writers go on');
    end();
  };
  const hold = (): void => {
    const nowMs = clock.nowMs();
    if (held === undefined) {
      if (nowMs < restsUntilMs) return;
      log.info('the writers stand still between two batches, as an operator asks');
      held = { sinceMs: nowMs, ...newGate(), stopTimer: () => {} };
    }
    held.stopTimer();
    held.stopTimer = later(Math.min(holdLeaseMs, held.sinceMs + longestHoldMs - nowMs), go);
  };

  const stopHearing = hearLive(nats, writersHoldSubject, (content) => {
    const word = readHoldWord(content);
    if (word === 'hold') hold();
    if (word === 'go') go();
  });
  return {
    async mayPromise() {
      while (held !== undefined) await held.passed;
    },
    close() {
      stopHearing();
      go();
    },
  };
}

function newGate(): Pick<Held, 'passed' | 'end'> {
  let end = (): void => {};
  const passed = new Promise<void>((resolve) => {
    end = resolve;
  });
  return { passed, end: () => end() };
}

function byTimer(ms: number, work: () => void): () => void {
  const timer = setTimeout(work, Math.max(0, ms));
  return () => clearTimeout(timer);
}
