import { expect, it } from 'vitest';
import {
  maxColumns,
  maxWidthPx,
  minWidthPx,
  moved,
  propertyId,
  propertyOf,
  readColumns,
  toggled,
  usualColumns,
  withWidth,
  writeColumns,
} from './shown-columns.ts';

const ids = (columns: readonly { id: string }[] | undefined) => columns?.map(({ id }) => id);

it('says the same after the address has kept it', () => {
  const columns = [
    { id: 'kind', widthPx: 240 },
    { id: propertyId('$browser') },
    { id: propertyId('a"b,c&d=[é]'), widthPx: 90 },
    { id: 'time' },
  ];
  const query = new URLSearchParams({ columns: writeColumns(columns) ?? '' });
  expect(readColumns(new URLSearchParams(String(query)).get('columns'))).toEqual(columns);
});

it('is absent for the usual columns, and there for their widths and another order', () => {
  expect(writeColumns(usualColumns)).toBeUndefined();
  const [first] = usualColumns;
  expect(writeColumns(withWidth(usualColumns, first?.id ?? '', 200))).toContain('["time",200]');
  expect(writeColumns([...usualColumns].reverse())).toBeDefined();
});

it('reads nothing where it is no list of columns', () => {
  const texts = [null, '', 'kind', '{"0":"kind"}', '[]', '["unknown",".",1,null,[]]', '["kind"'];
  for (const text of texts) expect(readColumns(text)).toBeUndefined();
});

it('leaves out what is no column, comes twice, or is one too many', () => {
  expect(readColumns('["kind","kind",["kind",100],"nothing",".plan"]')).toEqual([
    { id: 'kind' },
    { id: '.plan' },
  ]);
  const many = Array.from({ length: maxColumns + 5 }, (_, n) => propertyId(`p${n}`));
  expect(ids(readColumns(JSON.stringify(many)))).toEqual(many.slice(0, maxColumns));
  expect(readColumns(JSON.stringify([propertyId('x'.repeat(300))]))).toBeUndefined();
});

it('bounds widths, and has none where it is no number', () => {
  const text = '[["kind",1],["who",1e9],["time","wide"],["page",100.4],["place",null]]';
  expect(readColumns(text)).toEqual([
    { id: 'kind', widthPx: minWidthPx },
    { id: 'who', widthPx: maxWidthPx },
    { id: 'time' },
    { id: 'page', widthPx: 100 },
    { id: 'place' },
  ]);
});

it('adds at the end, takes away, and keeps between one and a dozen', () => {
  expect(ids(toggled(usualColumns, propertyId('plan')))?.at(-1)).toBe('.plan');
  expect(ids(toggled(usualColumns, 'kind'))).not.toContain('kind');
  const one = [{ id: 'kind' }];
  expect(toggled(one, 'kind')).toBe(one);
  const full = Array.from({ length: maxColumns }, (_, n) => ({ id: propertyId(`p${n}`) }));
  expect(toggled(full, 'kind')).toBe(full);
});

it('moves a column by one place, and not beyond the ends', () => {
  const columns = [{ id: 'time' }, { id: 'kind', widthPx: 90 }, { id: 'who' }];
  expect(ids(moved(columns, 'kind', -1))).toEqual(['kind', 'time', 'who']);
  expect(moved(columns, 'kind', 1)[2]).toEqual({ id: 'kind', widthPx: 90 });
  expect(moved(columns, 'time', -1)).toBe(columns);
  expect(moved(columns, 'who', 1)).toBe(columns);
  expect(moved(columns, 'absent', 1)).toBe(columns);
});

it('sets a width, and takes it back', () => {
  const wide = withWidth(usualColumns, 'kind', 300.7);
  expect(wide.find(({ id }) => id === 'kind')).toEqual({ id: 'kind', widthPx: 301 });
  expect(withWidth(wide, 'kind', undefined)).toEqual(usualColumns);
});

it('tells fields from properties of the same name', () => {
  expect(propertyOf('kind')).toBeUndefined();
  expect(propertyOf(propertyId('kind'))).toBe('kind');
});
