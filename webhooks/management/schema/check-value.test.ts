// The checks of requests against another validator of JSON Schema: for each method's body and thousands of changed
// bodies, both say the same.

import { Ajv2020 } from 'ajv/dist/2020.js';
import { describe, expect, it } from 'vitest';
import { isObject } from '../../../platform/json.ts';
import { operations } from '../operations.ts';
import { requireValue } from './check-value.ts';
import { momentMs } from './moment.ts';
import type { Schema } from './schema.ts';

const day = { from: '2026-01-01T00:00:00Z', to: '2026-01-02T00:00:00+01:00' };
const content = {
  name: 'a',
  description: 'b',
  endpoint_url: 'https://example.com',
  private_only: false,
  subscriptions: [
    {
      subject_type: 'WEBHOOK_SUBJECT_TYPE_ROOM',
      subject_id: 'r',
      subscription_type: 'WEBHOOK_SUBSCRIPTION_TYPE_MESSAGE_SENT',
      filter: { room_type: 'chat' },
    },
  ],
};
const bodies: Readonly<Record<string, object>> = {
  createWebhook: { content },
  updateWebhook: { content: { ...content, status: 'WEBHOOK_STATUS_ACTIVE' } },
  recoverDeliveries: { ...day, statuses: ['EXHAUSTED'] },
  sendTest: { event_type: 'message_sent' },
};

const values = [
  ...[null, true, 0, -1, 1.5, '', ' ', 'a\u0000b', 'x'.repeat(101), '😀'.repeat(150)],
  ...['😀'.repeat(151), 'x'.repeat(2_049), [], [null], {}, { a: 1 }, '2026-02-30T00:00:00Z'],
  ...['WEBHOOK_STATUS_INACTIVE', 'WEBHOOK_STATUS_PAUSED', Array(51).fill('EXHAUSTED')],
];

/** The body with each of its parts, at any depth, replaced, left out, or beside an unknown member. */
function* changedBodies(value: unknown): Generator<unknown> {
  yield* values;
  if (Array.isArray(value)) {
    for (const item of changedBodies(value[0])) yield [item];
    yield [...value, ...value];
  } else if (typeof value === 'object' && value !== null) {
    yield { ...value, unknown: 1 };
    for (const [name, member] of Object.entries(value)) {
      yield Object.fromEntries(Object.entries(value).filter(([other]) => other !== name));
      for (const changed of changedBodies(member)) yield { ...value, [name]: changed };
    }
  }
}

const ajv = new Ajv2020({
  strict: false,
  formats: {
    // Whether it may be an endpoint is another check's.
    uri: true,
    'date-time': (text: string) => momentMs(text) !== undefined,
  },
});

/** Of the members that an object must have one of, only those count that its schema names. */
function exact(schema: Schema): object {
  const text = JSON.stringify(schema, (_, member: unknown) => {
    if (!isObject(member) || member['minProperties'] !== 1) return member;
    const names = Object.keys(isObject(member['properties']) ? member['properties'] : {});
    return { ...member, anyOf: names.map((name) => ({ required: [name] })) };
  });
  return JSON.parse(text);
}

function isTaken(schema: Schema, value: unknown): boolean {
  try {
    requireValue(schema, value, '');
    return true;
  } catch (error) {
    expect(String(error)).toMatch(/^ConnectError: \[invalid_argument\] [\w.[\]]+: (must|is) /);
    return false;
  }
}

describe.each(operations.filter(({ body }) => body !== undefined))('a body of $name', (method) => {
  it('is taken where its schema allows it', () => {
    const { body } = method;
    if (body === undefined) throw new Error('no body');
    const allows = ajv.compile(exact(body));
    const good = bodies[method.name];
    expect(isTaken(body, good)).toBe(true);
    const outcomes = new Set<boolean>();
    for (const changed of changedBodies(good)) {
      const taken = isTaken(body, changed);
      outcomes.add(taken);
      expect([JSON.stringify(changed).slice(0, 200), taken]).toEqual([
        JSON.stringify(changed).slice(0, 200),
        allows(changed),
      ]);
    }
    expect(outcomes).toEqual(new Set([true, false]));
  });
});

it.each([
  ['2026-01-31T12:00:00Z', Date.UTC(2026, 0, 31, 12)],
  ['2026-01-31t12:00:00.1239+05:30', Date.UTC(2026, 0, 31, 6, 30, 0, 123)],
  ['2024-02-29T00:00:00Z', Date.UTC(2024, 1, 29)],
  ['2026-02-29T00:00:00Z', undefined],
  ['2026-01-31T24:00:00Z', undefined],
  ['2026-01-31T12:00:00', undefined],
  ['2026-01-31', undefined],
  ['1769860800000', undefined],
  ['2026-01-31T12:00:00Z ', undefined],
])('the moment %s', (text, ms) => {
  expect(momentMs(text)).toBe(ms);
});
