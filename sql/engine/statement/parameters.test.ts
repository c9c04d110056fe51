import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createClickHouse, type DatabaseClient } from '../../../platform/clickhouse/clickhouse.ts';
import { createLog } from '../../../platform/log.ts';
import { character } from '../../../test/harness/requests/request-pieces.ts';
import { useEngine } from '../../../test/harness/servers/use-servers.ts';
import { bindParameters } from './parameters.ts';

const engine = useEngine();
let client: DatabaseClient;
beforeAll(async () => {
  client = createClickHouse(engine.url, { log: createLog('silent'), maxConnections: 8 });
});
afterAll(async () => {
  await client.close();
});

async function ask(query: string, parameters: Record<string, unknown>): Promise<unknown> {
  const result = await client.query({ query, format: 'JSONEachRow', query_params: parameters });
  return (await result.json<{ v: unknown }>())[0]?.v;
}

const hostile = [
  "'",
  "\\'",
  "'; DROP TABLE events; --",
  "\\'; DROP TABLE events; --",
  "' OR 1 = 1 /*",
  '*/ UNION ALL SELECT 1',
  '{v:String}',
  "{v:String}'",
  '$$',
  '`',
  '"',
  '\\',
  '\\\\',
  '\\N',
  'NULL',
  '\0',
  "\0'",
  'tab\there\nand\r\nthere',
  '\\x27',
  '\u2019\uFF07',
  'é漢字🎉',
  '',
  ' ',
];

// Any code points, and often characters that have a meaning in SQL or in a parameter's encoding.
const anyText = fc.oneof(
  fc.string({ unit: character, maxLength: 40 }),
  fc.string({ unit: fc.constantFrom(...`'"\\\`{}:;-/*$\t\n\r\0Nx2 7[](),`), maxLength: 20 }),
);

describe('text', () => {
  it.each(hostile)('%j comes back unchanged', async (text) => {
    expect(await ask('SELECT {v:String} AS v', { v: text })).toBe(text);
    expect(await ask('SELECT {v:LowCardinality(String)} AS v', { v: text })).toBe(text);
    expect(await ask('SELECT {v:Nullable(String)} AS v', { v: text })).toBe(text);
    expect(await ask('SELECT {v:Array(String)} AS v', { v: [text, 'x', text] })).toEqual([
      text,
      'x',
      text,
    ]);
    expect(await ask('SELECT {v:Map(String, String)} AS v', { v: { [text]: text } })).toEqual({
      [text]: text,
    });
    expect(await ask('SELECT {v:String} = {w:String} AS v', { v: text, w: `${text}'` })).toBe(0);
  });

  it('of any kind comes back unchanged', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(anyText, { minLength: 1, maxLength: 20 }), async (texts) => {
        expect(await ask('SELECT {v:Array(String)} AS v', { v: texts })).toEqual(texts);
        const names = texts.map((_, index) => `p${index}`);
        const values = Object.fromEntries(names.map((name, index) => [name, texts[index]]));
        const list = names.map((name) => `{${name}:String}`).join(', ');
        expect(await ask(`SELECT [${list}] AS v`, values)).toEqual(texts);
        const pairs = new Map(texts.map((text, index) => [text, texts.at(-index) ?? '']));
        expect(await ask('SELECT {v:Map(String, String)} AS v', { v: pairs })).toEqual(
          Object.fromEntries(pairs),
        );
      }),
      { numRuns: 150 },
    );
    expect(await ask('SELECT count() AS v FROM events', {})).toBe('0');
  });

  it('never leaks from one statement into another at the same time', async () => {
    const check = async (index: number): Promise<void> => {
      for (let round = 0; round < 40; round++) {
        const mine = `${index}-${round}`;
        expect(await ask('SELECT {v:String} AS v', { v: mine })).toBe(mine);
      }
    };
    await Promise.all(Array.from({ length: 8 }, (_, index) => check(index)));
  });
});

