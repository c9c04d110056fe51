import { expect, it } from 'vitest';
import { timeMsOf } from './sent-values.ts';
import { timestampText } from './timestamp-text.ts';

const dayMs = 86_400_000;

it('a moment is written as Date writes it, in whatever order moments come', () => {
  let ms = Date.UTC(2026, 0, 1);
  for (let n = 0; n < 20_000; n++) {
    // Of near moments, of days around it, and of all that there are.
    ms =
      n % 500 === 0 ? (n * 7_919_000_000_003) % 253_402_300_799_999 : ms + ((n * 7_919) % 90_000);
    if (n % 77 === 0) ms = Math.max(0, ms - dayMs);
    expect(timestampText(ms)).toBe(new Date(ms).toISOString());
  }
  for (const edge of [
    0,
    dayMs - 1,
    dayMs,
    951_782_399_999,
    253_402_300_799_999,
    1.75,
    86_399_999.9,
  ]) {
    expect(timestampText(edge)).toBe(new Date(edge).toISOString());
  }
});

it.each([
  ...['2026-03-04T09:15:00Z', '2026-03-04T09:15:00.1Z', '2026-03-04T09:15:00.123456+00:00'],
  ...['2026-03-04T09:15:00.999999999-05:30', '2024-02-29T23:59:59.999Z', '2026-02-30T00:00:00Z'],
  ...['2026-02-29T00:00:00Z', '2026-03-04T24:00:00Z', '2026-03-04T09:15:60Z', '2026-03-04'],
  ...['2026-03-04 09:15:00Z', '2026-03-04 10:15:00.123456+01', '2026-3-4T9:15:00Z'],
  ...[
    '0099-01-01T00:00:00Z',
    '1969-12-31T23:59:59.999Z',
    '2026-03-04T09:15:00+24:00',
    'Wed, 04 Mar 2026',
  ],
  ...['2026-03-04t09:15:00z', '2026-03-04T09:15:00.Z', 'yesterday', ''],
])('%s is the moment that Date reads', (text) => {
  const ms = Date.parse(text);
  expect(timeMsOf(text)).toBe(Number.isNaN(ms) ? undefined : ms);
});

it('an offset of whole hours is read behind a T as behind a blank', () => {
  for (const text of ['2026-03-04 09:15:00+02', '2026-03-04 09:15:00.123-05']) {
    expect(timeMsOf(text.replace(' ', 'T'))).toBe(Date.parse(text));
  }
});

it('a time without a zone is in UTC, whatever the zone of the machine', () => {
  const zone = process.env['TZ'];
  process.env['TZ'] = 'America/New_York';
  try {
    expect(Date.parse('2026-03-04T09:15')).not.toBe(Date.parse('2026-03-04T09:15Z'));
    for (const text of ['2026-03-04T09:15', '2026-03-04 09:15:00', '2026-03-04 09:15:00.123456']) {
      expect(timeMsOf(text)).toBe(Date.parse(`${text}Z`));
    }
    expect(timeMsOf('2026-03-04')).toBe(Date.parse('2026-03-04'));
  } finally {
    if (zone === undefined) delete process.env['TZ'];
    else process.env['TZ'] = zone;
  }
});
