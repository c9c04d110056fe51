import { expect, it } from 'vitest';
import { toCsv } from './csv.ts';

const grid = {
  columns: ['Group', 'Value'],
  rows: [
    ['=HYPERLINK("x")', 3],
    ['+1', -2.5],
    ['@a', 0],
    ['-', 1],
    ['\tb', 1],
    ['a, "b"\nc', 1],
    ['plain', ''],
    ['-9007199254740993', 1],
    ['-1-1', 1],
  ],
} as const;

it('guards texts that a spreadsheet runs as formulas, and leaves numbers alone', () => {
  expect(toCsv(grid).split('\r\n')).toEqual([
    'Group,Value',
    `"'=HYPERLINK(""x"")",3`,
    "'+1,-2.5",
    "'@a,0",
    "'-,1",
    "'\tb,1",
    '"a, ""b""\nc",1',
    'plain,',
    '-9007199254740993,1',
    "'-1-1,1",
  ]);
});

it('has in each row until when it is complete', () => {
  const rows = [['a', 1] as const];
  expect(toCsv({ ...grid, rows }, '2026-11-29T12:00:00.000Z')).toBe(
    'Group,Value,Complete until\r\na,1,2026-11-29T12:00:00.000Z',
  );
  expect(toCsv({ ...grid, rows: [] }, 'unknown')).toBe('Group,Value,Complete until');
});
