// Texts and the values that print as them.

import { describe, expect, it } from 'vitest';
import { readCanonicalText, typesThatCanHold } from './canonical-text.ts';

describe('a text is read as each type that prints it', () => {
  const cases: [string, ReturnType<typeof readCanonicalText>][] = [
    ['42', { int: 42n, double: 42 }],
    ['-1', { int: -1n, double: -1 }],
    ['0', { int: 0n, double: 0 }],
    ['9223372036854775807', { int: 9223372036854775807n }],
    ['-9223372036854775808', { int: -9223372036854775808n }],
    ['9223372036854775808', {}],
    ['9223372036854776000', { double: 9223372036854776000 }],
    ['9007199254740993', { int: 9007199254740993n }],
    ['0.1', { double: 0.1 }],
    ['5e-324', { double: 5e-324 }],
    ['1e+300', { double: 1e300 }],
    ['true', { bool: true }],
    ['false', { bool: false }],
    ['2026-01-02T03:04:05Z', { timeMs: 1767323045000n }],
    ['2026-01-02T03:04:05.120Z', { timeMs: 1767323045120n }],
    ['0001-01-01T00:00:00Z', { timeMs: -62135596800000n }],
  ];
  it.each(cases)('%s', (text, readings) => {
    expect(readCanonicalText(text)).toEqual(readings);
  });

  const stringsOnly = [
    '',
    ' 42',
    '042',
    '+1',
    '-0',
    '1.50',
    '1e300',
    '1E+300',
    '.5',
    '0x10',
  ].concat(
    ['TRUE', 'null', 'NaN', 'Infinity', '2026-01-02', '2026-01-02T03:04:05.000Z'],
    ['2026-01-02T03:04:05+00:00', '2026-02-30T00:00:00Z', '2026-01-02T24:00:00Z', '4\u00002'],
  );
  it.each(stringsOnly)('%j is the text of strings only', (text) => {
    expect(readCanonicalText(text)).toEqual({});
  });
});

it('names the types whose text can contain a part', () => {
  expect(typesThatCanHold('42')).toEqual({ int: true, double: true, bools: [], time: true });
  expect(typesThatCanHold('E')).toEqual({
    int: false,
    double: true,
    bools: [true, false],
    time: false,
  });
  expect(typesThatCanHold('TR')).toEqual({ int: false, double: false, bools: [true], time: false });
  expect(typesThatCanHold('t03:')).toEqual({ int: false, double: false, bools: [], time: true });
  expect(typesThatCanHold('shoe')).toEqual({ int: false, double: false, bools: [], time: false });
});