describe('other types', () => {
  it.each([
    ['Int64', '-9223372036854775808', '-9223372036854775808'],
    ['UInt64', '18446744073709551615', '18446744073709551615'],
    ['Int64', 9_007_199_254_740_993n, '9007199254740993'],
    ['Float64', 5e-324, 5e-324],
    ['Bool', true, true],
    ['UUID', '00112233-4455-6677-8899-aabbccddeeff', '00112233-4455-6677-8899-aabbccddeeff'],
    ["DateTime64(3, 'UTC')", new Date(1_700_000_000_123), '2023-11-14 22:13:20.123'],
    ["DateTime64(3, 'UTC')", '2024-01-02 03:04:05.678', '2024-01-02 03:04:05.678'],
    ["DateTime('UTC')", '2024-01-02 03:04:05', '2024-01-02 03:04:05'],
    ['Date', '2024-01-02', '2024-01-02'],
    ["Nullable(DateTime64(3, 'UTC'))", null, null],
    ['Nullable(Int64)', null, null],
    ['Array(Int64)', [2n ** 63n - 1n, -1], ['9223372036854775807', '-1']],
    ['Array(Array(String))', [["a'"], []], [["a'"], []]],
    ["Array(DateTime64(3, 'UTC'))", ['2024-01-02 03:04:05.678'], ['2024-01-02 03:04:05.678']],
    ['Array(UUID)', [], []],
    ['Map(String, Array(String))', { k: ["x'y\\"] }, { k: ["x'y\\"] }],
    ['Map(LowCardinality(String), Int64)', { "k'": 9 }, { "k'": '9' }],
  ])('%s of %s', async (type, value, expected) => {
    expect(await ask(`SELECT {v:${type}} AS v`, { v: value })).toEqual(expected);
  });

  it('stand wherever a literal may stand', async () => {
    const query = `SELECT groupArray(number) AS v FROM
      (SELECT number FROM numbers({from:UInt64}) WHERE number IN {some:Array(UInt64)}
       ORDER BY number LIMIT {limit:UInt32} OFFSET {offset:UInt32})`;
    const values = { from: 100, some: [1, 5, 7, 300], limit: 2, offset: 1 };
    expect(await ask(query, values)).toEqual(['5', '7']);
    const table = { table: 'events', column: 'kind' };
    expect(await ask('SELECT count({column:Identifier}) AS v FROM {table:Identifier}', table)).toBe(
      '0',
    );
  });

  it('may be as many as fit into a URL of one MiB', async () => {
    const ids = Array.from(
      { length: 15_000 },
      (_, index) => `00000000-0000-4000-8000-${index + 1e11}`,
    );
    expect(await ask('SELECT length({v:Array(UUID)}) AS v', { v: ids })).toBe('15000');
  });

  it('an identifier stays one name', async () => {
    const evil = ask('SELECT 1 AS v FROM {t:Identifier}', {
      t: 'events` WHERE 0 UNION SELECT 2 --',
    });
    await expect(evil).rejects.toMatchObject({ code: '60' });
  });

  it.each([
    ['Int64', 'abc'],
    ['Nullable(Int64)', 'abc'],
    ['Int64', '1; DROP TABLE events'],
    ['UUID', "x')"],
    ["DateTime64(3, 'UTC')", '2024-01-02T03:04:05.678Z'],
    ['DateTime', '2024-01-02 03:04:05.678'],
    ['Array(Int64)', "[1] AS x, (SELECT 'y')"],
    ['Map(String, String)', "{'a':'b'}] AS x, ['"],
  ])('%s does not take %s', async (type, value) => {
    await expect(ask(`SELECT {v:${type}} AS v`, { v: value })).rejects.toMatchObject({
      code: expect.stringMatching(/^\d+$/),
    });
  });

  it('a missing parameter is refused by name', async () => {
    await expect(ask('SELECT {nope:String} AS v', {})).rejects.toMatchObject({
      code: '456',
      message: expect.stringContaining('nope'),
    });
  });
});

it('placeholders in texts, names and comments are left alone', () => {
  const bind = (sql: string): string => bindParameters(sql, new Map([['x', '1']]));
  expect(bind('SELECT \'{x:Int8}\', `{x:Int8}`, "{x:Int8}" -- {x:Int8}')).toBe(
    'SELECT \'{x:Int8}\', `{x:Int8}`, "{x:Int8}" -- {x:Int8}',
  );
  expect(bind('/* {x:Int8} */ SELECT {x:Int8}, { x : String }, {random}')).toBe(
    "/* {x:Int8} */ SELECT CAST('1' AS Int8), '1', {random}",
  );
});
