// No value at any place of a row ends an import, or makes an event of now: the samples of each family with one value
// replaced.

import { describe, expect, it } from 'vitest';
import { readIdentityCall } from '../../ingest/compat/mapping/identity-call.ts';
import { inputRows } from '../../test/harness/history/input-rows.ts';
import { sampleFamilies } from '../../test/harness/history/sample-rows.ts';
import { hasTestData, testData } from '../../test/harness/test-data.ts';
import { checkEvents, type NumberedDraft } from '../events/check-events.ts';
import { familyOf } from '../families.ts';

const projectId = '6ba7b810-9dad-11d1-80b4-00c04fd430c8';
const receiveTimeMs = Date.UTC(2026, 10, 20);
const texts: readonly string[] = ['', 'x', '-5', '1e999', '9007199254740993', '\ud83d', '[1]'];
const values: readonly unknown[] = [
  ...[...texts, undefined, null, -1, 1.5, 1e20, -1e20, true, [null], {}],
  ...[{ toString: 1 }, { data: [null] }],
];

const isParent = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null;

/** The value with another one in place of each of its parts in turn, `undefined` taking the part away. */
function* replaced(value: unknown, other: unknown): Generator<unknown> {
  yield other;
  if (!isParent(value)) return;
  for (const key of Object.keys(value)) {
    for (const part of replaced(value[key], other)) {
      if (Array.isArray(value)) yield value.toSpliced(Number(key), 1, part);
      else yield { ...value, [key]: part };
    }
  }
}

function kept(name: string, value: unknown): number[] {
  const family = familyOf(name, undefined);
  const drafts: NumberedDraft[] = [];
  family?.doubt?.([{ number: 1, value }]);
  family?.decode(value, {
    event: (draft) => drafts.push({ draft, number: 1 }),
    ready: () => {},
    call: (call) => readIdentityCall(call),
  });
  const context = { projectId, family: name, receiveTimeMs, correctsClock: false };
  return checkEvents(drafts, context, () => {}).map(({ text, timeMs }) => {
    JSON.parse(text);
    return timeMs;
  });
}

function expectHarmless(name: string, row: unknown, odd: readonly unknown[] = values): void {
  for (const other of odd) {
    for (const value of replaced(row, other))
      expect(kept(name, value)).not.toContain(receiveTimeMs);
  }
}

describe.runIf(hasTestData).each(sampleFamilies(projectId))('$family', ({ family, file }) => {
  it('takes or refuses every row', async () => {
    const form = familyOf(family, undefined)?.form ?? 'json lines';
    for (const { value } of await inputRows(testData('history', file), form)) {
      expectHarmless(family, value, form.startsWith('json') ? values : texts);
    }
  });
});

it('millrace takes or refuses every row', () => {
  const event = { event_id: projectId, kind: 'seen', distinct_id: 'ada', session_id: projectId };
  const maps = { int_properties: { n: '1' }, double_properties: { d: 1.5 } };
  const texts = {
    string_properties: { s: 'x' },
    timestamp_properties: { t: '2026-03-04T00:00:00Z' },
  };
  expectHarmless('millrace', { ...event, occur_time: '2026-03-04T00:00:00Z', ...maps, ...texts });
  expectHarmless('millrace', {
    external_id: 'ada',
    distinct_ids: ['a'],
    traits: { plan: '"pro"' },
  });
});
