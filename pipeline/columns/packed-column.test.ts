import { expect, it } from 'vitest';
import { PackedColumn } from './packed-column.ts';

/** The bytes of each row's text, each as a character, with '|' for the byte between two texts. */
function rowsOf(column: PackedColumn): string[] {
  const { dictionary, values } = column.data();
  const { valueOffsets, values: bytes } = dictionary?.data[0] ?? {};
  return Array.from(values, (index) =>
    Buffer.from(bytes.subarray(valueOffsets[index], valueOffsets[index + 1]))
      .toString('latin1')
      .replaceAll('\xff', '|'),
  );
}

const cellsOf = (...cells: number[]): Int32Array => Int32Array.from(cells);

it('tells rows apart by any of their cells', () => {
  const column = new PackedColumn(0, 3);
  const cells = [cellsOf(9, 1, 1, 1, 2, 0, 1), undefined, cellsOf(9, 3, 3, 4, 4, 0, 3)];
  column.pushCells(cells, 1, 7, (cell) => `t${cell}`);
  expect(rowsOf(column)).toEqual(['t1||t3', 't1||t3', 't1||t4', 't2||t4', '', 't1||t3']);
});

it('keeps thousands of combinations apart, and knows each again', () => {
  const column = new PackedColumn(0, 2);
  const many = 5_000;
  const first = Int32Array.from({ length: 2 * many }, (_, row) => 1 + (row % many));
  column.pushCells([first, first.map((cell) => cell * 7)], 0, 2 * many, String);
  const expected = Array.from(first, (cell) => `${cell}|${cell * 7}`);
  expect(rowsOf(column)).toEqual(expected);
});

it('has one text for the same texts as cells and as texts, in UTF-8', () => {
  const column = new PackedColumn(0, 2);
  column.pushCells([cellsOf(1), cellsOf(2)], 0, 1, (cell) => ['', 'ÿ', 'a'][cell] ?? '');
  column.push(['ÿ', 'a']);
  column.push(['', '']);
  expect(rowsOf(column)).toEqual(['Ã¿|a', 'Ã¿|a', '']);
  expect(column.data().dictionary?.length).toBe(2);
});

it('asks anew once cells have other meanings', () => {
  const column = new PackedColumn(0, 1);
  column.pushCells([cellsOf(1)], 0, 1, () => 'before');
  column.forgetCells();
  column.pushCells([cellsOf(1)], 0, 1, () => 'after');
  expect(rowsOf(column)).toEqual(['before', 'after']);
});
