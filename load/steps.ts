// Steps of load at one rate each, with the marked events listed behind each step, so that no step carries the backlog
// of the one before; and the search that chooses their rates.

import { randomInt } from 'node:crypto';
import { count, createProgress } from '../demo/progress.ts';
import { type Client, createClient } from '../demo/sending/client.ts';
import { systemClock } from '../platform/clock.ts';
import { kindPrefix } from './checks.ts';
import { type Found, foundSoFar, nextRate, type Sample } from './find-rate.ts';
import { maxEventsPerSecond, type Plan } from './plan.ts';
import { runLoad } from './sending/generator.ts';
import { type LagSummary, LagWatch } from './sending/lag.ts';
import { type ListedSummary, Marks } from './sending/marks.ts';
import { type PreparedBody, prepareBodies } from './sending/prepared-body.ts';
import type { LoadResult } from './sending/result.ts';

export interface Step {
  /** 0: as fast as the instance answered. */
  eventsPerSecond: number;
  connections: number;
  result: LoadResult;
  /** Undefined without a private key. */
  listed: ListedSummary | undefined;
  /** Undefined without a private key, and where the instance does not tell. */
  lag: LagSummary | undefined;
}

export interface Load {
  plan: Plan;
  eventKind: string;
  bodies: readonly PreparedBody[];
  signal: AbortSignal;
  /** Where the bar is drawn. */
  out: NodeJS.WriteStream;
}

const letters = 'bcdfghjklmnpqrstvwxz';
const wordLetters = 8;
const maxListedWaitMs = 60_000;

export function prepareLoad(plan: Plan, signal: AbortSignal, out: NodeJS.WriteStream): Load {
  const word = Array.from({ length: wordLetters }, () => letters[randomInt(letters.length)]);
  const eventKind = `${kindPrefix}${word.join('')}`;
  const { size, batch, connections } = plan;
  const seed = randomInt(2 ** 32);
  const options = {
    size,
    batch,
    count: connections,
    kind: eventKind,
    seed,
    nowMs: systemClock.nowMs(),
  };
  return { plan, eventKind, bodies: prepareBodies(options), signal, out };
}

/** Sends for the plan's seconds and waits until the marked events are listed. */
export async function runStep(load: Load, eventsPerSecond: number): Promise<Step> {
  const { plan, signal } = load;
  const { target, batch, seconds } = plan;
  const requestsPerSecond = eventsPerSecond / batch;
  const connections =
    requestsPerSecond === 0
      ? plan.connections
      : Math.min(plan.connections, Math.ceil(requestsPerSecond));
  const progress = createProgress(load.out, 1_000 * seconds);
  const reader = readerOf(plan);
  const marks = reader && new Marks(reader, target.privateKey);
  const lagWatch = reader && new LagWatch(target);
  try {
    const result = await runLoad({
      ...{ baseUrl: target.baseUrl, publicKey: target.publicKey, seconds, requestsPerSecond },
      ...{ bodies: load.bodies.slice(0, connections), marks, signal },
      onProgress: (elapsedMs, acknowledged) =>
        progress.show(
          Math.min(elapsedMs, 1_000 * seconds),
          `${count((1_000 * acknowledged) / Math.max(1, elapsedMs))} events/s`,
        ),
    });
    progress.end();
    const waitMs = result.ended.kind === 'gone' ? 0 : maxListedWaitMs;
    const listed = await marks?.settle(waitMs, signal);
    return { eventsPerSecond, connections, result, listed, lag: await lagWatch?.stop() };
  } finally {
    await lagWatch?.stop();
    await reader?.close();
  }
}

function readerOf({ target }: Plan): Client | undefined {
  if (target.privateKey === '') return undefined;
  return createClient({ baseUrl: target.baseUrl, connections: 1, attempts: 1 });
}

export interface Search {
  steps: Step[];
  found: Found;
}

/** Steps until the highest rate is found, the run is interrupted, or the instance is gone. */
export async function findRate(load: Load, onStep: (step: Step) => void): Promise<Search> {
  const { batch, eventsPerSecond: first, find: bounds } = load.plan;
  if (bounds === undefined) throw new Error('no bounds to find a rate within');
  const search = { first, lowest: batch, highest: maxEventsPerSecond, bounds };
  const steps: Step[] = [];
  const samples: Sample[] = [];
  for (;;) {
    const rate = nextRate(samples, search);
    if (rate === undefined) break;
    const step = await runStep(load, rate);
    steps.push(step);
    onStep(step);
    // A step that was cut short says nothing about its rate.
    if (load.signal.aborted) break;
    samples.push(sampleOf(step));
    if (step.result.ended.kind === 'gone') break;
  }
  return { steps, found: foundSoFar(samples, bounds) };
}

/** What the search looks at. */
export function sampleOf({ eventsPerSecond, result, listed }: Step): Sample {
  const refused = Object.entries(result.answers).filter(([status]) => status !== '200');
  const failures = refused.reduce((sum, [, answers]) => sum + answers, result.unanswered);
  return {
    eventsPerSecond,
    p99Ms: result.latency?.p99Ms ?? Number.POSITIVE_INFINITY,
    listedMs: listed && (listed.missing > 0 ? Number.POSITIVE_INFINITY : listed.highestMs),
    failures: result.ended.kind === 'gone' ? failures + 1 : failures,
    unsentShare: result.due === 0 ? 0 : result.unsent / result.due,
  };
}
