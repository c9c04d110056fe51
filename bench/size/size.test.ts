// Sizes from small results whose sums are done by hand, and from the kept ones.

import { describe, expect, it } from 'vitest';
import { type Result, readResults } from '../results.ts';
import { readMeasured } from './measured.ts';
import { readAsked } from './read-asked.ts';
import { sizeOf } from './roles.ts';
import { sizeLines, sizeTable } from './size-text.ts';

const one = { value: 1, from: 'a bench' };
const measured = {
  requests: [{ value: 2, from: 'a bench' }, one],
  singleRequests: { value: 30, from: 'a bench' },
  building: [{ value: 4, from: 'a bench' }],
  broker: one,
  inserting: [{ value: 10, from: 'a bench' }],
  rewrite: { value: 4, from: 'a bench' },
  shareOfEvents: { value: 0.5, from: 'a bench' },
  rewrites: [
    { rows: 1_000_000, figure: { value: 2, from: 'a bench' } },
    { rows: 1_000_000_000, figure: { value: 3, from: 'a bench' } },
  ],
  memory: {
    service: { value: 512, from: 'a bench' },
    broker: { value: 100, from: 'a bench' },
    engine: { value: 1_024, from: 'a bench' },
  },
  bodyBytes: { value: 600, from: 'a bench' },
  queuedBytes: { value: 200, from: 'a bench' },
  insertedBytes: { value: 300, from: 'a bench' },
  storedBytes: { value: 100, from: 'a bench' },
  halfLoad: { value: 40_000, from: 'a bench' },
  halfLoadLag: one,
};

describe('a size', () => {
  it('is the rate times what an event was measured to cost each role', () => {
    const size = sizeOf({ eventsPerSecond: 100_000, days: 10 }, measured);
    expect([size.rows, size.shards]).toEqual([86_400_000_000, 3]);
    const [ingest, broker, pipeline, clickhouse] = size.roles;
    expect(ingest).toMatchObject({ cores: 0.3, coresToHave: 1, memoryGiB: 0.5, networkMB: 80 });
    expect(broker).toMatchObject({ cores: 0.1, diskGB: 72, networkMB: 40 });
    expect(pipeline).toMatchObject({ cores: 0.4, coresToHave: 1, networkMB: 50 });
    // 10 us of inserts and 3 rewrites of 4 us, which are half of all merges.
    expect(clickhouse).toMatchObject({ cores: 3.4, coresToHave: 7, memoryGiB: 4, diskGB: 8_640 });
  });

  it('has fewer merges where less is stored', () => {
    const [, , , clickhouse] = sizeOf({ eventsPerSecond: 10, days: 1 }, measured).roles;
    expect(clickhouse?.cores).toBeCloseTo(0.000_26, 6);
  });

  it('comes from the kept results, and says so of each number', () => {
    const kept = readMeasured(readResults());
    const asked = { eventsPerSecond: 1_000_000, days: 365 };
    const size = sizeOf(asked, kept);
    const text = sizeLines(asked, size, kept).join('\n');
    for (const bench of ['stages', 'end-to-end', 'age', 'broker-bytes', 'insert', 'insights'])
      expect(text).toContain(`\`${bench}\``);
    expect(text).toContain('Merges were simulated up to 1,000,000,000 rows');
    expect(sizeTable(asked, size).title).toMatch(/^1,000,000 events\/s for 365 days/);
    const small = { eventsPerSecond: 1, days: 1 };
    expect(sizeLines(small, sizeOf(small, kept), kept)[0]).toMatch(/^One machine/);
  });

  it('names the figure that the results lack', () => {
    const without = readResults().map((result): Result => {
      if (result.bench !== 'stages') return result;
      return { ...result, tables: result.tables.map((table) => ({ ...table, rows: [] })) };
    });
    expect(() => readMeasured(without)).toThrow(
      'bench/results.json: the bench stages has no figure "us/event"',
    );
    expect(() => readMeasured([])).toThrow('has no figure');
  });
});

it.each([
  [[], '--events-per-second must be a whole number from 1 to 1,000,000'],
  [['--days', '1'], '--events-per-second must be a whole number from 1 to 1,000,000'],
  [['--events-per-second', '1e3', '--days', '1'], '--events-per-second must be .*, not 1e3'],
  [
    ['--events-per-second', '1000001', '--days', '1'],
    '--events-per-second must be .*, not 1000001',
  ],
  [
    ['--events-per-second', '5', '--days', '0'],
    '--days must be a whole number from 1 to 3,650, not 0',
  ],
  [['--events-per-second', '5', '--days', '-1'], '--days'],
  [['--events-per-second', '5', '--days'], '--days'],
  [['--events-per-second', '5', '--days', '9', '--hours', '1'], '--hours'],
  [['--events-per-second', '5', '--days', '9', '7'], "'7'"],
])('refuses %j in a sentence that names the option and its rule', (args, sentence) => {
  expect(() => readAsked(args)).toThrow(new RegExp(sentence));
});
