// Every property type at its limits, from HTTP to ActivityService.List, unchanged.

import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  batchCreate,
  eventually,
  listActivity,
  newEvent,
  type StoredEvent,
} from './harness/clients/client.ts';
import { type Stack, startStack } from './harness/servers/stack.ts';

let stack: Stack;
beforeAll(async () => {
  stack = await startStack();
});
afterAll(async () => {
  await stack.stop();
});

/** Sends one event with a private key, so that the server derives no property, and reads it back. */
async function throughTheService(
  customProperties: Record<string, unknown>,
  autoProperties: Record<string, unknown> = {},
): Promise<StoredEvent> {
  const distinctId = randomUUID();
  const event = newEvent({ distinctId, customProperties, autoProperties });
  const answer = await batchCreate(stack, [event], { key: stack.privateKey });
  expect(answer).toMatchObject({ status: 200, body: { accepted: 1 } });
  const { events } = await eventually(
    () => listActivity(stack, { distinctId }),
    (page) => page.events.length > 0,
  );
  const [stored] = events;
  if (stored === undefined) throw new Error('not stored');
  expect(stored).toMatchObject({ eventId: event.eventId, kind: event.kind, distinctId });
  return stored;
}

describe('a property comes back as it was sent', () => {
  const emoji = '\u{1f600}'.repeat(1_024);
  const limits: Record<string, Record<string, unknown>> = {
    'int64 max': { intValue: '9223372036854775807' },
    'int64 min': { intValue: '-9223372036854775808' },
    'int above 2^53': { intValue: '9007199254740993' },
    zero: { intValue: '0' },
    'smallest double': { doubleValue: 5e-324 },
    'largest double': { doubleValue: 1.7976931348623157e308 },
    'whole double': { doubleValue: 12 },
    'inexact double': { doubleValue: 0.1 },
    'negative double': { doubleValue: -1e-7 },
    true: { boolValue: true },
    false: { boolValue: false },
    'timestamp in ms': { timestampValue: '2026-03-29T01:59:59.123Z' },
    'old timestamp': { timestampValue: '1969-07-20T20:17:40Z' },
    'empty text': { stringValue: '' },
    'text like a date': { stringValue: '2026-1-2' },
    'text like a number': { stringValue: '042' },
    'text like a null': { stringValue: 'null' },
    '1,024 emoji': { stringValue: emoji },
    'text with everything': { stringValue: 'a\u0000b\n\t\\"\'`\u0024{x}{{y}}%s\u2028\ufeff' },
    'a.dotted.key': { stringValue: 'x' },
    'a "quoted" \'key\'': { stringValue: 'x' },
    'ключ 鍵 🔑': { stringValue: 'x' },
    ' ': { stringValue: 'blank' },
    __proto__x: { stringValue: 'x' },
    constructor: { stringValue: 'x' },
  };
  it('custom properties', async () => {
    const stored = await throughTheService(limits);
    expect(stored.customProperties).toEqual(limits);
  });

  it('auto properties, with and without a column of their own', async () => {
    const sent = {
      $browser: { stringValue: 'Lynx' },
      $country: { stringValue: 'not a country' },
      $city: { stringValue: '' },
      $os: { intValue: '7' },
      $mobile: { boolValue: false },
      $latitude: { doubleValue: -33.25 },
      $started: { timestampValue: '2026-01-02T03:04:05.006Z' },
      $url: { stringValue: 'https://example.org/?a=1#b' },
      $custom_context: { stringValue: 'x' },
    };
    const stored = await throughTheService({}, sent);
    expect(stored.autoProperties).toEqual(sent);
  });

  it('nanoseconds are cut to milliseconds, offsets become UTC', async () => {
    const stored = await throughTheService({
      t: { timestampValue: '2026-01-02T03:04:05.123987654+05:30' },
    });
    expect(stored.customProperties).toEqual({
      t: { timestampValue: '2026-01-01T21:34:05.123Z' },
    });
  });

  it('the key __proto__ is a key like any other', async () => {
    const distinctId = randomUUID();
    const event = JSON.stringify(newEvent({ distinctId })).replace(
      /\}$/,
      ',"customProperties":{"__proto__":{"stringValue":"x"}}}',
    );
    const answer = await batchCreate(stack, [JSON.parse(event)], { key: stack.privateKey });
    expect(answer.status).toBe(200);
    const { events } = await eventually(
      () => listActivity(stack, { distinctId }),
      (page) => page.events.length > 0,
    );
    expect(Object.entries(events[0]?.customProperties ?? {})).toEqual([
      ['__proto__', { stringValue: 'x' }],
    ]);
  });

  it('10,000 distinct names', async () => {
    const distinctId = randomUUID();
    const events = Array.from({ length: 100 }, (_, event) =>
      newEvent({
        distinctId,
        customProperties: Object.fromEntries(
          Array.from({ length: 100 }, (_, index) => [
            `name ${event * 100 + index}`,
            { intValue: String(index) },
          ]),
        ),
      }),
    );
    expect((await batchCreate(stack, events)).body).toEqual({ accepted: 100 });
    const stored = await eventually(
      () => listActivity(stack, { distinctId, pageSize: 1_000 }),
      (page) => page.events.length === 100,
    );
    const sentById = new Map(events.map((event) => [event.eventId, event.customProperties]));
    for (const event of stored.events) {
      expect(event.customProperties).toEqual(sentById.get(event.eventId));
    }
  });
});

it('of the copies of one event id the first that was accepted stays, whatever the others say', async () => {
  const [eventId, distinctId] = [randomUUID(), randomUUID()];
  const copy = (plan: string, fields: object = {}) =>
    newEvent({ eventId, distinctId, customProperties: { plan: { stringValue: plan } }, ...fields });
  const send = (...events: object[]) =>
    batchCreate(stack, events, { key: stack.privateKey }).then(({ status }) => status);
  expect(await send(copy('first'), copy('second'))).toBe(200);
  expect(await send(copy('third', { kind: 'other', eventId: eventId.toUpperCase() }))).toBe(200);
  const last = newEvent({ distinctId });
  expect(await send(last)).toBe(200);
  const { events } = await eventually(
    () => listActivity(stack, { distinctId }),
    (page) => page.events.some((event) => event.eventId === last.eventId),
  );
  const plans = events.map(({ customProperties }) => customProperties?.['plan']);
  expect(plans.filter((plan) => plan !== undefined)).toEqual([{ stringValue: 'first' }]);
  expect(events).toHaveLength(2);
});
