import { expect, it } from 'vitest';
import { above, countOf, includes, type SequenceRange, unionOf } from './sequence-ranges.ts';

it('holds what a plain set holds', () => {
  for (let seed = 1; seed <= 200; seed++) {
    const a = someRanges(seed);
    const b = someRanges(seed * 7 + 3);
    const plain = new Set([...seqsOf(a), ...seqsOf(b)]);
    const union = unionOf(a, b);
    expect(new Set(seqsOf(union))).toEqual(plain);
    expect(countOf(union)).toBe(plain.size);
    for (const [index, [first]] of union.entries()) {
      expect(first).toBeGreaterThan((union[index - 1]?.[1] ?? -2) + 1);
    }
    for (let seq = 0; seq < 130; seq++) expect(includes(union, seq)).toBe(plain.has(seq));
    const cut = seed % 100;
    expect(seqsOf(above(union, cut))).toEqual(
      [...plain].filter((seq) => seq > cut).sort((x, y) => x - y),
    );
  }
});

function seqsOf(ranges: readonly SequenceRange[]): number[] {
  return ranges.flatMap(([first, last]) =>
    Array.from({ length: last - first + 1 }, (_, index) => first + index),
  );
}

function someRanges(seed: number): SequenceRange[] {
  const ranges: SequenceRange[] = [];
  let at = seed % 5;
  for (let n = 0; n < seed % 9; n++) {
    const length = (seed * (n + 3)) % 7;
    ranges.push([at, at + length]);
    at += length + 1 + ((seed >> n) % 4);
  }
  return ranges;
}
