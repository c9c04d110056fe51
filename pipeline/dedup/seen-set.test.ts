// The seen-set against a JavaScript Map and against its own promises, and the keys of events. No table: see
// seen-loader.test.ts.
// Takes some 50 seconds.

import { randomBytes, randomUUID } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { readConfig } from '../../platform/config.ts';
import { EventKeys, writeEventKey } from '../build/event-key.ts';
import { parseUuid } from '../build/uuid.ts';
import { isEmptySpan, type RowSpan } from './recent-table.ts';
import { type Known, minSeenBytes, periodMs, SeenSet } from './seen-set.ts';

const MiB = 1_048_576;
const startMs = Date.UTC(2026, 10, 20);
const hourMs = 3_600_000;

/** Distinct keys, the same for the same seed. */
function keys(count: number, seed: number): Uint32Array {
  const words = new Uint32Array(count * 2);
  let state = seed * 2_654_435_761 + 1;
  for (let index = 0; index < words.length; index++) {
    state = (Math.imul(state ^ (state >>> 15), 0x2c1b3c6d) + index) | 0;
    words[index] = Math.imul(state ^ (state >>> 13), 0x297a2d39);
  }
  for (let row = 0; row < count; row++) words[row * 2] = ((words[row * 2] ?? 0) << 8) ^ seed;
  return words;
}

let batches = 0;

/** Checks a batch of one message; its events occurred when they were received, unless `occurTimeMs` says otherwise. */
function check(set: SeenSet, batch: Uint32Array, nowMs: number, occurTimeMs = nowMs): Known {
  const seq = ++batches;
  return set.check(
    {
      keys: batch,
      occurTimesMs: new Float64Array(batch.length / 2).fill(occurTimeMs),
      firstSeq: seq,
      lastSeq: seq,
      minReceiveTimeMs: nowMs,
      maxReceiveTimeMs: nowMs,
    },
    nowMs,
  );
}

/** Makes room as DuplicateCheck does, with a table that takes everything at once. */
function makeRoom(set: SeenSet, nowMs: number): void {
  while (set.isOver) set.retire(nowMs, set.leaving);
}

/** Loads keys of events that occurred when they were received. */
function load(set: SeenSet, loaded: Uint32Array, receiveTimeMs: number): void {
  const table = set.makeLoaded(loaded.length / 2, receiveTimeMs);
  for (let at = 0; at < loaded.length; at += 2) {
    table.put(loaded[at] ?? 0, loaded[at + 1] ?? 0, receiveTimeMs, false);
    table.includeRow(++batches, receiveTimeMs);
  }
  set.addLoaded(table);
}

function counts({ stored, maybe }: Known): { stored: number; maybe: number } {
  return { stored: stored.length, maybe: maybe.length };
}

const nothing = { stored: 0, maybe: 0 };

/** Hardly any other key has the fingerprint of one that was stored. */
function expectNearlyAllNew({ stored, maybe }: Known): void {
  expect(stored).toEqual([]);
  expect(maybe.length).toBeLessThan(5);
}

/** Fills a set with batches of 50,000 keys a minute; returns the time of the next one. */
function fill(set: SeenSet, count: number, occurTimeMs?: number): number {
  for (let n = 0; n < count; n++) {
    const nowMs = startMs + n * 60_000;
    const known = check(set, keys(100_000, n + 1), nowMs, occurTimeMs);
    expect(known.stored).toEqual([]);
    makeRoom(set, nowMs);
    expect(set.bytes).toBeLessThanOrEqual(minSeenBytes);
  }
  return startMs + count * 60_000;
}

