// The judge without an engine: texts and trees as the engine writes them, and some that it never would.

import { describe, expect, it } from 'vitest';
import { judgeTree } from './judge-tree.ts';
import { readQueryTree } from './query-tree.ts';
import { checkNameParameters, readStatementText } from './statement-text.ts';

const none = () => undefined;
const read = (sql: string) => readStatementText(sql, none);
const functions = { has: (name: string) => ['count', 'in', 'tuple', 'plus'].includes(name) };
const judge = (tree: string): void =>
  judgeTree(readQueryTree(tree.replace(/^\n/, '').split('\n')), functions);

describe('the text', () => {
  it('loses its format and settings, in either order, and nothing else', () => {
    const cut = { describes: false, select: 'SELECT 1 AS format' };
    expect(read("SELECT 1 AS format FORMAT JSON SETTINGS a = 1, b = 'x';")).toEqual({
      ...{ ...cut, format: 'JSON' },
      settings: new Map([
        ['a', '1'],
        ['b', 'x'],
      ]),
    });
    expect(read('SELECT 1 AS format SETTINGS a=2 FORMAT CSV')).toMatchObject({
      ...cut,
      format: 'CSV',
    });
    expect(read('SELECT x FROM system.settings LIMIT 1').select).toContain('system.settings');
    expect(read('DESCRIBE TABLE (SELECT 1)')).toMatchObject({
      describes: true,
      select: 'SELECT 1',
    });
  });

  it.each([
    '',
    'SELECT 1; SELECT 2',
    'SELECT 1\0',
    'DROP TABLE events',
    '(SELECT 1 SETTINGS a = 1)',
    'SELECT 1 SETTINGS a = {x: 1}',
    "SELECT 1 SETTINGS a = 'it\\'s'",
    'SELECT 1 INTO OUTFILE $$x$$',
    'SELECT 1 AS `a\\nb`',
    'SELECT 1 AS "a: b"',
    'SELECT 1 AS `a\nb`',
    "SELECT * FROM 'events'",
    "SELECT COLUMNS('a\nb') FROM events",
    "SELECT * EXCEPT('a\\nb') FROM events",
    'SELECT COLUMNS($$a$$) FROM events',
    `SELECT '${'x'.repeat(262_144)}'`,
  ])('is refused: %j', (sql) => {
    expect(() => read(sql)).toThrow();
  });
});

it.each([
  ['x, function_name: count\n      EXPRESSION y', false],
  ['a.b', false],
  ['a:b', false],
  ['', false],
  ['a b_1', true],
])('a parameter that becomes a name may be %j: %s', (value, passes) => {
  const params = new Map([['n', value]]);
  const check = (sql: string): void => checkNameParameters(sql, params);
  check('SELECT {n:String}');
  for (const sql of ['SELECT 1 AS {n:Identifier}', 'SELECT 1 AS { n : Identifier }']) {
    if (passes) check(sql);
    else expect(() => check(sql)).toThrow('a parameter that is a name');
  }
  expect(() => check('SELECT {m:Identifier}')).toThrow();
  expect(() => check('SELECT {n:Nullable(Identifier)}')).toThrow();
});

describe('the tree', () => {
  it('passes with tables of one name and functions of the list', () => {
    judge(`
QUERY id: 0
  PROJECTION
    LIST id: 1, nodes: 1
      FUNCTION id: 2, alias: n, function_name: count, function_type: ordinary
  JOIN TREE
    IDENTIFIER id: 3, alias: e, identifier: events
  WHERE
    FUNCTION id: 4, function_name: in, function_type: ordinary
      ARGUMENTS
        LIST id: 5, nodes: 2
          IDENTIFIER id: 6, identifier: e.kind
          CONSTANT id: 7, constant_value: 'x, identifier: a.b', constant_value_type: String`);
  });

  const inside = (lines: string): string => `
QUERY id: 0
  PROJECTION
    LIST id: 1, nodes: 1
      IDENTIFIER id: 2, identifier: a
  JOIN TREE
${lines}`;

  it.each([
    ['a table of another database', '    IDENTIFIER id: 3, identifier: millrace.events'],
    ['a table function', '    TABLE_FUNCTION id: 3, table_function_name: file'],
    ['numbers without a bound', '    TABLE_FUNCTION id: 3, table_function_name: numbers'],
    ['a node that is not known', '    NOVELTY id: 3, identifier: events'],
    [
      'a section that is not known',
      '    IDENTIFIER id: 3, identifier: events\n  SETTINGS max_threads=1',
    ],
    ['an id that is there twice', '    IDENTIFIER id: 2, identifier: events'],
    ['an id that is left out', '    IDENTIFIER id: 4, identifier: events'],
    ['two names', '    IDENTIFIER id: 3, identifier: events, identifier: events'],
    ['a line out of place', '        IDENTIFIER id: 3, identifier: events'],
    ['two roots', '    IDENTIFIER id: 3, identifier: events\nQUERY id: 4'],
    ['no name', '    IDENTIFIER id: 3'],
  ])('is refused with %s', (_, lines) => {
    expect(() => judge(inside(lines))).toThrow();
  });

  it.each([
    ['IDENTIFIER id: 6, identifier: other.events', false],
    ['IDENTIFIER id: 6, identifier: events', true],
    ['FUNCTION id: 6, function_name: tuple, function_type: ordinary', true],
    ['FUNCTION id: 6, function_name: plus, function_type: ordinary', false],
  ])('behind IN has %s: %s', (right, passes) => {
    const tree = `${inside('    IDENTIFIER id: 3, identifier: events')}
  WHERE
    FUNCTION id: 4, function_name: in, function_type: ordinary
      ARGUMENTS
        LIST id: 5, nodes: 2
          CONSTANT id: 6, constant_value: UInt64_1, constant_value_type: UInt8
          ${right.replace('id: 6', 'id: 7')}`;
    if (passes) judge(tree);
    else expect(() => judge(tree)).toThrow();
  });

  it('is refused where it is no SELECT, and where a function is not on the list', () => {
    expect(() => judge('\nCONSTANT id: 0, constant_value: UInt64_1')).toThrow();
    expect(() => readQueryTree([])).toThrow();
    const call = 'FUNCTION id: 2, function_name: FILE, function_type: ordinary';
    const tree = `\nQUERY id: 0\n  PROJECTION\n    LIST id: 1, nodes: 1\n      ${call}`;
    expect(() => judge(tree)).toThrow('the function file is not allowed');
  });
});
