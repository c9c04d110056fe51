// What a run found, as lines for a person and as one object for scripts; and whether it counts as a success.

import { count } from '../demo/progress.ts';
import { type Bounds, type Breach, breachOf, type Found } from './find-rate.ts';
import type { Plan } from './plan.ts';
import type { LagSummary } from './sending/lag.ts';
import type { ListedSummary } from './sending/marks.ts';
import type { LoadResult } from './sending/result.ts';
import { type Step, sampleOf } from './steps.ts';
import { fits, type Sent, type Stored } from './stored.ts';

export interface Outcome {
  plan: Plan;
  sent: Sent;
  steps: readonly Step[];
  /** Undefined where the highest rate was not asked for. */
  found: Found | undefined;
  stored: Stored;
  /** By Ctrl-C, at any time. */
  interrupted: boolean;
}

/** From here on the generator may be what limits the figures. */
const busyLimit = 0.85;
const interruptedCode = 130;

/** 0 where everything was acknowledged, and stored as far as that was counted; 130 after Ctrl-C; otherwise 1. */
export function exitCodeOf({ steps, found, stored, sent, interrupted }: Outcome): number {
  if (fits(stored, sent) === false) return 1;
  if (steps.some(({ result }) => result.ended.kind === 'gone')) return 1;
  if (interrupted) return interruptedCode;
  if (stored.kind === 'count failed') return 1;
  if (steps.some(({ listed }) => (listed?.missing ?? 0) > 0)) return 1;
  if (found !== undefined) return found.held === undefined ? 1 : 0;
  return steps.some(({ result }) => hasFailures(result)) ? 1 : 0;
}

function hasFailures({ answers, unanswered, acknowledged }: LoadResult): boolean {
  const refused = Object.keys(answers).some((status) => status !== '200');
  return refused || unanswered > 0 || acknowledged === 0;
}

export function stepLines(step: Step): string[] {
  const { result, listed, lag, eventsPerSecond } = step;
  const { acknowledged, elapsedMs, latency } = result;
  const requests = result.answers['200'] ?? 0;
  const since = eventsPerSecond === 0 ? 'from its sending' : 'from the moment it was due';
  return [
    ...endLines(result),
    `${count(perSecond(acknowledged, elapsedMs))} events/s acknowledged, in ` +
      `${count(perSecond(requests, elapsedMs))} requests/s: ${count(acknowledged)} events in ${seconds(elapsedMs)}`,
    ...(latency === undefined
      ? []
      : [
          `latency of an acknowledgement, ${since}: p50 ${ms(latency.p50Ms)}, p90 ${ms(latency.p90Ms)}, ` +
            `p99 ${ms(latency.p99Ms)}, highest ${ms(latency.highestMs)}`,
        ]),
    `answers: ${answersText(result)}`,
    ...(result.refusal === undefined ? [] : [`the first refusal: ${result.refusal}`]),
    ...(listed === undefined ? [] : [listedText(listed)]),
    ...(lag === undefined ? [] : [lagText(lag)]),
    generatorText(result),
  ];
}

/** Why the sending ended before its time; empty where it did not. */
export function endLines({ ended }: LoadResult): string[] {
  switch (ended.kind) {
    case 'time':
      return [];
    case 'interrupted':
      return ['interrupted'];
    case 'gone':
      return [`the instance is gone: ${ended.why}`];
    default:
      return ended satisfies never;
  }
}

/** A step of the search, on one line. */
export function searchLine(step: Step, bounds: Bounds): string {
  const { result, listed, eventsPerSecond } = step;
  const p99 = result.latency === undefined ? 'no answer' : `p99 ${ms(result.latency.p99Ms)}`;
  const when =
    listed === undefined || listed.marks === 0
      ? ''
      : `, listed within ${seconds(listed.highestMs)}`;
  const breach = breachOf(sampleOf(step), bounds);
  const verdict = breach === undefined ? 'holds' : `does not hold: ${breachText(breach)}`;
  const limit = isGeneratorBusy(result) ? ', the generator may be the limit' : '';
  return `${count(eventsPerSecond).padStart(11)} events/s: ${p99}${when}; ${verdict}${limit}`;
}

export function foundLines(found: Found): string[] {
  const { held, broke } = found;
  const lines = [
    held === undefined ? 'no rate held' : `highest rate that held: ${count(held)} events/s`,
  ];
  if (broke === undefined) return lines;
  return [
    ...lines,
    `${count(broke.eventsPerSecond)} events/s did not: ${breachText(broke.breach)}`,
  ];
}