describe('the seen-set', () => {
  it('within the budget knows the keys that were added, and no others', () => {
    const set = new SeenSet(32 * MiB);
    const first = keys(100_000, 1);
    const second = keys(100_000, 2);
    expect(counts(check(set, first, startMs))).toEqual(nothing);
    expect(counts(check(set, second, startMs + 1))).toEqual(nothing);
    expect(counts(check(set, first, startMs + 2))).toEqual({ stored: 100_000, maybe: 0 });
    expect(counts(check(set, second, startMs + 3))).toEqual({ stored: 100_000, maybe: 0 });
    expect(counts(check(set, keys(100_000, 3), startMs + 4))).toEqual(nothing);
  });

  it('agrees with a JavaScript Map for any order of batches and times', () => {
    const sent = fc.array(
      fc.record({
        ids: fc.uniqueArray(fc.integer({ min: 1, max: 60 }), { maxLength: 20 }),
        laterMs: fc.integer({ min: 0, max: 7 * hourMs }),
      }),
      { maxLength: 40 },
    );
    fc.assert(
      fc.property(sent, (batches) => {
        const set = new SeenSet(minSeenBytes * 2);
        const lastPeriod = new Map<number, number>();
        let nowMs = startMs;
        for (const { ids, laterMs } of batches) {
          nowMs += laterMs;
          const oldest = Math.floor((nowMs - 48 * hourMs) / periodMs);
          const words = Uint32Array.from(ids.flatMap((id) => [id % 7, id]));
          const isStored = (id: number) =>
            (lastPeriod.get(id) ?? Number.NEGATIVE_INFINITY) >= oldest;
          const stored = ids.flatMap((id, row) => (isStored(id) ? [row] : []));
          expect(check(set, words, nowMs)).toEqual({ stored, maybe: [] });
          for (const id of ids) {
            if (!isStored(id)) lastPeriod.set(id, Math.floor(nowMs / periodMs));
          }
        }
      }),
      { numRuns: 300 },
    );
  });

  it('never takes a stored event for new, whenever it occurred and however old its key is', () => {
    const sizes = fc.array(
      fc.record({
        ids: fc.uniqueArray(fc.integer({ min: 1, max: 3_000 }), { maxLength: 50 }),
        lateMs: fc.integer({ min: -3 * hourMs, max: 40 * hourMs }),
        laterMs: fc.integer({ min: 0, max: hourMs }),
      }),
      { maxLength: 30 },
    );
    fc.assert(
      fc.property(sizes, (sent) => {
        const set = new SeenSet(minSeenBytes);
        const occurred = new Map<number, number>();
        let nowMs = startMs;
        for (const { ids, lateMs, laterMs } of sent) {
          nowMs += laterMs;
          const words = Uint32Array.from(ids.flatMap((id) => [id % 7, id]));
          const occurTimesMs = Float64Array.from(ids, (id) => occurred.get(id) ?? nowMs - lateMs);
          const span = {
            firstSeq: 1,
            lastSeq: 1,
            minReceiveTimeMs: nowMs,
            maxReceiveTimeMs: nowMs,
          };
          const { stored, maybe } = set.check({ keys: words, occurTimesMs, ...span }, nowMs);
          ids.forEach((id, row) => {
            if (occurred.has(id)) expect(stored.includes(row) || maybe.includes(row)).toBe(true);
            else expect(stored.includes(row)).toBe(false);
            occurred.set(id, occurTimesMs[row] ?? 0);
          });
          // The oldest keys leave after each batch, as they do where the budget is used up.
          set.retire(nowMs);
        }
      }),
      { numRuns: 300 },
    );
  });

  it('remembers a key for 48 hours and forgets it within six more', () => {
    const set = new SeenSet(minSeenBytes);
    const early = keys(10, 1);
    check(set, early, startMs);
    expect(counts(check(new SeenSet(minSeenBytes), early, startMs))).toEqual(nothing);
    expect(counts(check(set, early, startMs + 48 * hourMs))).toEqual({ stored: 10, maybe: 0 });
    expect(counts(check(set, early, startMs + 55 * hourMs))).toEqual(nothing);
    expect(set.bytes).toBeLessThan(2 * MiB);
  });

  it('beyond the budget says maybe of stored events, and new of events that occur now', () => {
    const set = new SeenSet(minSeenBytes);
    const nowMs = fill(set, 100);
    for (const n of [0, 30, 60]) {
      const known = counts(check(set, keys(100_000, n + 1), nowMs, startMs + n * 60_000));
      expect(known).toEqual({ stored: 0, maybe: 100_000 });
      makeRoom(set, nowMs);
    }
    expectNearlyAllNew(check(set, keys(100_000, 253), nowMs));
    makeRoom(set, nowMs);
    expect(counts(check(set, keys(100_000, 253), nowMs + 60_000))).toEqual({
      stored: 100_000,
      maybe: 0,
    });
  });

  it('knows the latest keys exactly, however many came before', () => {
    const set = new SeenSet(minSeenBytes);
    const nowMs = fill(set, 43);
    for (const n of [41, 42, 43]) {
      const known = counts(check(set, keys(100_000, n), nowMs, startMs - hourMs));
      expect(known).toEqual({ stored: 100_000, maybe: 0 });
    }
  });

  it('says new of nearly all new events of an old minute, as long as its fingerprints fit', () => {
    const set = new SeenSet(minSeenBytes);
    const nowMs = fill(set, 20, startMs);
    expectNearlyAllNew(check(set, keys(100_000, 252), nowMs, startMs));
  });

  it('says maybe of stored events that come with another time, as long as their fingerprints fit', () => {
    const set = new SeenSet(minSeenBytes);
    const nowMs = fill(set, 10);
    const known = counts(check(set, keys(100_000, 1), nowMs, nowMs));
    expect(known).toEqual({ stored: 0, maybe: 100_000 });
  });

  it('keeps an event that has not occurred yet exactly until then, so that its minute stays free of old events', () => {
    const set = new SeenSet(minSeenBytes);
    const ahead = keys(100, 254);
    check(set, ahead, startMs, startMs + 50 * 60_000 + 1_000);
    let nowMs = startMs;
    for (let n = 0; n < 100; n++) {
      nowMs = startMs + n * 60_000;
      expectNearlyAllNew(check(set, keys(100_000, n + 1), nowMs));
      makeRoom(set, nowMs);
      if (n === 40) {
        const known = counts(check(set, ahead, nowMs, startMs + 50 * 60_000 + 1_000));
        expect(known).toEqual({ stored: 100, maybe: 0 });
      }
    }
    const known = counts(check(set, ahead, nowMs, startMs + 50 * 60_000 + 1_000));
    expect(known).toEqual({ stored: 0, maybe: 100 });
  });

  it('names the bounds of the rows that leave, and the sequence up to which all rows have left', () => {
    const set = new SeenSet(minSeenBytes);
    const span = { minReceiveTimeMs: startMs - 5, maxReceiveTimeMs: startMs };
    expect(set.leaving).toBeUndefined();
    for (let seq = 1; set.leaving === undefined; seq++) {
      const occurTimesMs = new Float64Array(20_000).fill(startMs);
      set.check(
        { keys: keys(20_000, seq), occurTimesMs, firstSeq: 2 * seq, lastSeq: 2 * seq + 1, ...span },
        startMs,
      );
    }
    // 196,608 keys fill the first table.
    expect(set.leaving).toEqual({ firstSeq: 2, lastSeq: 21, ...span });
    expect(set.reach).toBe(19);
  });

  it('has no rows leave with a table that holds only keys put back', () => {
    const set = new SeenSet(minSeenBytes);
    const ahead = keys(10, 500);
    check(set, ahead, startMs, startMs + 40 * hourMs);
    for (let n = 1; set.leaving === undefined; n++) check(set, keys(80_000, n), startMs);
    // The keys of events to come go back into a table of their own; then nobody sends for a period.
    set.retire(startMs + periodMs, set.leaving);
    const laterMs = startMs + 2 * periodMs;
    const left: RowSpan[] = [];
    for (let n = 101; n < 130; n++) {
      check(set, keys(80_000, n), laterMs);
      while (set.leaving !== undefined) {
        expect(Number.isSafeInteger(set.reach)).toBe(true);
        left.push(set.leaving);
        set.retire(laterMs, set.leaving);
      }
    }
    expect(left.filter((span) => isEmptySpan(span)).length).toBeGreaterThan(0);
    expect(left.every((span) => isEmptySpan(span) || span.firstSeq <= span.lastSeq)).toBe(true);
  });

  it('retires no other keys where the leaving ones were forgotten meanwhile', () => {
    const set = new SeenSet(minSeenBytes);
    for (let n = 1; set.leaving === undefined; n++) check(set, keys(80_000, n), startMs);
    const leaving = set.leaving;
    const laterMs = startMs + 55 * hourMs;
    for (let n = 101; n < 108; n++) check(set, keys(80_000, n), laterMs);
    set.retire(laterMs, leaving);
    expect(counts(check(set, keys(80_000, 101), laterMs))).toEqual({ stored: 80_000, maybe: 0 });
  });

  it('says maybe of every event that may be among rows that were not read', () => {
    const set = new SeenSet(minSeenBytes);
    set.addUnread(startMs);
    const later = startMs + hourMs;
    expect(counts(check(set, keys(10, 1), later, startMs))).toEqual({ stored: 0, maybe: 10 });
    expect(counts(check(set, keys(10, 1), later, startMs))).toEqual({ stored: 10, maybe: 0 });
    expect(counts(check(set, keys(10, 2), later, startMs + 1))).toEqual(nothing);
    expect(counts(check(set, keys(10, 3), startMs + 55 * hourMs, startMs))).toEqual(nothing);
  });

  it('while keys load says maybe of every event that it does not know', () => {
    const set = new SeenSet(minSeenBytes);
    set.beginLoading();
    expect(counts(check(set, keys(10, 1), startMs))).toEqual({ stored: 0, maybe: 10 });
    load(set, keys(10, 2), startMs - hourMs);
    load(set, keys(10, 3), startMs - 10 * hourMs);
    for (const n of [1, 2, 3]) {
      expect(counts(check(set, keys(10, n), startMs))).toEqual({ stored: 10, maybe: 0 });
    }
    expect(counts(check(set, keys(10, 4), startMs))).toEqual({ stored: 0, maybe: 10 });
    set.addUnread(startMs - 20 * hourMs);
    set.endLoading();
    expect(counts(check(set, keys(10, 5), startMs))).toEqual(nothing);
    const [early, late] = [startMs + 39 * hourMs, startMs + 55 * hourMs];
    expect(counts(check(set, keys(10, 3), early))).toEqual({ stored: 10, maybe: 0 });
    expect(counts(check(set, keys(10, 3), late))).toEqual(nothing);
  });

  it('has room for loaded keys until keys would have to leave for them', () => {
    const set = new SeenSet(minSeenBytes);
    set.beginLoading();
    const rows = set.maxLoadedRows;
    let loaded = 0;
    for (let n = 1; set.hasRoomFor(rows); n++) {
      load(set, keys(rows, n), startMs - n * 60_000);
      loaded += rows;
    }
    expect(loaded).toBe(set.capacity);
    expect(set.leaving).toBeUndefined();
    set.endLoading();
    expect(set.leaving).toBeUndefined();
    expect(counts(check(set, keys(100_000, 100), startMs))).toEqual({ stored: 0, maybe: 100_000 });
    // The oldest of the loaded rows leave first.
    expect(set.leaving?.maxReceiveTimeMs).toBe(startMs - (loaded / rows) * 60_000);
  });

  it('rejects a budget that does not hold the batches in hand', () => {
    expect(() => new SeenSet(1 * MiB)).toThrow('seen-set: the budget is too small');
    expect(new SeenSet(minSeenBytes).capacity).toBeGreaterThanOrEqual(300_000);
  });

  it('knows six million keys exactly with the default memory', () => {
    const read = readConfig({}, []);
    expect(read.kind === 'ok' && new SeenSet(read.config.seenMaxBytes).capacity).toBeGreaterThan(
      6_000_000,
    );
  });
});

