import { expect, it } from 'vitest';
import { toCsv } from '../../exports/csv.ts';
import type { Cell } from '../statement-client.ts';
import { gridOf } from './cells.ts';
import { chartOfAnswer } from './chart-of-answer.ts';

const answer = (types: Record<string, string>, rows: Cell[][]) => ({
  columns: Object.entries(types).map(([name, type]) => ({ name, type })),
  rows,
});

it('draws a line of each figure over the first time, in its order', () => {
  const types = { events: 'UInt64', day: 'Nullable(Date)', mean: 'Nullable(Float64)' };
  const rows = [
    ['4', '2026-11-02', null],
    ['9007199254740993', '2026-11-01', 1.5],
  ];
  expect(chartOfAnswer(answer(types, rows))).toEqual({
    ...{ kind: 'lines', leftOut: 0 },
    labels: ['2026-11-01T00:00:00+00:00', '2026-11-02T00:00:00+00:00'],
    lines: [
      { name: 'events', values: [9_007_199_254_740_992, 4] },
      { name: 'mean', values: [1.5, null] },
    ],
  });
});

it('draws a line of each name where several have the same time, the greatest first', () => {
  const types = { at: 'DateTime64(3)', kind: 'LowCardinality(String)', events: 'UInt64' };
  const hour = '2026-11-01 10:00:00.500';
  const rows = [
    ...Array.from({ length: 9 }, (_, n): Cell[] => [hour, `k${n}`, String(n + 1)]),
    ['2026-11-01 11:00:00.000', 'k0', '100'],
  ];
  const chart = chartOfAnswer(answer(types, rows));
  expect(chart).toMatchObject({
    ...{ kind: 'lines', leftOut: 1 },
    labels: ['2026-11-01T10:00:00.500+00:00', '2026-11-01T11:00:00.000+00:00'],
  });
  if (chart.kind !== 'lines') throw new Error('no lines');
  expect(chart.lines.map(({ name }) => name)).toEqual([
    ...['k0', 'k8', 'k7', 'k6', 'k5', 'k4', 'k3', 'k2'],
  ]);
  expect(chart.lines[0]?.values).toEqual([1, 100]);
  expect(chart.lines[1]?.values).toEqual([9, null]);
});

it('draws figures beside names, or beside the first of several figures', () => {
  const types = { kind: 'String', browser: 'LowCardinality(Nullable(String))', events: 'UInt64' };
  expect(chartOfAnswer(answer(types, [['view', null, '3']]))).toEqual({
    ...{ kind: 'bars', names: ['view, '], leftOut: 0 },
    figures: [{ name: 'events', values: [3] }],
  });
  const hours = Array.from({ length: 60 }, (_, hour): Cell[] => [hour, String(2 * hour)]);
  expect(chartOfAnswer(answer({ hour: 'UInt8', events: 'UInt64' }, hours))).toMatchObject({
    ...{ kind: 'bars', leftOut: 10 },
    figures: [{ name: 'events' }],
  });
});

it('is drawn as a board says', () => {
  const days = answer({ day: 'Date', events: 'UInt64' }, [['2026-11-01', '3']]);
  expect(chartOfAnswer(days, 'bars')).toMatchObject({ kind: 'bars', names: ['2026-11-01'] });
  expect(chartOfAnswer(days, 'lines').kind).toBe('lines');
  const kinds = answer({ kind: 'String', events: 'UInt64' }, [['view', '3']]);
  expect(chartOfAnswer(kinds, 'bars').kind).toBe('bars');
  expect(chartOfAnswer(kinds, 'lines')).toMatchObject({ kind: 'none' });
});

it('says what a chart needs', () => {
  const none = { kind: 'none' };
  expect(chartOfAnswer(answer({ kind: 'String' }, [['a']]))).toMatchObject(none);
  expect(chartOfAnswer(answer({ events: 'UInt64' }, [['1']]))).toMatchObject(none);
  expect(chartOfAnswer(answer({ day: 'Date', events: 'UInt64' }, []))).toMatchObject(none);
  const twice = [
    ['2026-11-01', '1'],
    ['2026-11-01', '2'],
  ];
  expect(chartOfAnswer(answer({ day: 'Date', events: 'UInt64' }, twice))).toEqual({
    ...none,
    why: 'Several rows have the same time.',
  });
  expect(
    chartOfAnswer(answer({ day: 'Nullable(Date)', events: 'UInt64' }, [[null, '1']])),
  ).toMatchObject(none);
});

it('has CSV in which no text is a formula, and every number one', () => {
  const types = { name: 'String', change: 'Int64', traits: 'Map(String, String)' };
  const rows: Cell[][] = [
    ['=1+1', '-9007199254740993', { plan: 'pro' }],
    ['', -2.5, null],
  ];
  expect(toCsv(gridOf(answer(types, rows)))).toBe(
    ['name,change,traits', '\'=1+1,-9007199254740993,"{""plan"":""pro""}"', ',-2.5,'].join('\r\n'),
  );
});
