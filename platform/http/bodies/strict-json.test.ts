// What a request's JSON is refused for before a message is made of it, and that each refusal names its field.

import type { DescMessage } from '@bufbuild/protobuf';
import { ConnectError } from '@connectrpc/connect';
import { expect, it } from 'vitest';
import { UpsertRequestSchema } from '../../../proto/gen/dashboard/dashboards/v1/dashboards_pb.js';
import { QueryRequestSchema } from '../../../proto/gen/shared/insights/v1/insights_pb.js';
import { strictDecoder } from './strict-json.ts';

function refusal(request: unknown, schema: DescMessage = QueryRequestSchema): string {
  try {
    strictDecoder(schema).decode(Buffer.from(JSON.stringify(request)));
    return 'taken';
  } catch (error) {
    return error instanceof ConnectError ? error.rawMessage : String(error);
  }
}

it.each(['yesterday', '2026-01-31', '2026-01-31T09:60:00Z', '2026-01-31T09:30:00', '', 5, {}, []])(
  'the time %j',
  (from) => {
    const rule = 'must be a time of RFC 3339, such as "2026-01-31T09:30:00Z"';
    expect(refusal({ timeRange: { from } })).toBe(`timeRange.from: ${rule}`);
    expect(refusal({ time_range: { from } })).toBe(`timeRange.from: ${rule}`);
  },
);

it.each(['1h', '1', '', 90, {}])('the duration %j', (conversionWindow) => {
  expect(refusal({ spec: { conversionWindow } })).toBe(
    'spec.conversionWindow: must be a duration in seconds, such as "90s" or "1.5s"',
  );
});

it('other days and names', () => {
  expect(refusal({ timeRange: { to: '2026-02-30T00:00:00Z' } })).toBe(
    'timeRange.to: no such date or hour',
  );
  expect(refusal({ granularity: 'FORTNIGHT' })).toMatch(/^granularity: "FORTNIGHT" is none of /);
});

it.each([
  ['spec', { spec: 'trends' }, 'must be an object'],
  ['spec.events', { spec: { events: {} } }, 'must be a list'],
  ['spec.events[1]', { spec: { events: [{}, null] } }, 'must not be null'],
  ['spec.events[1].event', { spec: { events: [{}, { event: 'buy' }] } }, 'must be an object'],
  [
    'spec.events[0].event.kind',
    { spec: { events: [{ event: { kind: 5 } }] } },
    'must be of the type string',
  ],
  ['spec.breakdownLimit', { spec: { breakdown_limit: 1.5 } }, 'must be of the type int32'],
  ['spec.includeCookieless', { spec: { includeCookieless: 'yes' } }, 'must be of the type bool'],
  [
    'spec.filterGroups[0].filters[0].values[1]',
    { spec: { filterGroups: [{ filters: [{ values: ['a', 1] }] }] } },
    'must be of the type string',
  ],
  ['timezone', { timezone: [] }, 'must be of the type string'],
])('a value of another shape in %s', (path, request, rule) => {
  expect(refusal(request)).toBe(`${path}: ${rule}`);
});

it.each([null, 5, 'x', []])('the whole body %j', (body) => {
  expect(refusal(body)).toBe('body: must be an object');
});

it('two members of which one is meant', () => {
  const refused = (request: object): string => refusal(request, UpsertRequestSchema);
  expect(refused({ timeRange: { preset: 1, fixed: {} } })).toBe(
    'timeRange.fixed: must not be given beside preset',
  );
  expect(refused({ tiles: [{}, { markdown: 'a', insight: {} }] })).toBe(
    'tiles[1].markdown: must not be given beside insight',
  );
  expect(refused({ timeRange: { preset: null, fixed: {} } })).toBe('taken');
});

it.each([true, {}, ['TRENDS'], 1.5])('the enum %j', (granularity) => {
  expect(refusal({ granularity })).toMatch(/^granularity: .* is none of GRANULARITY_MINUTE, /);
});

it('takes what the definitions allow', () => {
  const timeRange = { from: '2026-01-31T09:30:00.123456789+05:30', to: null };
  const spec = { conversionWindow: '0.5s', events: [], breakdownLimit: '7', userFlow: null };
  expect(refusal({ timeRange, spec, granularity: 3, unknown: 1 })).toBe('taken');
});
