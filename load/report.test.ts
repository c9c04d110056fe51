// The verdict on a run, and the sentences that carry it.

import { describe, expect, it } from 'vitest';
import {
  exitCodeOf,
  foundLines,
  type Outcome,
  searchLine,
  stepLines,
  storedLine,
} from './report.ts';
import type { LoadResult } from './sending/result.ts';
import type { Step } from './steps.ts';
import type { Stored } from './stored.ts';

const result: LoadResult = {
  ...{ acknowledged: 1_000, answers: { 200: 10 }, refusal: undefined, unanswered: 0 },
  ...{ due: 10, unsent: 0, elapsedMs: 1_000, ended: { kind: 'time' } },
  latency: { p50Ms: 1.24, p90Ms: 2, p99Ms: 30, highestMs: 140.4 },
  generator: { cpuMs: 10, busyShare: 0.2 },
};
const listed = { marks: 1, medianMs: 900, highestMs: 1_200, missing: 0 };
const lag = { lastMs: 0, medianMs: 400, highestMs: 900 };
const step = (changes: Partial<LoadResult> = {}): Step => ({
  ...{ eventsPerSecond: 1_000, connections: 4, listed, lag },
  result: { ...result, ...changes },
});
const counted = (events: number, repeated = 0): Stored => ({ kind: 'counted', events, repeated });
const notCounted: Stored = { kind: 'not counted', why: 'that needs --private-key' };

function outcome(changes: Partial<Outcome> & { unknown?: number } = {}): Outcome {
  const { unknown = 0, ...others } = changes;
  return {
    plan: {
      target: { baseUrl: 'http://127.0.0.1:8080', publicKey: 'pub_x', privateKey: '' },
      ...{ size: 'small', batch: 100, connections: 4, seconds: 1, eventsPerSecond: 1_000 },
      ...{ find: undefined, json: false },
    },
    sent: { eventKind: 'load_x', acknowledged: 1_000, unknown, sinceMs: 0 },
    ...{ steps: [step()], found: undefined, stored: counted(1_000), interrupted: false },
    ...others,
  };
}

describe('the exit code', () => {
  it.each<[string, number, Partial<Outcome> & { unknown?: number }]>([
    ['all stored', 0, {}],
    ['nothing counted', 0, { stored: notCounted }],
    ['one event lost', 1, { stored: counted(999) }],
    ['one event too many', 1, { stored: counted(1_001) }],
    ['one event twice', 1, { stored: counted(1_000, 1) }],
    ['a refusal', 1, { steps: [step({ answers: { 200: 10, 429: 1 } })] }],
    ['no answer to one', 1, { unknown: 100, steps: [step({ unanswered: 1 })] }],
    ['nothing acknowledged', 1, { steps: [step({ acknowledged: 0 })], stored: notCounted }],
    ['a mark that is not listed', 1, { steps: [{ ...step(), listed: { ...listed, missing: 1 } }] }],
    ['the instance gone', 1, { steps: [step({ ended: { kind: 'gone', why: 'x' } })] }],
    ['Ctrl-C', 130, { interrupted: true, stored: notCounted }],
    ['Ctrl-C and an event lost', 1, { interrupted: true, stored: counted(999) }],
    ['a count that failed', 1, { stored: { kind: 'count failed', why: 'x' } }],
    ['a rate found', 0, { found: { held: 5, broke: undefined } }],
    ['no rate found', 1, { found: { held: undefined, broke: undefined } }],
  ])('of a run with %s is %i', (_, code, changes) => {
    expect(exitCodeOf(outcome(changes))).toBe(code);
  });
});

it.each<[Stored, number, string]>([
  [counted(1_000), 0, 'stored: 1,000 of 1,000 acknowledged events: all of them, once'],
  [
    counted(1_100),
    200,
    'stored: 1,100 of 1,000 acknowledged events: 100 without an answer were stored too',
  ],
  [counted(999), 200, 'stored: 999 of 1,000 acknowledged events: THIS IS WRONG'],
  [
    counted(1_000, 2),
    0,
    'stored: 1,000 of 1,000 acknowledged events, and 2 of them twice: THIS IS WRONG',
  ],
  [counted(0), 0, 'stored: 0 of 1,000 acknowledged events: do both keys belong to one project?'],
  [notCounted, 0, 'stored: not counted, that needs --private-key'],
])('%j with %i unknown is told as such', (stored, unknown, line) => {
  expect(storedLine(stored, outcome({ unknown }).sent)).toBe(line);
});

it('a step is told with the meaning of its latencies, and the cost of the generator', () => {
  expect(stepLines(step())).toEqual([
    '1,000 events/s acknowledged, in 10 requests/s: 1,000 events in 1.00 s',
    'latency of an acknowledgement, from the moment it was due: p50 1.2 ms, p90 2.0 ms, p99 30.0 ms, highest 140 ms',
    'answers: 10 with 200',
    'listed after 0.90 s (median of 1 marked events), at most 1.20 s',
    'lag of the shard: 0.00 s at the end, 0.40 s in the median, at most 0.90 s',
    'generator: 0.01 s of CPU, 1,000 us a request, busy 20% of the time',
  ]);
  const busy = { generator: { cpuMs: 900, busyShare: 0.9 } };
  expect(stepLines(step(busy)).at(-1)).toMatch(/busy 90% of the time: IT MAY BE THE LIMIT/);
  const fast = {
    ...step({ answers: {}, latency: undefined }),
    eventsPerSecond: 0,
    listed: undefined,
  };
  expect(stepLines(fast)).toContain('answers: none');
});

it('a search is told a line a step, and its result', () => {
  const bounds = { p99Ms: 100, listedMs: 1_000 };
  expect(searchLine(step(), bounds)).toBe(
    '      1,000 events/s: p99 30.0 ms, listed within 1.20 s; does not hold: a marked event was listed too late',
  );
  expect(searchLine({ ...step(), listed: undefined }, bounds)).toMatch(/: p99 30\.0 ms; holds$/);
  const broke = { eventsPerSecond: 2_000, breach: 'p99', tries: 2 } as const;
  expect(foundLines({ held: 1_000, broke })).toEqual([
    'highest rate that held: 1,000 events/s',
    '2,000 events/s did not: the p99 of the answers passed its bound',
  ]);
});
