import { expect, it } from 'vitest';
import { foldCase } from './fold-case.ts';

/** Unicode 15.1 made these pairs alike: whether they are depends on the version that a process has. */
const younger = new Set(['\u0390', '\u1fd3', '\u03b0', '\u1fe3', '\ufb05', '\ufb06']);
const characters = Array.from({ length: 0x11_0000 }, (_, code) => code)
  .filter((code) => code < 0xd800 || code > 0xdfff)
  .map((code) => String.fromCodePoint(code))
  .filter((character) => !younger.has(character));

it('makes equal what regular expressions find alike, and nothing else', () => {
  const byFolded = new Map<string, string[]>();
  for (const character of characters) {
    const folded = foldCase(character);
    const alike = byFolded.get(folded);
    if (alike === undefined) byFolded.set(folded, [character]);
    else alike.push(character);
  }
  const cased = [...byFolded].filter(([, alike]) => alike.length > 1);
  const withCase = cased.flatMap(([, alike]) => alike);
  expect(withCase.length).toBeGreaterThan(2_000);
  for (const [folded, alike] of cased) {
    const found = withCase.join('').match(new RegExp(`\\u{${hexOf(folded)}}`, 'giu')) ?? [];
    expect([...found].sort()).toEqual([...alike].sort());
  }
  const listed = withCase.map((character) => `\\u{${hexOf(character)}}`).join('');
  const anyCased = new RegExp(`[${listed}]`, 'iu');
  const known = new Set(withCase);
  const missed = characters.filter((one) => !known.has(one) && anyCased.test(one));
  expect(missed).toEqual([]);
});

it('leaves texts as long as they are, whatever their other case is', () => {
  expect(foldCase('STRASSE straße ẞ İı ǰ ﬁ ΑΣ ας ſK')).toBe('strasse straße ß İı ǰ ﬁ ασ ασ sk');
});

function hexOf(character: string): string {
  return (character.codePointAt(0) ?? 0).toString(16);
}