export function storedLine(stored: Stored, sent: Sent): string {
  if (stored.kind !== 'counted') return `stored: ${stored.kind}, ${stored.why}`;
  const { events, repeated } = stored;
  const twice = repeated === 0 ? '' : `, and ${count(repeated)} of them twice`;
  const all = `stored: ${count(events)} of ${count(sent.acknowledged)} acknowledged events${twice}`;
  if (fits(stored, sent) === true) {
    const more = events - sent.acknowledged;
    return more === 0
      ? `${all}: all of them, once`
      : `${all}: ${count(more)} without an answer were stored too`;
  }
  return events === 0 ? `${all}: do both keys belong to one project?` : `${all}: THIS IS WRONG`;
}

/** The object that --json prints. Times are milliseconds; what was not looked at is null. */
export function reportObject(outcome: Outcome): object {
  const { plan, sent, steps, found, stored } = outcome;
  return {
    url: plan.target.baseUrl,
    eventKind: sent.eventKind,
    ...{ size: plan.size, batch: plan.batch },
    steps: steps.map(stepObject),
    found: found ?? null,
    acknowledged: sent.acknowledged,
    unknown: sent.unknown,
    stored: stored.kind === 'counted' ? { ...stored, fits: fits(stored, sent) } : stored,
    ok: exitCodeOf(outcome) === 0,
  };
}

function stepObject({ eventsPerSecond, connections, result, listed, lag }: Step): object {
  const { acknowledged, elapsedMs, answers, generator } = result;
  const requests = answers['200'] ?? 0;
  return {
    rate: eventsPerSecond === 0 ? null : eventsPerSecond,
    connections,
    ended: result.ended,
    elapsedMs,
    eventsPerSecond: perSecond(acknowledged, elapsedMs),
    requestsPerSecond: perSecond(requests, elapsedMs),
    acknowledged,
    answers,
    refusal: result.refusal ?? null,
    ...{ unanswered: result.unanswered, unsent: result.unsent },
    latency: result.latency ?? null,
    latencyFrom: eventsPerSecond === 0 ? 'sent' : 'due',
    listed: listed ?? null,
    lag: lag ?? null,
    generator: { ...generator, usPerRequest: usPerRequest(result) },
  };
}

function answersText({ answers, unanswered, unsent }: LoadResult): string {
  const parts = Object.entries(answers).map(
    ([status, number]) => `${count(number)} with ${status}`,
  );
  if (unanswered > 0) parts.push(`${count(unanswered)} requests without one`);
  if (unsent > 0) parts.push(`${count(unsent)} due and not sent, which no latency has`);
  return parts.length === 0 ? 'none' : parts.join(', ');
}

function listedText({ marks, medianMs, highestMs, missing }: ListedSummary): string {
  const unlisted =
    missing === 0 ? '' : `; ${count(missing)} ACKNOWLEDGED AND NOT LISTED after a minute`;
  if (marks === 0) return `listed: no marked event${unlisted}`;
  return `listed after ${seconds(medianMs)} (median of ${count(marks)} marked events), at most ${seconds(highestMs)}${unlisted}`;
}

function lagText({ lastMs, medianMs, highestMs }: LagSummary): string {
  return `lag of the shard: ${seconds(lastMs)} at the end, ${seconds(medianMs)} in the median, at most ${seconds(highestMs)}`;
}

function generatorText(result: LoadResult): string {
  const { cpuMs, busyShare } = result.generator;
  const limit = !isGeneratorBusy(result) ? '' : ': IT MAY BE THE LIMIT, not the instance';
  return `generator: ${seconds(cpuMs)} of CPU, ${count(usPerRequest(result))} us a request, busy ${count(100 * busyShare)}% of the time${limit}`;
}

function isGeneratorBusy({ generator }: LoadResult): boolean {
  return generator.busyShare >= busyLimit;
}

function usPerRequest({ answers, generator }: LoadResult): number {
  const all = Object.values(answers).reduce((sum, number) => sum + number, 0);
  return all === 0 ? 0 : (1_000 * generator.cpuMs) / all;
}

function breachText(breach: Breach): string {
  switch (breach) {
    case 'answers':
      return 'requests were refused or lost';
    case 'behind':
      return 'requests that were due could not be sent';
    case 'p99':
      return 'the p99 of the answers passed its bound';
    case 'listed':
      return 'a marked event was listed too late';
    default:
      return breach satisfies never;
  }
}

function perSecond(number: number, elapsedMs: number): number {
  return elapsedMs <= 0 ? 0 : (1_000 * number) / elapsedMs;
}

function seconds(timeMs: number): string {
  return `${(timeMs / 1_000).toFixed(timeMs < 10_000 ? 2 : 1)} s`;
}

function ms(latencyMs: number): string {
  return `${latencyMs.toFixed(latencyMs < 100 ? 1 : 0)} ms`;
}
