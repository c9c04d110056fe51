import { describe, expect, it } from 'vitest';
import { createTokenBuckets } from './token-bucket.ts';

function at(startMs: number) {
  let nowMs = startMs;
  return {
    nowMs: () => nowMs,
    pass: (ms: number) => {
      nowMs += ms;
    },
  };
}

describe('token buckets', () => {
  it('lets a burst pass, then as much as the rate allows', () => {
    const clock = at(1_000);
    const buckets = createTokenBuckets({ perSecond: 10, burst: 20, clock });
    expect(buckets.take('a', 20)).toBe(0);
    expect(buckets.take('a', 1)).toBe(1);
    clock.pass(99);
    expect(buckets.take('a', 1)).toBe(1);
    clock.pass(1);
    expect(buckets.take('a', 1)).toBe(0);
    expect(buckets.take('a', 1)).toBe(1);
  });

  it('returns the whole seconds until the tokens are there, and has them then', () => {
    const clock = at(0);
    const buckets = createTokenBuckets({ perSecond: 10, burst: 100, clock });
    expect(buckets.take('a', 100)).toBe(0);
    expect(buckets.take('a', 21)).toBe(3);
    clock.pass(3_000);
    expect(buckets.take('a', 21)).toBe(0);
  });

  it('never holds more than the burst', () => {
    const clock = at(0);
    const buckets = createTokenBuckets({ perSecond: 10, burst: 20, clock });
    clock.pass(3_600_000);
    expect(buckets.take('a', 20)).toBe(0);
    expect(buckets.take('a', 1)).toBe(1);
  });

  it('lets more than the burst pass from a full bucket, and makes the next wait for the debt', () => {
    const clock = at(0);
    const buckets = createTokenBuckets({ perSecond: 10, burst: 20, clock });
    expect(buckets.take('a', 50)).toBe(0);
    expect(buckets.take('a', 1)).toBe(4);
    clock.pass(3_000);
    expect(buckets.take('a', 50)).toBe(2);
    clock.pass(2_000);
    expect(buckets.take('a', 50)).toBe(0);
  });

  it('charges for work that is done, whatever is there', () => {
    const clock = at(0);
    const buckets = createTokenBuckets({ perSecond: 10, burst: 20, clock });
    expect(buckets.take('a', 1)).toBe(0);
    buckets.charge('a', 40);
    expect(buckets.take('a', 1)).toBe(3);
    clock.pass(2_200);
    expect(buckets.take('a', 1)).toBe(0);
    const unlimited = createTokenBuckets({ perSecond: 0, burst: 1, clock });
    unlimited.charge('a', 1_000);
    expect(unlimited.take('a', 1)).toBe(0);
  });

  it('keeps keys apart', () => {
    const buckets = createTokenBuckets({ perSecond: 1, burst: 1, clock: at(0) });
    expect(buckets.take('a', 1)).toBe(0);
    expect(buckets.take('a', 1)).toBe(1);
    expect(buckets.take('b', 1)).toBe(0);
  });

  it('holds at most maxBuckets keys and forgets the longest unused', () => {
    const buckets = createTokenBuckets({ perSecond: 1, burst: 1, clock: at(0), maxBuckets: 2 });
    expect(buckets.take('a', 1)).toBe(0);
    expect(buckets.take('b', 1)).toBe(0);
    expect(buckets.take('a', 1)).toBe(1);
    expect(buckets.take('c', 1)).toBe(0);
    expect(buckets.take('a', 1)).toBe(1);
    expect(buckets.take('b', 1)).toBe(0);
  });

  it('fills on after the clock stepped back', () => {
    const clock = at(10_000);
    const buckets = createTokenBuckets({ perSecond: 1, burst: 1, clock });
    expect(buckets.take('a', 1)).toBe(0);
    clock.pass(-9_000);
    expect(buckets.take('a', 1)).toBe(1);
    clock.pass(1_000);
    expect(buckets.take('a', 1)).toBe(0);
  });

  it('is off at 0 a second', () => {
    const buckets = createTokenBuckets({ perSecond: 0, burst: 1, clock: at(0) });
    for (let index = 0; index < 10; index++) expect(buckets.take('a', 1_000)).toBe(0);
  });

  it('refuses bounds that cannot work', () => {
    const clock = at(0);
    expect(() => createTokenBuckets({ perSecond: -1, burst: 1, clock })).toThrow(RangeError);
    expect(() => createTokenBuckets({ perSecond: 1, burst: 0, clock })).toThrow(RangeError);
    expect(() => createTokenBuckets({ perSecond: Number.NaN, burst: 1, clock })).toThrow(
      RangeError,
    );
  });
});
