import { describe, expect, it } from 'vitest';
import { readStatement } from './statement.ts';

const nothing = { tableFunctions: new Set<string>(), functions: new Set<string>() };

function into(sql: string, format = 'TSV'): string {
  const statement = readStatement(sql, format, nothing);
  if (statement.kind !== 'read') throw new Error(`a ${statement.kind}`);
  return statement.into('/p').replace("INTO OUTFILE '/p' APPEND COMPRESSION 'none'", '>>');
}

function from(sql: string): { text: string; inline: string } {
  const statement = readStatement(sql, 'TSV', nothing);
  if (statement.kind !== 'insert') throw new Error(`a ${statement.kind}`);
  const text = statement.from('/p').replace("FROM INFILE '/p' COMPRESSION 'none'", '<<');
  return { text, inline: statement.inline };
}

describe('a read', () => {
  it.each([
    ['SELECT 1', 'SELECT 1\n>> FORMAT TSV'],
    ['select 1 format JSON', 'select 1 \n>> format JSON'],
    ['SELECT 1 FORMAT JSON;', 'SELECT 1 \n>> FORMAT JSON;'],
    ['SELECT 1 FORMAT JSON SETTINGS a = 1', 'SELECT 1 \n>> FORMAT JSON SETTINGS a = 1'],
    ['SELECT 1 SETTINGS a = 1 FORMAT JSON', 'SELECT 1 SETTINGS a = 1 \n>> FORMAT JSON'],
    ['SELECT 1 SETTINGS a = 1', 'SELECT 1 SETTINGS a = 1\n>> FORMAT TSV'],
    ['SELECT 1 ; ', 'SELECT 1\n>> FORMAT TSV'],
    ['SELECT 1 -- FORMAT JSON', 'SELECT 1\n>> FORMAT TSV'],
    ['SELECT 1 /* FORMAT /* nested */ JSON */', 'SELECT 1\n>> FORMAT TSV'],
    ["SELECT ' FORMAT JSON'", "SELECT ' FORMAT JSON'\n>> FORMAT TSV"],
    ['SELECT 1 AS format', 'SELECT 1 AS format\n>> FORMAT TSV'],
    ['SELECT format FROM t WHERE a', 'SELECT format FROM t WHERE a\n>> FORMAT TSV'],
    ['SELECT (SELECT 1 AS format LIMIT 1)', 'SELECT (SELECT 1 AS format LIMIT 1)\n>> FORMAT TSV'],
    ['SELECT $$ FORMAT JSON$$', 'SELECT $$ FORMAT JSON$$\n>> FORMAT TSV'],
    ['SELECT $a$ FORMAT $ JSON$a$', 'SELECT $a$ FORMAT $ JSON$a$\n>> FORMAT TSV'],
    ['SELECT 1 AS $x$ FORMAT JSON', 'SELECT 1 AS $x$ \n>> FORMAT JSON'],
    ['SELECT ‘ FORMAT JSON’', 'SELECT ‘ FORMAT JSON’\n>> FORMAT TSV'],
    ['SELECT 1 // FORMAT JSON', 'SELECT 1\n>> FORMAT TSV'],
    ['SELECT 1\u200bFORMAT\u2060JSON', 'SELECT 1\u200b\n>> FORMAT\u2060JSON'],
    ['(SELECT 1) UNION ALL (SELECT 2)', '(SELECT 1) UNION ALL (SELECT 2)\n>> FORMAT TSV'],
    ['WITH 1 AS x SELECT x', 'WITH 1 AS x SELECT x\n>> FORMAT TSV'],
    ['-- why\nSHOW TABLES', '-- why\nSHOW TABLES\n>> FORMAT TSV'],
  ])('%s', (sql, expected) => {
    expect(into(sql)).toBe(expected);
  });

  it('quotes its path', () => {
    const statement = readStatement('SELECT 1', 'TSV', nothing);
    expect(statement.kind === 'read' && statement.into("/it's")).toContain("'/it\\'s'");
  });
});

describe('an insert', () => {
  it.each([
    ['INSERT INTO t FORMAT CSV', 'INSERT INTO t << FORMAT CSV', ''],
    ['insert into t (a, b) format CSV', 'insert into t (a, b) << format CSV', ''],
    ['INSERT INTO t (format) FORMAT CSV', 'INSERT INTO t (format) << FORMAT CSV', ''],
    ['INSERT INTO t SETTINGS a = 1 FORMAT CSV', 'INSERT INTO t << SETTINGS a = 1 FORMAT CSV', ''],
    ['INSERT INTO t FORMAT CSV 1,2', 'INSERT INTO t << FORMAT CSV', '1,2'],
    [
      'INSERT INTO t FORMAT CSV\n1,"a FORMAT b;"\n',
      'INSERT INTO t << FORMAT CSV',
      '1,"a FORMAT b;"\n',
    ],
    ['INSERT INTO t FORMAT JSONEachRow {"a":1}', 'INSERT INTO t << FORMAT JSONEachRow', '{"a":1}'],
  ])('%s', (sql, text, inline) => {
    expect(from(sql)).toEqual({ text, inline });
  });

  it.each([
    'INSERT INTO t VALUES (1)',
    'INSERT INTO t SELECT 1',
    'INSERT INTO t WITH 1 AS x SELECT x',
    'WITH 1 AS x INSERT INTO t SELECT x',
    'INSERT INTO t VALUES (1), /* a */ /* b; */ (2)\n\n, (3)',
    'INSERT INTO t SELECT format\n\nFROM u',
  ])('that brings its own rows is a command: %s', (sql) => {
    expect(readStatement(sql, 'TSV', nothing)).toEqual({ kind: 'command', sql });
  });
});

