import { readFileSync } from 'node:fs';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { hasTestData, testData } from '../../../test/harness/test-data.ts';
import { parseTimestamp } from './checked-timestamp.ts';

describe('parseTimestamp', () => {
  it('takes the moments of protobuf JSON', () => {
    const rows: [string, number][] = [
      ['1970-01-01T00:00:00Z', 0],
      ['2026-11-20T12:13:14Z', Date.UTC(2026, 10, 20, 12, 13, 14)],
      ['2026-11-20T12:13:14.5Z', Date.UTC(2026, 10, 20, 12, 13, 14, 500)],
      ['2026-11-20T12:13:14.567Z', Date.UTC(2026, 10, 20, 12, 13, 14, 567)],
      ['2026-11-20T12:13:14.567999999Z', Date.UTC(2026, 10, 20, 12, 13, 14, 567)],
      ['2026-11-20T12:13:14+02:30', Date.UTC(2026, 10, 20, 9, 43, 14)],
      ['2026-11-20T12:13:14.25-11:00', Date.UTC(2026, 10, 20, 23, 13, 14, 250)],
      ['2026-11-20T12:13:14-00:00', Date.UTC(2026, 10, 20, 12, 13, 14)],
      ['2024-02-29T00:00:00Z', Date.UTC(2024, 1, 29)],
      ['2000-02-29T23:59:59Z', Date.UTC(2000, 1, 29, 23, 59, 59)],
      ['0001-01-01T00:00:00Z', -62_135_596_800_000],
      ['9999-12-31T23:59:59.999999999Z', 253_402_300_799_999],
    ];
    for (const [text, ms] of rows) expect([text, parseTimestamp(text)]).toEqual([text, ms]);
  });

  it('refuses everything else', () => {
    const texts = [
      '',
      '2026',
      '2026-11-20',
      '2026-11-20T12:13:14',
      '2026-11-20t12:13:14Z',
      '2026-11-20T12:13:14z',
      '2026-11-20 12:13:14Z',
      '2026-11-20T12:13Z',
      '2026-11-20T12:13:14.Z',
      '2026-11-20T12:13:14,5Z',
      '2026-11-20T12:13:14.1234567890Z',
      '2026-11-20T12:13:14.5',
      '2026-11-20T12:13:14+02',
      '2026-11-20T12:13:14+0230',
      '2026-11-20T12:13:14+24:00',
      '2026-11-20T12:13:14+02:60',
      '2026-11-20T12:13:14ZZ',
      '2026-11-20T12:13:14Z ',
      ' 2026-11-20T12:13:14Z',
      '2026-11-20T12:13:14.5Zx',
      '2026-00-20T12:13:14Z',
      '2026-13-20T12:13:14Z',
      '2026-11-00T12:13:14Z',
      '2026-11-31T12:13:14Z',
      '2026-02-29T12:13:14Z',
      '2026-02-30T00:00:00Z',
      '1900-02-29T00:00:00Z',
      '2026-11-20T24:00:00Z',
      '2026-11-20T12:60:14Z',
      '2026-11-20T12:13:60Z',
      '2016-12-31T23:59:60Z',
      '0000-12-31T23:59:59Z',
      '10000-01-01T00:00:00Z',
      '+2026-11-20T12:13:14Z',
      '-026-11-20T12:13:14Z',
      '2026-11-20T1a:13:14Z',
      '２026-11-20T12:13:14Z',
      '2026-11-20T12:13:14٫5Z',
      '0001-01-01T00:00:00+00:01',
      '9999-12-31T23:59:59-00:01',
    ];
    for (const text of texts) expect([text, parseTimestamp(text)]).toEqual([text, Number.NaN]);
  });

  it('agrees with Date on every moment', () => {
    const range = { min: -62_135_596_800_000, max: 253_402_300_799_999 };
    fc.assert(
      fc.property(fc.integer(range), (ms) => parseTimestamp(new Date(ms).toISOString()) === ms),
      { numRuns: 5_000, seed: 1 },
    );
  });

  it('agrees with the calendar on every day of 1896 to 2104', () => {
    for (let year = 1896; year <= 2104; year++) {
      for (let month = 1; month <= 12; month++) {
        for (let day = 28; day <= 31; day++) {
          const date = [String(year), String(month).padStart(2, '0'), day].join('-');
          const ms = Date.UTC(year, month - 1, day);
          const expected = new Date(ms).getUTCDate() === day ? ms : Number.NaN;
          expect([date, parseTimestamp(`${date}T00:00:00Z`)]).toEqual([date, expected]);
        }
      }
    }
  });
});

interface Format {
  tests: { description: string; data: unknown; valid: boolean }[];
}

describe.runIf(hasTestData)('the JSON Schema suite’s date-time cases', () => {
  // Valid RFC 3339 that google.protobuf.Timestamp cannot hold.
  const differences = new Map([
    ['a valid date-time with a leap second, UTC', 'Timestamp counts no leap seconds'],
    ['a valid date-time with a leap second, with minus offset', 'Timestamp counts no leap seconds'],
    ['case-insensitive T and Z', 'protobuf JSON asks for upper case'],
    ['a second fraction of fifteen nines is valid', 'Timestamp ends at the nanosecond'],
  ]);
  const suite: Format[] = hasTestData
    ? JSON.parse(readFileSync(testData('formats', 'date-time.json'), 'utf8'))
    : [];

  it('have the verdict of the suite, except for the listed differences', () => {
    const seen = new Set<string>();
    for (const { description, data, valid } of suite.flatMap(({ tests }) => tests)) {
      if (typeof data !== 'string') continue;
      const isDifferent = differences.has(description);
      if (isDifferent) seen.add(description);
      const verdict = !Number.isNaN(parseTimestamp(data));
      expect([description, verdict]).toEqual([description, isDifferent ? !valid : valid]);
    }
    expect([...seen].sort()).toEqual([...differences.keys()].sort());
  });
});
