// Paths as pages show them: what is decoded, what stays, and that no text can pretend to be another one.

import { expect, it } from 'vitest';
import { readablePath } from './readable-path.ts';

const shown: [string, string][] = [
  ['/caf%C3%A9', '/café'],
  ['/%E6%BC%A2%e5%ad%97/%F0%9F%98%80', '/漢字/😀'],
  ['/a%20b', '/a b'],
  ['https://shop.example/caf%C3%A9?q=%C3%BC#x', 'https://shop.example/café?q=ü#x'],
  ['android-app://com.example/%C3%A9', 'android-app://com.example/é'],
  // A name of a series: several values, one of them a path.
  ['1. Page view, /caf%C3%A9 · DE', '1. Page view, /café · DE'],
  // No path: a trait may hold any text.
  ['50%25 off%C3%A9', '50%25 off%C3%A9'],
  ['a/caf%C3%A9', 'a/caf%C3%A9'],
  ['', ''],
  // Malformed sequences stay, their neighbours do not.
  ['/%', '/%'],
  ['/%C3', '/%C3'],
  ['/%C3%28%C3%A9', '/%C3%28é'],
  ['/%zz%C3%A9', '/%zzé'],
  ['/%C0%AF', '/%C0%AF'],
  ['/%ED%A0%80', '/%ED%A0%80'],
  ['/%F4%90%80%80', '/%F4%90%80%80'],
  ['/%FF%FE', '/%FF%FE'],
  // What has a meaning in a URL.
  ['/a%2Fb%3Fc%23d%25e%26f%3Dg%2B%5C', '/a%2Fb%3Fc%23d%25e%26f%3Dg%2B%5C'],
  ['/%2525', '/%2525'],
  ['/%3Cb%3E%22', '/%3Cb%3E%22'],
];
it.each(shown)('%s', (text, expected) => {
  expect(readablePath(text)).toBe(expected);
});

const unsafe = [
  ...Array.from({ length: 32 }, (_, code) => code),
  ...[0x7f, 0x80, 0x85, 0x9f, 0xad, 0x61c, 0x180e, 0x200b, 0x200c, 0x200d, 0x200e, 0x200f],
  ...[0x2028, 0x2029, 0x202a, 0x202b, 0x202c, 0x202d, 0x202e, 0x2060, 0x2066, 0x2067, 0x2068],
  ...[0x2069, 0xfeff, 0xfff9, 0xe0001, 0xe0041],
];
it.each(unsafe)('the character %i is never let through, encoded or not', (code) => {
  const character = String.fromCodePoint(code);
  const escaped = encodeURIComponent(character);
  expect(readablePath(`/a${escaped}b%C3%A9`)).toBe(`/a${escaped}bé`);
  if (!/\s/.test(character)) expect(readablePath(`/a${character}b`)).toBe(`/a${escaped}b`);
});
