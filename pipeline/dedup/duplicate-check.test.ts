// The rows that the duplicate check sends to event_ids. No database: see seen-loader.test.ts.

import { setImmediate } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { Repeats } from '../build/repeats.ts';
import type { BatchIds } from '../build/thread-messages.ts';
import { DuplicateCheck } from './duplicate-check.ts';
import type { RowSpan } from './recent-table.ts';
import { minSeenBytes, periodMs, SeenSet } from './seen-set.ts';

const startMs = Date.UTC(2026, 10, 20);
const hourMs = 3_600_000;

/** A batch of one message, whose events have keys that no other batch has. */
function batch(seq: number, rows: number, nowMs: number, occurTimeMs = nowMs): BatchIds {
  const keys = Uint32Array.from({ length: rows * 2 }, (_, word) =>
    Math.imul(seq * 1_000_003 + word + 1, 0x9e3779b1),
  );
  return {
    rows,
    keys,
    eventIds: new Uint8Array(rows * 16),
    projectOf: new Int32Array(rows),
    projects: ['p'],
    occurTimesMs: new Float64Array(rows).fill(occurTimeMs),
    firstSeq: seq,
    lastSeq: seq,
    minReceiveTimeMs: nowMs,
    maxReceiveTimeMs: nowMs,
    repeats: new Repeats().snapshot(),
    sessionless: {
      rows: new Int32Array(0),
      occurTimes: new Float64Array(0),
      visitorOf: new Int32Array(0),
      otherOf: new Int32Array(0),
      visitors: [],
    },
  };
}

it('lets a batch wait where memory is full of new keys and older ones are still being loaded', async () => {
  let openGate = (): void => {};
  const loaded = new Promise<void>((resolve) => {
    openGate = resolve;
  });
  const seen = new SeenSet(minSeenBytes);
  seen.beginLoading();
  const stored: RowSpan[] = [];
  const check = new DuplicateCheck({
    ...{ seen, loaded, clock: { nowMs: () => startMs } },
    findStored: async () => [],
    completeTo: () => Number.POSITIVE_INFINITY,
    storeIds: async (span) => {
      // The rows that are still to be loaded are older, and older rows leave first.
      expect(seen.isLoading).toBe(false);
      stored.push(span);
    },
  });
  let seq = 0;
  while (!seen.isOver) await check.check(batch(++seq, 80_000, startMs));
  expect(seen.hasRoomFor(1)).toBe(false);
  let isChecked = false;
  const waiting = check.check(batch(++seq, 80_000, startMs)).then(() => {
    isChecked = true;
  });
  await setImmediate();
  expect(isChecked).toBe(false);
  seen.addUnread(startMs);
  seen.endLoading();
  openGate();
  await waiting;
  expect(stored[0]?.firstSeq).toBe(1);
  expect(seen.bytes).toBeLessThanOrEqual(minSeenBytes);
});

it('stores rows with whole sequences only, also where a table holds nothing but keys put back', async () => {
  let nowMs = startMs;
  const stored: { span: RowSpan; reach: number }[] = [];
  let openGate = (): void => {};
  const gate = new Promise<void>((resolve) => {
    openGate = resolve;
  });
  const seen = new SeenSet(minSeenBytes);
  const check = new DuplicateCheck({
    seen,
    clock: { nowMs: () => nowMs },
    loaded: Promise.resolve(),
    findStored: async () => [],
    completeTo: () => Number.POSITIVE_INFINITY,
    storeIds: async (span, reach) => {
      stored.push({ span, reach });
      if (stored.length === 1) await gate;
    },
  });
  let seq = 0;
  await check.check(batch(++seq, 10, nowMs, startMs + 40 * hourMs));
  while (stored.length === 0) await check.check(batch(++seq, 80_000, nowMs));
  // The first rows have left in a later period without batches: the keys of events to come are put back into a table
  // of their own.
  nowMs = startMs + periodMs;
  openGate();
  await setImmediate();
  nowMs = startMs + 2 * periodMs;
  const last = seq + 30;
  while (seq < last) await check.check(batch(++seq, 80_000, nowMs));
  expect(stored.length).toBeGreaterThan(4);
  for (const { span, reach } of stored) {
    expect(Number.isSafeInteger(span.firstSeq) && span.firstSeq <= span.lastSeq).toBe(true);
    expect(Number.isSafeInteger(reach)).toBe(true);
  }
  // Every row left once, up to the reach of the last span.
  const covered = new Set(stored.flatMap(({ span }) => [span.firstSeq, span.lastSeq]));
  expect(Math.min(...covered)).toBe(1);
});

it('counts no row as reached whose message waits for its turn', async () => {
  const reached: number[] = [];
  const check = new DuplicateCheck({
    seen: new SeenSet(minSeenBytes),
    clock: { nowMs: () => startMs },
    loaded: Promise.resolve(),
    findStored: async () => [],
    storeIds: async (_, reach) => {
      reached.push(reach);
    },
    // Message 3 is a project's that waits behind the others; the batches come from 101 on.
    completeTo: () => 2,
  });
  let seq = 100;
  while (reached.length < 2) await check.check(batch(++seq, 80_000, startMs));
  expect(reached).toEqual([2, 2]);
});
