import { expect, it } from 'vitest';
import { decodeCursor, encodeCursor } from './cursor.ts';

const conditions = Buffer.from('project\0conditions');
const position = {
  occurTimeMs: 1_795_036_000_123,
  eventId: '0a1b2c3d-4e5f-6071-8293-a4b5c6d7e8f9',
};

it('comes back as it was given', () => {
  expect(decodeCursor(encodeCursor(position, conditions), conditions)).toEqual(position);
  const old = { ...position, occurTimeMs: -1 };
  expect(decodeCursor(encodeCursor(old, conditions), conditions)).toEqual(old);
});

it('is refused with other conditions', () => {
  const token = encodeCursor(position, conditions);
  expect(decodeCursor(token, Buffer.from('other\0conditions'))).toBeUndefined();
});

it('is refused when any bit of it was changed', () => {
  const bytes = Buffer.from(encodeCursor(position, conditions), 'base64url');
  for (let bit = 0; bit < bytes.length * 8; bit++) {
    const changed = Buffer.from(bytes);
    changed[bit >> 3] = (changed[bit >> 3] ?? 0) ^ (1 << (bit & 7));
    expect(decodeCursor(changed.toString('base64url'), conditions)).toBeUndefined();
  }
});

it('is refused in any other spelling or length', () => {
  const token = encodeCursor(position, conditions);
  for (const text of ['', '!', 'AAAA', token.slice(1), `${token}A`, `${token}=`, ` ${token}`]) {
    expect(decodeCursor(text, conditions)).toBeUndefined();
  }
});
