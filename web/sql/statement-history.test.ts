import { expect, it } from 'vitest';
import { type PastStatement, readPast, withStatement } from './statement-history.ts';

const statement = (sql: string, atMs = 1): PastStatement => ({ sql, atMs, rows: 2 });

it('has each statement once, the newest first, and fifty at most', () => {
  const before = [statement('a'), statement('b')];
  expect(withStatement(before, statement('b', 9))).toEqual([statement('b', 9), statement('a')]);
  const many = Array.from({ length: 60 }, (_, number) => statement(`SELECT ${number}`));
  const kept = many.reduce(withStatement, [statement('first')]);
  expect(kept).toHaveLength(50);
  expect(kept[0]?.sql).toBe('SELECT 59');
});

it('keeps no statement that would fill the browser', () => {
  expect(withStatement([], statement('x'.repeat(20_001)))).toEqual([]);
});

it('reads what was kept, and nothing else', () => {
  const past = [statement('a'), { ...statement('file'), rows: null }];
  expect(readPast(JSON.stringify(past))).toEqual(past);
  expect(readPast(JSON.stringify([{ sql: 1 }, null, 'x', statement('b')]))).toEqual([
    statement('b'),
  ]);
  expect([readPast(null), readPast('{'), readPast('{}')]).toEqual([[], [], []]);
});
