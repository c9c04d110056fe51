// Page tokens: a round trip, other conditions, and every kind of damage.

import { expect, it } from 'vitest';
import { decodeCursor, encodeCursor } from './cursor.ts';

const conditions = Buffer.from('project\0conditions');
const position = {
  timeMs: 1_795_036_000_123,
  id: '0a1b2c3d-4e5f-6071-8293-a4b5c6d7e8f9',
};

it('a token decodes to the position that it was made of', () => {
  expect(decodeCursor(encodeCursor(position, conditions), conditions)).toEqual(position);
  const old = { ...position, timeMs: -1 };
  expect(decodeCursor(encodeCursor(old, conditions), conditions)).toEqual(old);
});

it('a token is refused with other conditions', () => {
  const token = encodeCursor(position, conditions);
  expect(decodeCursor(token, Buffer.from('other\0conditions'))).toBeUndefined();
});

it('a token with any one bit changed is refused', () => {
  const bytes = Buffer.from(encodeCursor(position, conditions), 'base64url');
  for (let bit = 0; bit < bytes.length * 8; bit++) {
    const changed = Buffer.from(bytes);
    changed[bit >> 3] = (changed[bit >> 3] ?? 0) ^ (1 << (bit & 7));
    expect(decodeCursor(changed.toString('base64url'), conditions)).toBeUndefined();
  }
});

it('a token in another spelling or length is refused', () => {
  const token = encodeCursor(position, conditions);
  for (const text of ['', '!', 'AAAA', token.slice(1), `${token}A`, `${token}=`, ` ${token}`]) {
    expect(decodeCursor(text, conditions)).toBeUndefined();
  }
});