describe('an event key', () => {
  const secret = randomBytes(32);
  const key = (project: string, id: string, by = secret): string => {
    const words = new Uint32Array(4);
    parseUuid(id, words);
    const out = new Uint32Array(2);
    writeEventKey(new EventKeys(by).projectKey(project), words, 0, out, 0);
    return `${out[0]}-${out[1]}`;
  };

  it('depends on the project, the id and the secret, and on nothing else', () => {
    const id = randomUUID();
    expect(key('p', id)).toBe(key('p', id));
    expect(key('p', id)).not.toBe(key('q', id));
    expect(key('p', id)).not.toBe(key('p', id, randomBytes(32)));
    expect(key('p', id)).not.toBe(key('p', randomUUID()));
  });

  it('changes in about half of its bits with any bit of the id', () => {
    const words = new Uint32Array(randomBytes(16).buffer.slice(0, 16));
    const projectKey = new EventKeys(secret).projectKey('p');
    const before = new Uint32Array(2);
    const after = new Uint32Array(2);
    writeEventKey(projectKey, words, 0, before, 0);
    let flipped = 0;
    for (let bit = 0; bit < 128; bit++) {
      const changed = words.slice();
      changed[bit >>> 5] = (changed[bit >>> 5] ?? 0) ^ (1 << (bit & 31));
      writeEventKey(projectKey, changed, 0, after, 0);
      for (const half of [0, 1]) {
        let difference = ((before[half] ?? 0) ^ (after[half] ?? 0)) >>> 0;
        for (; difference !== 0; difference >>>= 1) flipped += difference & 1;
      }
    }
    expect(flipped / 128).toBeGreaterThan(28);
    expect(flipped / 128).toBeLessThan(36);
  });

  it('is another for each of a million ids', () => {
    const projectKey = new EventKeys(secret).projectKey('p');
    const words = new Uint32Array(4);
    const out = new Uint32Array(2);
    const seen = new Set<bigint>();
    for (let n = 0; n < 1_000_000; n++) {
      words[n & 3] = n;
      words[(n + 1) & 3] = 0;
      writeEventKey(projectKey, words, 0, out, 0);
      if (n >= 4) seen.add((BigInt(out[0] ?? 0) << 32n) | BigInt(out[1] ?? 0));
    }
    expect(seen.size).toBe(999_996);
  });
});
