// Another vendor's SDK through the whole product: a project switches a family on, a batch comes as the SDK sends it,
// and its events are stored once, under one person, with their types.

import { randomUUID } from 'node:crypto';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { eventually } from './harness/clients/client.ts';
import { newCustomer } from './harness/clients/new-customer.ts';
import { type Stack, startStack } from './harness/servers/stack.ts';

let stack: Stack;
beforeAll(async () => {
  stack = await startStack();
});
afterAll(() => stack?.stop());

it('posthog-js: events of before and after identify are one person’s, each stored once', async () => {
  const { key, call, events: stored } = await newCustomer(stack.baseUrl);
  const update = 'dashboard.projects.v1.ProjectsService/Update';
  const wrong = await call(update, { compat: { families: ['none'] } });
  expect(wrong).toMatchObject({ status: 400 });
  const updated = await call(update, { compat: { families: ['posthog'] } });
  expect(updated).toMatchObject({ status: 200, body: { project: { compat: ['posthog'] } } });

  const session = randomUUID();
  const time = new Date().toISOString();
  const event = (name: string, properties: object) => ({
    ...{ uuid: randomUUID(), event: name, timestamp: time },
    properties: { $session_id: session, ...properties },
  });
  const body = gzipSync(
    JSON.stringify({
      ...{ api_key: key, sent_at: time },
      batch: [
        event('$identify', { distinct_id: 'user1', $anon_distinct_id: 'device-1' }),
        event('signed up', { distinct_id: 'device-1', i: 7, f: 1.5, o: { k: 1 } }),
        event('after identify', { distinct_id: 'user1' }),
      ],
    }),
  );
  const send = () =>
    fetch(`${stack.baseUrl}/e/`, {
      method: 'POST',
      headers: { 'content-type': 'text/plain' },
      body: new Uint8Array(body),
    });
  // A repetition, as after an answer that never arrived.
  for (const { status } of [await send(), await send()]) expect(status).toBe(200);

  const events = await eventually(stored, ({ length }) => length >= 3);
  expect(events.map(({ kind }) => kind).sort()).toEqual([
    'after_identify',
    'identify',
    'signed_up',
  ]);
  expect(new Set(events.map(({ profileId }) => profileId)).size).toBe(1);
  expect(events.find(({ kind }) => kind === 'signed_up')).toMatchObject({
    sessionId: session,
    occurTime: time,
    autoProperties: { $name: { stringValue: 'signed up' } },
    customProperties: {
      i: { intValue: '7' },
      f: { doubleValue: 1.5 },
      o: { stringValue: '{"k":1}' },
    },
  });
});