describe('other statements', () => {
  it.each(['CREATE TABLE t (n Int8)', 'ALTER TABLE t DELETE WHERE 1', 'OPTIMIZE TABLE t FINAL'])(
    '%s is a command',
    (sql) => {
      expect(readStatement(sql, 'TSV', nothing)).toEqual({ kind: 'command', sql });
    },
  );

  it('may end with a semicolon, and have semicolons in texts, names and comments', () => {
    const texts = [
      "SELECT ';', `a;b`, \"a;b\", x'3b', ‘;’, “a;b”, $$;$$, $x$';$x$ /* ; /* ; */ ; */",
      'SELECT 1e3, 1_000.5e-3, .5, 0xFp-1, 0b1, a.1.2, 1a, t$x -- ;\r;\n+ 1 // ;\n+ 1 # ;\n+ 1 #!;',
      "INSERT INTO t VALUES (';')",
      'INSERT INTO t FORMAT CSV 1;\n\n2; /* /*',
    ];
    for (const sql of texts) {
      for (const end of ['', ';', '; -- ;', ';;\n']) {
        expect(() => readStatement(`${sql}${end}`, 'TSV', nothing)).not.toThrow();
      }
    }
  });

  it.each([
    ['SET a = 1', 48],
    ['/* x */ use db', 48],
    ['CREATE TEMPORARY TABLE t (n Int8)', 48],
    ["SELECT 1 INTO OUTFILE '/x'", 48],
    ["INSERT INTO t FROM INFILE '/x' FORMAT CSV", 48],
    ['', 62],
    [' -- nothing', 62],
    [';', 62],
    ['SELECT 1; SET max_block_size = 77; SELECT 2', 62],
    ['SELECT 1; DROP TABLE t', 62],
    ['(SELECT 1; DROP TABLE t)', 62],
    ['OPTIMIZE TABLE t; DROP TABLE t;', 62],
    ["INSERT INTO t VALUES (';'); DROP TABLE t", 62],
    ['INSERT INTO t SELECT 1; INSERT INTO u FORMAT CSV 1', 62],
    ['SELECT 1 AS $x$; DROP TABLE t', 62],
    ['SELECT 1 AS a$x$; DROP TABLE t; SELECT 1 AS b$x$', 62],
    ['SELECT t.1.e3$x$; DROP TABLE t; SELECT 1 AS e3$x$', 62],
    ['SELECT +.5a$x$; DROP TABLE t; SELECT 1 AS a$x$', 62],
    ["SELECT 1.e3$x$'$x$; DROP TABLE t -- '", 62],
    ['SELECT 1 AS $x y$; DROP TABLE t; SELECT 1 AS $x y$', 62],
    ['SELECT ‘--’; DROP TABLE t', 62],
    ["SELECT ‘'’; DROP TABLE t; SELECT ‘'’", 62],
    ["SELECT 1 AS “'”; DROP TABLE t; SELECT 1 AS “'”", 62],
    ["SELECT 1 // '\n; DROP TABLE t -- '", 62],
    ["SELECT 1 -- \r'\n; DROP TABLE t -- '", 62],
    ["SELECT 1 -- \u2028'\n; DROP TABLE t -- '", 62],
    ["SELECT 1 INTO\u200bOUTFILE '/x'", 48],
    ['EXPLAIN AST INSERT INTO t FORMAT CSV 1\n\nDROP TABLE t', 62],
    ['EXPLAIN AST INSERT INTO t FORMAT `CSV` 1\n\nDROP TABLE t', 62],
    ['WITH 1 AS x INSERT INTO t FORMAT CSV 1\n\nDROP TABLE t', 62],
    ["INSERT INTO t SELECT n FROM input('n Int8') FORMAT CSV 1 /*\n\nDROP TABLE t -- */", 62],
    ['INSERT INTO values FORMAT CSV 1\n\nDROP TABLE t', 62],
    ['INSERT INTO t VALUES (1) /* /* */ ;\nDROP TABLE t -- */ */', 62],
  ])('%s is refused', (sql, code) => {
    expect(() => readStatement(sql, 'TSV', nothing)).toThrow(expect.objectContaining({ code }));
  });
});
