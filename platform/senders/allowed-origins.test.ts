import { expect, it } from 'vitest';
import { originPattern, originTest } from './allowed-origins.ts';

it.each([
  ['https://Example.com/', 'https://example.com'],
  ['https://example.com:443', 'https://example.com'],
  ['HTTP://example.com:8080', 'http://example.com:8080'],
  [' example.com ', 'example.com'],
  ['localhost:5173', 'localhost:5173'],
  ['*.example.com', '*.example.com'],
  ['https://*.example.com', 'https://*.example.com'],
  ['https://münchen.example', 'https://xn--mnchen-3ya.example'],
  ['http://[::1]:3000', 'http://[::1]:3000'],
  ['capacitor://localhost', 'capacitor://localhost'],
  ['null', 'null'],
])('%s is kept as %s', (text, pattern) => {
  expect(originPattern(text)).toBe(pattern);
  expect(originPattern(pattern)).toBe(pattern);
});

it.each([
  '',
  '*',
  'https://',
  'https://example.com/path',
  'https://me@example.com',
  'a b',
  '*.*.a.com',
  'a.*.com',
])('%j is no pattern', (text) => expect(originPattern(text)).toBeUndefined());

it('covers the origin itself, with scheme and port where the pattern names them', () => {
  const isAllowed = originTest(['https://shop.example', 'dev.example:8080', 'null']);
  expect(
    ['https://shop.example', 'http://dev.example:8080', 'https://dev.example:8080', 'null'].map(
      isAllowed,
    ),
  ).toEqual([true, true, true, true]);
  for (const other of [
    ...['http://shop.example', 'https://shop.example:444', 'https://www.shop.example'],
    ...['https://shop.example.evil', 'https://evilshop.example', 'https://dev.example', ''],
  ]) {
    expect(isAllowed(other), other).toBe(false);
  }
});

it('covers each name below one that begins with a star, and not that name', () => {
  const isAllowed = originTest(['*.shop.example', 'https://*.other.example']);
  for (const origin of [
    'http://www.shop.example',
    'https://a.b.shop.example',
    'https://x.other.example',
  ]) {
    expect(isAllowed(origin), origin).toBe(true);
  }
  for (const other of [
    ...['https://shop.example', 'https://evilshop.example', 'http://x.other.example'],
    ...['https://www.shop.example:8443', 'https://www.shop.example.evil'],
  ]) {
    expect(isAllowed(other), other).toBe(false);
  }
});
