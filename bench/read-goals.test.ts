// Goals read from tables, and the report page drawn from results, the kept one included.

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { root } from '../test/harness/source-tree.ts';
import type { Table } from './bench.ts';
import type { Goal } from './goal.ts';
import { goalTable, readGoal } from './read-goals.ts';
import { drawReport } from './report.ts';
import { type Result, readResults } from './results.ts';

const machine = {
  ...{ cores: 2, processor: 'a <fast> one', memoryGiB: 8, node: '20.0.0' },
  ...{ natsServer: '2.9.10', chdb: '3.4.0', loadAverage: 0.5, takenAt: '2026-11-20T12:00:00.000Z' },
};

function resultOf(bench: string, ...tables: Omit<Table, 'title'>[]): Result {
  const titled = tables.map((table) => ({ title: 'a table', ...table }));
  return {
    bench,
    question: 'how?',
    seconds: 1,
    machine,
    tables: titled,
    resultHash: 'f'.repeat(64),
  };
}

const validate = resultOf('validate', {
  columns: ['size', 'batch', 'ratio', 'min', 'max'],
  rows: [
    ['small', '100', '4.20', '4.00', '4.50'],
    ['medium', '100', '7.60', '7.00', '8.00'],
  ],
});
const lag: Goal = {
  ...{ name: 'lag', beside: 'the clock', unit: 'ms', asked: { atMost: 1_500 } },
  reached: { bench: 'end-to-end', column: 'p99' },
};
const speed: Goal = {
  ...{ name: 'speed', beside: 'JSON.parse', asked: { atLeast: 6 } },
  reached: { bench: 'validate', column: 'ratio', where: { size: 'medium' } },
};

describe('a goal', () => {
  it('is read from the row it names, with the range of the pairs', () => {
    const reached = { value: 7.6, range: [7, 8], met: true };
    expect(readGoal(speed, [validate])).toEqual(reached);
  });

  it('without a row is measured by the worst of all', () => {
    const worst = { ...speed, reached: { bench: 'validate', column: 'ratio' } };
    expect(readGoal(worst, [validate])).toMatchObject({ value: 4.2, met: false });
    const most = { ...worst, asked: { atMost: 7 } };
    expect(readGoal(most, [validate])).toMatchObject({ value: 7.6, met: false });
  });

  it('is read from large numbers as they are printed', () => {
    const slow = resultOf('end-to-end', { columns: ['p99'], rows: [['1,501']] });
    expect(readGoal(lag, [slow])).toEqual({ value: 1_501, range: undefined, met: false });
  });

  it('is left out where its bench did not run, and an error where the bench has no such figure', () => {
    expect(readGoal(speed, [])).toBeUndefined();
    expect(goalTable([]).rows).toEqual([]);
    const renamed = resultOf('validate', { columns: ['times'], rows: [['7']] });
    expect(() => readGoal(speed, [renamed])).toThrow(
      'speed: the bench validate has no such figure',
    );
    const other = resultOf('validate', { columns: ['size', 'ratio'], rows: [['small', '7']] });
    expect(() => readGoal(speed, [other])).toThrow('has no such figure');
    const empty = resultOf('validate', { columns: ['size', 'ratio'], rows: [['medium', '']] });
    expect(() => readGoal(speed, [empty])).toThrow('has no number in ratio');
  });
});

describe('the page', () => {
  const stages = resultOf('stages', {
    columns: ['stage', 'process', 'us/event'],
    rows: [
      ['validation', 'service', '3.00'],
      ['frames', 'service', '0.90'],
      ['store', 'broker', '0.10'],
      ['together', '', '4.00'],
    ],
  });
  const whole = resultOf(
    'end-to-end',
    { columns: ['run', 'of engine'], rows: [['all', '0.50']] },
    { columns: ['p99'], rows: [['1,600']] },
    {
      columns: ['process', 'us/event', 'MiB'],
      rows: [
        ['service', '4.00', '300'],
        ['engine: inserts', '3.00', '900'],
        ['engine: merges', '1.00', ''],
        ['together', '8.00', '1200'],
      ],
    },
  );
  const page = drawReport([validate, stages, whole]);

  it('shows each stage as long as its share, labelled where there is room', () => {
    const bars = [...page.matchAll(/<div style="flex:([\d.]+);[^>]*>([^<]*)<\/div>/g)];
    expect(bars.map(([, us, label]) => [us, label])).toEqual([
      ['3', '3.00'],
      ['0.9', '0.90'],
      ['0.1', ''],
      ['4', '4.00'],
      ['3', '3.00'],
      ['1', '1.00'],
    ]);
    const widths = [...page.matchAll(/class="chain"[^>]*width:([\d.]+)%/g)];
    expect(widths.map(([, width]) => width)).toEqual(['50.0', '100.0']);
    expect(page).toContain('validation (service) 3.00 us, 75 %');
    expect(page).toContain('merges (engine) 1.00 us, 13 %');
  });

  it('in the repository is drawn from the kept results: npm run bench -- report', () => {
    const kept = readFileSync(join(root, 'bench', 'report.html'), 'utf8');
    expect(kept).toBe(drawReport(readResults()));
  });

  it('has the goals, the machine and every table, and consists of text and style alone', () => {
    expect(page).toContain('<td>yes</td>');
    expect(page).toContain('2 cores (a &lt;fast&gt; one)');
    expect(page).toContain('<td class="number">7.60</td>');
    expect(page).not.toMatch(/<script|src=|https?:/);
  });
});
