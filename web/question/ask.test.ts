import { create } from '@bufbuild/protobuf';
import { describe, expect, it } from 'vitest';
import {
  BreakdownSchema,
  Granularity,
  InsightType,
} from '../../proto/gen/shared/insights/v1/insights_pb.js';
import { granularityOf, readSpec, requestCurl, requestOf, writeSpec } from './ask.ts';
import { asForm, emptyEvent, formOf, forms, startOf } from './forms.ts';
import { missing } from './missing.ts';

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

it('writes a command that a shell reads as one text', () => {
  Object.assign(globalThis, { window: { location: { origin: 'http://127.0.0.1:8080' } } });
  const [trends] = forms;
  if (!trends) throw new Error('forms are missing');
  const spec = startOf(trends);
  spec.events = [emptyEvent("it's")];
  const asked = { spec, ...range(1), granularity: Granularity.DAY, zone: 'UTC', asOf: undefined };
  expect(requestCurl(requestOf(asked))).toContain("it'\\''s");
});
