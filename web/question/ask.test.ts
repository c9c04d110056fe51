import { create } from '@bufbuild/protobuf';
import { describe, expect, it } from 'vitest';
import {
  BreakdownSchema,
  Granularity,
  InsightType,
} from '../../proto/gen/shared/insights/v1/insights_pb.js';
import { before, granularityOf, readSpec, requestCurl, requestOf, writeSpec } from './ask.ts';
import { asForm, emptyEvent, formOf, forms, missing, startOf } from './forms.ts';

const hour = 3_600_000;
const range = (days: number) => ({
  from: new Date(0),
  to: new Date(days * 24 * hour),
  name: `${days} days`,
});

describe('a question in the address', () => {
  it.each(forms)('is read as it was written: $name', (form) => {
    const spec = startOf(form);
    expect(formOf(spec)).toBe(form);
    expect(missing(spec)).toBeUndefined();
    expect(readSpec(writeSpec(spec), form)).toEqual(spec);
  });

  it.each(['', '{', '[]', '{"insightType":"nonsense"}', '{"insightType":3}', 'null'])(
    'begins anew where it says %j',
    (text) => {
      for (const form of forms.filter(({ id }) => id === 'trends'))
        expect(readSpec(text, form)).toEqual(startOf(form));
    },
  );
});

it('takes into another form what both have', () => {
  const [trends] = forms;
  const funnel = forms.find(({ id }) => id === 'funnel');
  if (!trends || !funnel) throw new Error('forms are missing');
  const spec = startOf(trends);
  spec.events = [emptyEvent('a'), emptyEvent('b'), emptyEvent('c')];
  spec.breakdowns = [create(BreakdownSchema, { property: 'plan' })];
  const next = asForm(spec, funnel);
  expect(next.insightType).toBe(InsightType.FUNNEL);
  expect(next.events.map(({ event }) => event?.kind)).toEqual(['a', 'b', 'c']);
  expect(next.breakdowns).toBe(spec.breakdowns);
});

it.each([
  [1, Granularity.HOUR],
  [7, Granularity.DAY],
  [101, Granularity.WEEK],
  [365, Granularity.MONTH],
])('fits buckets to %d days', (days, granularity) => {
  expect(granularityOf('', range(days))).toBe(granularity);
  expect(granularityOf('week', range(days))).toBe(Granularity.WEEK);
});

it('compares with as much of the range before as this one has come', () => {
  const { from, to } = before(range(7), 'UTC', 2 * 24 * hour);
  expect([from.getTime(), to.getTime()]).toEqual([-7 * 24 * hour, -5 * 24 * hour]);
  expect(before(range(7), 'UTC', 100 * 24 * hour).to.getTime()).toBe(0);
});

it.each([
  // The clock goes forward on 29 March: that day has 23 hours, and the one before it 24.
  ['2026-03-28T23:00Z', '2026-03-29T22:00Z', '2026-03-27T23:00Z'],
  ['2026-03-29T22:00Z', '2026-03-30T22:00Z', '2026-03-28T23:00Z'],
  // It goes back on 25 October.
  ['2026-10-25T23:00Z', '2026-11-01T23:00Z', '2026-10-18T22:00Z'],
])('compares %s to %s with as many days of the zone before it', (from, to, start) => {
  const range = { from: new Date(from), to: new Date(to), name: '' };
  const past = before(range, 'Europe/Berlin', Date.parse('2027-01-01T00:00Z'));
  expect(past).toEqual({ from: new Date(start), to: range.from });
  const soon = before(range, 'Europe/Berlin', range.from.getTime() + 2 * hour);
  expect(soon).toEqual({ from: new Date(start), to: new Date(Date.parse(start) + 2 * hour) });
});

it('never compares with the range itself', () => {
  const range = {
    from: new Date('2026-03-29T22:00Z'),
    to: new Date('2026-03-30T22:00Z'),
    name: '',
  };
  // The day before has 23 hours.
  const almost = before(range, 'Europe/Berlin', Date.parse('2026-03-30T21:30Z'));
  expect(almost.to).toEqual(range.from);
});

it('writes a command that a shell reads as one text', () => {
  Object.assign(globalThis, { window: { location: { origin: 'http://127.0.0.1:8080' } } });
  const [trends] = forms;
  if (!trends) throw new Error('forms are missing');
  const spec = startOf(trends);
  spec.events = [emptyEvent("it's")];
  const asked = { spec, ...range(1), granularity: Granularity.DAY, zone: 'UTC', asOf: undefined };
  expect(requestCurl(requestOf(asked))).toContain("it'\\''s");
});
