import { expect, it } from 'vitest';
import { clockOf, labelDay, shownMs } from './labels.ts';

// Clocks in Berlin go back on 25 October 2026: an hour comes twice.
const labels = [
  '2026-10-25T01:00:00+02:00',
  '2026-10-25T02:00:00+02:00',
  '2026-10-25T02:00:00+01:00',
  '2026-10-25T03:00:00+01:00',
];

it('shows the clock of the zone, whatever the browser knows of it', () => {
  const shown = (time: string): string =>
    new Date(clockOf(labels)(Date.parse(time))).toISOString().slice(11, 16);
  expect(shown('2026-10-24T23:30Z')).toBe('01:30');
  expect(shown('2026-10-25T00:30Z')).toBe('02:30');
  expect(shown('2026-10-25T01:30Z')).toBe('02:30');
  expect(shown('2026-10-25T05:00Z')).toBe('06:00');
  // Before the first bucket its clock counts.
  expect(shown('2026-10-24T12:00Z')).toBe('14:00');
});

it('reads the date and time of a label', () => {
  const [label = ''] = labels;
  expect(new Date(shownMs(label)).toISOString()).toBe('2026-10-25T01:00:00.000Z');
  expect(labelDay(label)).toBe('2026-10-25');
  expect(labelDay('2026-11-01T00:00:00-07:00')).toBe('2026-11-01');
});
