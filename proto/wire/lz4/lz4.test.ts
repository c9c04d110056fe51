import { describe, expect, it } from 'vitest';
import { createLz4 } from './lz4.ts';

const lz4 = createLz4();

/** Repeatable bytes of different kinds: noise, few values, copies of themselves. */
function sample(seed: number, length: number): Uint8Array {
  let state = Math.imul(seed + 1, 0x9e3779b9) | 1;
  const next = (): number => {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    return state >>> 0;
  };
  const values = [255, 3, 1, 255][seed % 4] ?? 255;
  const bytes = Uint8Array.from({ length }, () => next() & values);
  if (seed % 4 === 3 && length > 40) {
    for (let copies = 0; copies < 6; copies++) {
      const from = next() % (length - 20);
      bytes.copyWithin(next() % (length - 20), from, from + (next() % 400));
    }
  }
  return bytes;
}

describe('an LZ4 block', () => {
  it('unpacks to the packed bytes, at every length', () => {
    for (let round = 0; round < 4_000; round++) {
      const raw = sample(round, round % 40 === 0 ? round * 17 : round % 300);
      const block = lz4.compress(raw).slice();
      expect(block.length).toBeLessThanOrEqual(raw.length + raw.length / 255 + 16);
      const back = lz4.decompress(block, raw.length);
      if (back === undefined || Buffer.compare(back, raw) !== 0) {
        expect({ round, back }).toEqual({ round, back: raw });
      }
    }
  });

  it('unpacks to the packed bytes, beyond the reach of a match', () => {
    for (let round = 0; round < 32; round++) {
      const raw = sample(round, 60_000 + round * 5_000);
      const block = lz4.compress(raw).slice();
      expect(Buffer.compare(lz4.decompress(block, raw.length) ?? Buffer.of(), raw)).toBe(0);
    }
  });

  it('repeats bytes from 65,535 bytes before, and from no farther', () => {
    const packed = (distance: number): number => {
      const raw = new Uint8Array(distance + 100);
      raw.set(sample(0, 32).map((byte) => byte | 1));
      raw.copyWithin(distance, 0, 32);
      const block = lz4.compress(raw).slice();
      expect(Buffer.compare(lz4.decompress(block, raw.length) ?? Buffer.of(), raw)).toBe(0);
      return block.length;
    };
    expect(packed(65_536)).toBeGreaterThan(packed(65_535) + 20);
    expect(packed(65_537)).toBeGreaterThan(packed(65_535) + 20);
  });

  it('does not depend on earlier input', () => {
    for (let round = 0; round < 20; round++) {
      const raw = sample(round * 4 + 3, 70_000);
      const block = createLz4().compress(raw);
      // Packing looks at other positions here, which a table that is not cleared would remember.
      lz4.compress(Uint8Array.from(raw).fill(0, 0, 40 + round));
      expect(Buffer.compare(lz4.compress(raw), block)).toBe(0);
    }
  });

  it('is small where the bytes repeat', () => {
    expect(lz4.compress(new Uint8Array(100_000)).length).toBeLessThan(500);
  });

  it('unpacks blocks written by hand from the format’s description', () => {
    // "abcdefgh" five times and "12345".
    const block = Buffer.from([
      0x8f,
      ...Buffer.from('abcdefgh'),
      8,
      0,
      13,
      0x50,
      ...Buffer.from('12345'),
    ]);
    const raw = Buffer.from(`${'abcdefgh'.repeat(5)}12345`);
    expect(Buffer.from(lz4.decompress(block, raw.length) ?? [])).toEqual(raw);
    // 270 literals need two more bytes of length, 15 need one.
    const long = Buffer.alloc(270, 'x');
    expect(lz4.decompress(Buffer.concat([Buffer.of(0xf0, 255, 0), long]), 270)?.length).toBe(270);
    expect(
      lz4.decompress(Buffer.concat([Buffer.of(0xf0, 0), long.subarray(0, 15)]), 15)?.length,
    ).toBe(15);
    expect(lz4.decompress(Buffer.of(0), 0)?.length).toBe(0);
  });

  it.each([
    ['nothing', [], 0],
    ['literals beyond the end', [0x50, 1, 2], 5],
    ['more literals than fit', [0x50, 1, 2, 3, 4, 5], 4],
    ['fewer bytes than promised', [0x20, 1, 2], 3],
    ['an offset before the beginning', [0x11, 1, 2, 0, 0x10, 1], 7],
    ['an offset of zero', [0x11, 1, 0, 0, 0x10, 1], 7],
    ['an offset cut off', [0x11, 1, 1], 6],
    ['a match beyond the end', [0x1f, 1, 1, 0, 255, 255, 0, 0x10, 1], 30],
    ['a length without an end', [0xf0, 255, 255], 600],
    ['a match at the end', [0x11, 1, 1, 0], 6],
  ])('is refused with %s', (_, bytes, rawLength) => {
    expect(lz4.decompress(Uint8Array.from(bytes), rawLength)).toBeUndefined();
  });

  it('never writes outside its output, for any bytes', () => {
    const raw = sample(3, 2_000);
    const block = lz4.compress(raw).slice();
    for (let round = 0; round < 20_000; round++) {
      const hostile = round % 2 === 0 ? sample(round * 4, round % 200) : block.slice();
      if (round % 2 === 1) hostile[round % hostile.length] = round >>> 3;
      const back = lz4.decompress(hostile, raw.length);
      if (back === undefined) continue;
      expect(back.length).toBe(raw.length);
      // The bytes behind the padding of 64 bytes are untouched.
      const behind = new Uint8Array(back.buffer, back.byteOffset + back.length + 64, 64);
      expect(behind.every((byte) => byte === 0)).toBe(true);
    }
  });
});
