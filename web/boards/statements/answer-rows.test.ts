import { create } from '@bufbuild/protobuf';
import { expect, it } from 'vitest';
import {
  StatementAnswerSchema,
  StatementView,
} from '../../../proto/gen/dashboard/dashboards/v1/dashboards_pb.js';
import { nameOfView, numberOf, rowsOfTile, shownAs, viewOf } from './answer-rows.ts';

it('reads cells as the page of SQL has them, with no name twice', () => {
  const answer = create(StatementAnswerSchema, {
    columns: [
      { name: 'a', type: 'String' },
      { name: 'a', type: 'Nullable(UInt64)' },
    ],
    rows: [{ cells: ['"x"', '"9007199254740993"'] }, { cells: ['""', 'null'] }],
  });
  const rows = rowsOfTile(answer);
  expect(rows.columns.map(({ name }) => name)).toEqual(['a', 'a (2)']);
  expect(rows.rows).toEqual([
    ['x', '9007199254740993'],
    ['', null],
  ]);
  expect(numberOf(rows)).toEqual({ name: 'a (2)', value: '9007199254740993' });
  expect(numberOf({ columns: rows.columns.slice(0, 1), rows: rows.rows })).toBeUndefined();
  expect(numberOf({ columns: rows.columns, rows: [] })).toBeUndefined();
});

it('has a name for each view', () => {
  for (const { value, view } of shownAs) expect(nameOfView(viewOf(value))).toBe(nameOfView(view));
  expect(nameOfView(StatementView.UNSPECIFIED)).toBe('table');
});
