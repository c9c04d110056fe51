// What rows of our own exports become, where the round trip of the whole product does not tell.

import { expect, it } from 'vitest';
import type { IdentityCall } from '../../ingest/compat/mapping/identity-call.ts';
import { checkEvents, type NumberedDraft } from '../events/check-events.ts';
import { reasons } from './history-family.ts';
import { createMillrace } from './millrace.ts';

const projectId = '6ba7b810-9dad-11d1-80b4-00c04fd430c8';
const context = {
  ...{ projectId, family: 'millrace', receiveTimeMs: Date.UTC(2026, 10, 20), correctsClock: false },
};

function decodeAll(...rows: unknown[]) {
  const family = createMillrace();
  const drafts: NumberedDraft[] = [];
  const calls: IdentityCall[] = [];
  const why = rows.map((row, number) =>
    family.decode(row, {
      event: (draft) => drafts.push({ draft, number }),
      ready: () => {},
      call: (call) => calls.push(call),
    }),
  );
  const told: string[] = [];
  const ready = checkEvents(drafts, context, (_, { rule, field }) => told.push(`${field} ${rule}`));
  const events: Record<string, unknown>[] = ready.map(({ text }) => JSON.parse(text));
  return { events, calls, why, told, notes: family.notes?.() };
}

const row = {
  event_id: 'F47AC10B-58CC-4372-A567-0E02B2C3D479',
  kind: 'a.kind-1',
  distinct_id: 'ada',
  session_id: '7d9f1c66-95a4-4a0e-8f60-0d4d6ef3f1c1',
  occur_time: '2024-05-06T07:08:09.010Z',
  cookieless: false,
  browser: 'Firefox',
  os: null,
  string_properties: { date: '2024-05-06T07:08:09.010Z', ip: '192.0.2.1', $os: '' },
  int_properties: { whole: '-9223372036854775808' },
  double_properties: { whole: 5, zero: -0 },
  bool_properties: { yes: true },
  time_properties: { at: '2024-05-06T07:08:09.010Z' },
};

it('an event keeps its ids, and each value its type', () => {
  const { events, told, why } = decodeAll(row);
  expect({ told, why }).toEqual({ told: [], why: [undefined] });
  expect(events).toEqual([
    {
      ...{ eventId: row.event_id, kind: row.kind, distinctId: 'ada', sessionId: row.session_id },
      occurTime: row.occur_time,
      autoProperties: { $browser: { stringValue: 'Firefox' }, $os: { stringValue: '' } },
      customProperties: {
        date: { stringValue: '2024-05-06T07:08:09.010Z' },
        ip: { stringValue: '192.0.2.1' },
        whole: { intValue: '-9223372036854775808' },
        zero: { doubleValue: -0 },
        yes: { boolValue: true },
        at: { timestampValue: '2024-05-06T07:08:09.010Z' },
      },
    },
  ]);
});

it('what somebody changed in the file keeps the rules or is told', () => {
  const { events, told } = decodeAll(
    { ...row, kind: 'svc.mine' },
    { ...row, int_properties: { whole: '1.5' } },
    { ...row, time_properties: { at: 'tomorrow' } },
    { ...row, string_properties: { long: 'x'.repeat(1_025) } },
    { ...row, distinct_id: undefined },
  );
  expect(events).toEqual([]);
  expect(told).toHaveLength(5);
  expect(told).toContain('distinctId required');
});

it('a person has traits, and the ids that became theirs', () => {
  const person = { external_id: 'ada', update_time: row.occur_time, distinct_ids: ['anon-1'] };
  const { calls } = decodeAll(
    { ...person, traits: { plan: '"pro"', tags: '["a"]', damaged: '{' } },
    { ...person, external_id: 'ben', traits: {}, distinct_ids: undefined },
  );
  expect(calls).toEqual([
    { externalId: 'ada', traits: { plan: 'pro', tags: ['a'] } },
    { externalId: 'ada', alias: 'anon-1' },
    { externalId: 'ben', traits: {} },
  ]);
});

it('other rows say what is missing, and visitors without a cookie are counted', () => {
  const flat = { ...row, string_properties: undefined, plan: 'pro' };
  const { why, notes } = decodeAll(
    ...[flat, { profile_id: '1', total_events: '5' }, {}, [], { ...row, occur_time: 'now' }],
    { ...row, cookieless: true },
  );
  expect(why).toEqual([
    ...[reasons.flat_columns, reasons.sums_of_person, reasons.event_name, reasons.row_object],
    ...[reasons.event_time, undefined],
  ]);
  expect(notes).toEqual(['1 of visitors without a cookie: each is a person of one day here']);
});
