import { randomBytes, randomUUID } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { EventKeys, writeEventKey } from './event-key.ts';
import { minSeenBytes, periodMs, type Seen, SeenSet } from './seen-set.ts';
import { parseUuid } from './uuid.ts';

const MiB = 1_048_576;
const startMs = Date.UTC(2026, 10, 20);
const hourMs = 3_600_000;

/** Distinct keys, reproducible. */
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

function check(set: SeenSet, batch: Uint32Array, nowMs: number): Seen[] {
  const verdicts: Seen[] = [];
  set.check(batch, nowMs, verdicts);
  return verdicts;
}

function count(verdicts: readonly Seen[], verdict: Seen): number {
  return verdicts.filter((one) => one === verdict).length;
}

describe('the seen-set', () => {
  it('knows what was added, and nothing else, within the budget', () => {
    const set = new SeenSet(32 * MiB);
    const first = keys(50_000, 1);
    const second = keys(50_000, 2);
    expect(count(check(set, first, startMs), 'new')).toBe(50_000);
    expect(count(check(set, second, startMs + 1), 'new')).toBe(50_000);
    expect(count(check(set, first, startMs + 2), 'stored')).toBe(50_000);
    expect(count(check(set, second, startMs + 3), 'stored')).toBe(50_000);
    expect(count(check(set, keys(50_000, 3), startMs + 4), 'new')).toBe(50_000);
  });

  it('agrees with a plain set for any order of batches and times', () => {
    const batches = fc.array(
      fc.record({
        ids: fc.uniqueArray(fc.integer({ min: 1, max: 60 }), { maxLength: 20 }),
        laterMs: fc.integer({ min: 0, max: 7 * hourMs }),
      }),
      { maxLength: 40 },
    );
    fc.assert(
      fc.property(batches, (sent) => {
        const set = new SeenSet(minSeenBytes);
        const lastPeriod = new Map<number, number>();
        let nowMs = startMs;
        for (const { ids, laterMs } of sent) {
          nowMs += laterMs;
          const oldest = Math.floor((nowMs - 48 * hourMs) / periodMs);
          const words = Uint32Array.from(ids.flatMap((id) => [id % 7, id]));
          const expected = ids.map((id) =>
            (lastPeriod.get(id) ?? Number.NEGATIVE_INFINITY) >= oldest ? 'stored' : 'new',
          );
          expect(check(set, words, nowMs)).toEqual(expected);
          ids.forEach((id, index) => {
            if (expected[index] === 'new') lastPeriod.set(id, Math.floor(nowMs / periodMs));
          });
        }
      }),
      { numRuns: 300 },
    );
  });

  it('remembers for 48 hours and forgets within six more', () => {
    const set = new SeenSet(minSeenBytes);
    const early = keys(10, 1);
    check(set, early, startMs);
    expect(count(check(new SeenSet(minSeenBytes), early, startMs), 'stored')).toBe(0);
    expect(count(check(set, early, startMs + 48 * hourMs), 'stored')).toBe(10);
    expect(count(check(set, early, startMs + 55 * hourMs), 'stored')).toBe(0);
    expect(set.bytes).toBeLessThan(2 * MiB);
  });

  it('beyond the budget says maybe of what it stored, and new of hardly anything else', () => {
    const set = new SeenSet(minSeenBytes);
    const batches = Array.from({ length: 40 }, (_, n) => keys(50_000, n + 1));
    for (const [n, batch] of batches.entries()) {
      const verdicts = check(set, batch, startMs + n);
      expect(count(verdicts, 'stored')).toBe(0);
      expect(set.bytes).toBeLessThanOrEqual(minSeenBytes);
    }
    const [first = new Uint32Array(), last = new Uint32Array()] = [batches[0], batches.at(-1)];
    expect(count(check(set, last, startMs + 50), 'stored')).toBe(50_000);
    expect(count(check(set, first, startMs + 51), 'new')).toBe(0);
    expect(2_000_000).toBeGreaterThan(set.capacity * 3);
  });

  it('the filters of a budget that is exceeded a little answer new for most new events', () => {
    const set = new SeenSet(64 * MiB);
    const batches = Math.ceil((set.capacity * 1.3) / 50_000);
    for (let n = 0; n < batches; n++) check(set, keys(50_000, n % 200), startMs + n);
    const fresh = check(set, keys(50_000, 255), startMs + batches);
    expect(count(fresh, 'stored')).toBe(0);
    expect(count(fresh, 'maybe')).toBeLessThan(5_000);
  });

  it('says maybe of everything while rows of the window were not read', () => {
    const set = new SeenSet(minSeenBytes);
    set.addUnread(startMs);
    expect(count(check(set, keys(10, 1), startMs + hourMs), 'maybe')).toBe(10);
    expect(count(check(set, keys(10, 1), startMs + hourMs), 'stored')).toBe(10);
    expect(count(check(set, keys(10, 2), startMs + 55 * hourMs), 'new')).toBe(10);
  });

  it('refuses a budget that does not hold the batches in hand', () => {
    expect(() => new SeenSet(1 * MiB)).toThrow('seen-set: the budget is too small');
    expect(new SeenSet(minSeenBytes).capacity).toBeGreaterThanOrEqual(200_000);
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

  it('has no clash among a million ids', () => {
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
