// Case folding beside the engine's own, character by character.

import { afterAll, beforeAll, expect, it } from 'vitest';
import { createClickHouse, type DatabaseClient } from '../../platform/clickhouse/clickhouse.ts';
import { createLog } from '../../platform/log.ts';
import { useEngine } from '../../test/harness/servers/use-servers.ts';
import { foldCase } from './fold-case.ts';

const engine = useEngine();
let clickhouse: DatabaseClient;
beforeAll(() => {
  clickhouse = createClickHouse(engine.url, { log: createLog('silent'), maxConnections: 1 });
});
afterAll(() => clickhouse.close());

const characters = Array.from({ length: 0x11_0000 }, (_, code) => code)
  .filter((code) => code < 0xd800 || code > 0xdfff)
  .map((code) => String.fromCodePoint(code));

it('makes alike what the engine makes alike, but for letters that one of the two does not know yet', async () => {
  const query = `SELECT groupArray(caseFoldUTF8(one)) FROM
    (SELECT arrayJoin({characters:Array(String)}) AS one)`;
  const unlike: string[] = [];
  let cased = 0;
  for (let from = 0; from < characters.length; from += 20_000) {
    const some = characters.slice(from, from + 20_000);
    const rows = await clickhouse.query({
      query,
      query_params: { characters: some },
      format: 'JSONCompactEachRow',
    });
    const [row] = await rows.json<[string[]]>();
    for (const [index, character] of some.entries()) {
      const folded = row?.[0][index] ?? '';
      const isNew = folded === character || foldCase(character) === character;
      if (folded !== character) cased += 1;
      if (foldCase(folded) !== foldCase(character) && !(isNew && isYoung(character))) {
        unlike.push(`${hexOf(character)} ${folded} ${foldCase(character)}`);
      }
    }
  }
  expect(cased).toBeGreaterThan(1_500);
  expect(unlike).toEqual([]);
});

/** Letters that got another case since Unicode 15: some Latin and Cyrillic ones, and Garay's. */
const young = [
  ...[0x19b, 0x19b, 0x264, 0x264, 0x1c89, 0x1c8a],
  ...[0xa7cb, 0xa7dd, 0x1_0d50, 0x1_0d8f, 0x1_6ea0, 0x1_6edf],
];

function isYoung(character: string): boolean {
  const code = character.codePointAt(0) ?? 0;
  return young.some((from, at) => at % 2 === 0 && code >= from && code <= (young[at + 1] ?? from));
}

it('makes each character the same wherever it stands, and is not changed by folding again', () => {
  expect(foldCase('STRASSE straße ẞ İIıi ǰ ﬁ ΑΣ ας ſK')).toBe(
    'strasse strasse ss iiıi j\u030c fi ασ ασ sk',
  );
  const once = characters.map(foldCase);
  expect(once.filter((folded) => foldCase(folded) !== folded)).toEqual([]);
  expect(once.every((folded) => [...folded].length <= 3)).toBe(true);
});

function hexOf(character: string): string {
  return (character.codePointAt(0) ?? 0).toString(16);
}
