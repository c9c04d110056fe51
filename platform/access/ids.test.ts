import { expect, it } from 'vitest';
import { newApiKey, newId, parseApiKey, sha256 } from './ids.ts';

const kinds = ['public', 'private'] as const;

it('makes keys that say their kind and differ', () => {
  for (const kind of kinds) {
    const keys = new Set(Array.from({ length: 500 }, () => newApiKey(kind)));
    expect(keys.size).toBe(500);
    for (const key of keys) {
      expect(key).toMatch(kind === 'public' ? /^pub_[0-9A-Za-z]{42}$/ : /^prv_[0-9A-Za-z]{42}$/);
      expect(parseApiKey(key)).toBe(kind);
    }
  }
});

it('uses every character of the alphabet in the random part', () => {
  const seen = new Set(
    Array.from({ length: 200 }, () => newApiKey('public').slice(4, 40)).join(''),
  );
  expect(seen.size).toBe(62);
});

it('still accepts keys that are already in use', () => {
  const zeros = `pub_${'0'.repeat(36)}`;
  expect(parseApiKey(`${zeros}0eSMTJ`)).toBe('public');
  expect(parseApiKey(`${zeros}0eSMT0`)).toBeUndefined();
});

it('refuses a key with any one character changed, and garbage', () => {
  const key = newApiKey('private');
  for (let index = 0; index < key.length; index++) {
    const other = key[index] === 'x' ? 'y' : 'x';
    expect(parseApiKey(key.slice(0, index) + other + key.slice(index + 1))).toBeUndefined();
  }
  const garbage = [
    '',
    'pub_',
    key.slice(1),
    `${key}0`,
    ` ${key}`,
    `${key}\n`,
    `pub_${key.slice(4)}`,
  ];
  for (const text of garbage) expect(parseApiKey(text)).toBeUndefined();
});

it('makes UUIDs', () => {
  expect(newId()).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
  expect(newId()).not.toBe(newId());
});

it('hashes with standard SHA-256', () => {
  expect(sha256('abc')).toBe('ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad');
});
