// Which rules of time zones count, and where two sources differ. The buckets of all zones are compared in
// query/insights/read/zone-buckets.test.ts.

import { expect, it } from 'vitest';
import { type PackedZones, readPackedZones } from './packed-zones.ts';
import { clockChanges, firstMoment, wallText } from './wall-clock.ts';
import { createZones, zones } from './zones.ts';

const hourMs = 3_600_000;
const packed = readPackedZones();

it.each([
  // These clocks stay where they are from the autumn of 2026 on.
  ['America/Vancouver', '2026-11-15T12:00Z', -420],
  ['America/Vancouver', '2027-02-15T12:00Z', -420],
  ['America/Edmonton', '2026-11-15T12:00Z', -360],
  ['Africa/Casablanca', '2026-11-15T12:00Z', 0],
  ['Africa/Casablanca', '2026-08-15T12:00Z', 60],
  ['Europe/Berlin', '2150-07-15T12:00Z', 120],
  ['Europe/Berlin', '2150-01-15T12:00Z', 60],
  ['Asia/Kathmandu', '2026-01-15T12:00Z', 345],
  ['Africa/Monrovia', '1971-01-15T12:00Z', -44.5],
  ['UTC', '2026-01-15T12:00Z', 0],
])(
  'the clock of %s at %s is %d minutes east of UTC, whatever Node carries',
  (zone, time, minutes) => {
    expect(zones.offsetMinutes(zone, Date.parse(time))).toBe(minutes);
  },
);

it('the newer of the two sources counts, and Node alone where it alone knows a zone', () => {
  const shifted: PackedZones = {
    ...packed,
    version: '2026a',
    offsetsOf: (name) => (name === 'Asia/Tokyo' ? { untilMs: [], offsets: [1] } : undefined),
  };
  const minutes = (node: string): number =>
    createZones(shifted, node).offsetMinutes('Asia/Tokyo', Date.UTC(2026, 0));
  expect([minutes('2025z'), minutes('2026a'), minutes('2026b'), minutes('')]).toEqual([
    1, 1, 540, 1,
  ]);
  expect(createZones(shifted, '2026b').versions).toEqual({
    ...{ used: '2026b', package: '2026a', node: '2026b' },
  });
  expect(createZones(shifted, 'unknown').versions).toMatchObject({ used: '2026a', node: '' });
  expect(createZones(shifted, '2025z').offsetMinutes('Asia/Kolkata', 0)).toBe(330);
});

it('tells from when on two sources differ, to the millisecond', () => {
  const changeMs = Date.UTC(2026, 10, 15, 9);
  const of = (offsets: number[], untilMs: number[]) => {
    const other = { ...packed, version: '1999a', offsetsOf: () => ({ untilMs, offsets }) };
    return createZones(other, '1999b').differFromMs('Asia/Tokyo');
  };
  expect(of([540, 480], [changeMs])).toBe(changeMs);
  expect(of([540, 480, 540], [changeMs, changeMs + hourMs])).toBe(changeMs);
  expect(of([540], [])).toBeUndefined();
  expect(of([60, 540], [Date.UTC(1999, 0)])).toBeUndefined();
  expect(createZones(packed, packed.version).differFromMs('America/Vancouver')).toBeUndefined();
});

it('knows each name in the spelling of the IANA, and nothing else', () => {
  expect(zones.nameOf('aSIA/kolkata')).toBe('Asia/Kolkata');
  expect(zones.nameOf('us/pacific')).toBe('US/Pacific');
  for (const name of ['+01:00', 'Mars/Olympus', '', 'a'.repeat(1_000_000)]) {
    expect(zones.nameOf(name)).toBeUndefined();
  }
});

it('writes a moment as the clock shows it, with its distance from UTC', () => {
  expect(wallText('America/St_Johns', Date.UTC(2026, 0, 1, 3, 30))).toBe(
    '2026-01-01T00:00:00-03:30',
  );
  expect(wallText('UTC', 0)).toBe('1970-01-01T00:00:00+00:00');
  expect(wallText('Pacific/Chatham', Date.UTC(2026, 5, 1))).toBe('2026-06-01T12:45:00+12:45');
});

it('the first moment of a time is the first of two, or the change that leaves it out', () => {
  const first = (zone: string, wall: string): string =>
    new Date(firstMoment(zone, Date.parse(`${wall}Z`))).toISOString().slice(0, 16);
  expect(first('Europe/Berlin', '2026-10-25T02:30')).toBe('2026-10-25T00:30');
  expect(first('Europe/Berlin', '2026-03-29T02:30')).toBe('2026-03-29T01:00');
  expect(first('Africa/Cairo', '2026-10-30T00:00')).toBe('2026-10-29T22:00');
  expect(first('Pacific/Apia', '2011-12-30T00:00')).toBe('2011-12-30T10:00');
});

it('lists the changes of a clock for pages', () => {
  const of = (zone: string): string[] =>
    clockChanges(zone).map(({ fromMs, minutes }) => `${new Date(fromMs).toISOString()} ${minutes}`);
  expect(of('Asia/Kolkata')).toEqual(['2020-01-01T00:00:00.000Z 330']);
  const vancouver = of('America/Vancouver');
  expect(vancouver.slice(0, 2)).toEqual([
    ...['2020-01-01T00:00:00.000Z -480', '2020-03-08T10:00:00.000Z -420'],
  ]);
  expect(vancouver.at(-1)).toBe('2026-03-08T10:00:00.000Z -420');
});
