import { expect, it } from 'vitest';
import { askEngine } from '../../../test/harness/servers/engine-request.ts';
import { useEngine } from '../../../test/harness/servers/use-servers.ts';
import { bitColumns, userCountsSql } from './bucket-bits.ts';

const engine = useEngine();

it.each([1, 2, 31, 32, 33, 63, 64, 65])(
  'counts the users of each of %i places, in every part',
  async (places) => {
    const words = bitColumns(places);
    const others = words.map((word) => `other_${word}`);
    // As many users have a place as its number says: none the first.
    const bits = words.map(
      (word, index) =>
        `arrayReduce('groupBitOr', arrayMap(place -> if(place >= ${64 * index} AND place < ${64 * (index + 1)} AND number < place, bitShiftLeft(toUInt64(1), place % 64), 0), range(${places}))) AS ${word}`,
    );
    const users = `SELECT ${words.join(', ')}, ${words
      .map((word, index) => `if(number = 0, ${word}, 0) AS ${others[index]}`)
      .join(', ')} FROM (SELECT number, ${bits.join(', ')} FROM numbers(70))`;
    const parts = [
      { part: 3, words },
      { part: 5, words: others },
    ];
    const rows = await select(userCountsSql(users, parts));
    const counted = await select(
      Array.from(
        { length: places },
        (_, place) =>
          `SELECT 3 AS part, ${place} AS place, countIf(bitAnd(${words[Math.floor(place / 64)]}, ${1n << BigInt(place % 64)}) != 0) AS number FROM (${users})`,
      ).join(' UNION ALL '),
    );

    expect(sorted(rows)).toEqual(
      sorted([
        ...counted.filter(([, , number]) => number !== '0'),
        ...Array.from({ length: places - 1 }, (_, place) => ['5', String(place + 1), '1']),
      ]),
    );
    expect(sorted(counted)).toEqual(
      sorted(Array.from({ length: places }, (_, place) => ['3', String(place), String(place)])),
    );
  },
);

async function select(sql: string): Promise<string[][]> {
  const { status, text } = await askEngine(engine.url, { body: `${sql} FORMAT TabSeparated` });
  expect(status, text).toBe(200);
  return text
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => line.split('\t'));
}

function sorted(rows: readonly string[][]): string[] {
  return rows.map((row) => row.join(' ')).sort();
}
