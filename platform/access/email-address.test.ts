// One form for each address, with domains in the spellings that people and programs use.

import { expect, it } from 'vitest';
import { canonicalEmail, hasDnsDomain } from './email-address.ts';

it.each([
  ['a@example.com', 'a@example.com'],
  ['a@example.com.', 'a@example.com'],
  ['a@bücher.example', 'a@xn--bcher-kva.example'],
  ['a@xn--bcher-kva.example', 'a@xn--bcher-kva.example'],
  ['a@bücher。example', 'a@xn--bcher-kva.example'],
  ['jürgen@faß.example', 'jürgen@xn--fa-hia.example'],
])('%s is %s', (email, canonical) => {
  expect(canonicalEmail(email)).toBe(canonical);
  expect(canonicalEmail(canonical)).toBe(canonical);
  expect(hasDnsDomain(canonical)).toBe(true);
});

it.each(['a@bücher.example/x', 'a@ü:80', 'a@ü#x', 'a@ü%41', 'a@xn--a.ü'])(
  '%s has no domain of the DNS, and stays',
  (email) => {
    expect(canonicalEmail(email)).toBe(email);
    expect(hasDnsDomain(email)).toBe(false);
  },
);
