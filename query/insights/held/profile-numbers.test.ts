// Numbers of profiles beside a Map of the same keys.

import { randomBytes } from 'node:crypto';
import { expect, it } from 'vitest';
import { ProfileNumbers } from './profile-numbers.ts';

const keys = Array.from({ length: 20_000 }, () => randomBytes(8));
const halves = (key: Buffer): [number, number] => [key.readUInt32LE(0), key.readUInt32LE(4)];

it('numbers keys in the order in which they come, each once, and finds them after it has grown', () => {
  const numbers = new ProfileNumbers();
  const expected = new Map<string, number>();
  for (const key of [...keys, ...keys.toReversed()]) {
    const text = key.toString('hex');
    if (!expected.has(text)) expected.set(text, expected.size);
    expect(numbers.of(...halves(key))).toBe(expected.get(text));
  }
  expect(numbers.size).toBe(expected.size);
  for (const [text, number] of expected) expect(numbers.textOf(number)).toBe(text);
});

it('tells keys apart that share a half, and numbers the key of zeros', () => {
  const numbers = new ProfileNumbers();
  const found = [
    [7, 0],
    [7, 1],
    [0, 7],
    [0, 0],
    [7, 1],
  ].map(([low = 0, high = 0]) => numbers.of(low, high));
  expect(found).toEqual([0, 1, 2, 3, 1]);
});

it('orders profiles as the texts of their keys', () => {
  const numbers = new ProfileNumbers();
  // Bytes beyond the sign of a word, and words that differ in the second alone.
  const some = ['ff00000000000000', '00000000ff000000', '0000000000000001', '80ffffffffffffff'];
  const texts = [...some, ...keys.slice(0, 200).map((key) => key.toString('hex'))];
  const all = texts.map((text) => numbers.of(...halves(Buffer.from(text, 'hex'))));
  const sorted = all.toSorted((one, other) => numbers.compare(one, other));
  expect(sorted.map((number) => numbers.textOf(number))).toEqual(texts.toSorted());
});
