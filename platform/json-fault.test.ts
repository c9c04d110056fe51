// The place that a refusal names is the first byte at which a text stops being JSON.

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { jsonFault } from './json-fault.ts';

const at = (byte: number) => `the fault is at byte ${byte}, counted from 0`;
const early = (bytes: number) => `the text ends too early, at byte ${bytes}`;

describe('the fault of a text that is no JSON', () => {
  it.each([
    ['', early(0)],
    ['  ', early(2)],
    ['{"events":[}', at(11)],
    ['{"events":[]', early(12)],
    ['{"events":[]}}', at(13)],
    ["{'events':[]}", at(1)],
    ['{events:[]}', at(1)],
    ['{"a":1,}', at(7)],
    ['[1,]', at(3)],
    ['{"a" 1}', at(5)],
    ['{"é":tru}', at(9)],
    ['[01]', at(2)],
    ['[1.]', at(3)],
    ['[-]', at(2)],
    ['[1e+]', at(4)],
    ['["\\x"]', at(3)],
    ['["\\u12g4"]', at(6)],
    ['["a\tb"]', at(3)],
    ['"abc', early(4)],
    ['\ufeff{}', at(0)],
    ['nul', early(3)],
    ['NaN', at(0)],
  ])('%j: %s', (text, fault) => {
    expect(jsonFault(Buffer.from(text))).toBe(fault);
  });

  it('is found exactly where JSON.parse finds one', () => {
    const pieces = [
      '{',
      '}',
      '[',
      ']',
      ',',
      ':',
      '"a"',
      '"',
      '\\',
      '1',
      '-',
      '.5',
      'e3',
      'true',
      ' ',
    ];
    const texts = fc.oneof(
      fc.array(fc.constantFrom(...pieces), { maxLength: 12 }).map((list) => list.join('')),
      fc
        .json()
        .chain((json) =>
          fc
            .tuple(fc.nat(json.length), fc.constantFrom('', ...pieces))
            .map(([place, piece]) => json.slice(0, place) + piece + json.slice(place + 1)),
        ),
    );
    const isJson = (text: string) => {
      try {
        JSON.parse(text);
        return true;
      } catch {
        return false;
      }
    };
    fc.assert(
      fc.property(texts, (text) => {
        const bytes = Buffer.from(text);
        fc.pre(bytes.toString() === text);
        expect(jsonFault(bytes) === undefined).toBe(isJson(text));
      }),
      { numRuns: 5_000, seed: 20_261_120 },
    );
  });

  it('is not looked for in a long text', () => {
    expect(jsonFault(Buffer.alloc(1_048_577, '['))).toBeUndefined();
    expect(jsonFault(Buffer.alloc(1_048_576, '['))).toBe(early(1_048_576));
  });
});
