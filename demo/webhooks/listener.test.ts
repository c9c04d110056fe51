// The listener over real HTTP, with signatures that the test makes by hand.

import { createHmac } from 'node:crypto';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type HeardDelivery, type Listener, startListener } from './listener.ts';
import { deliveryLine } from './present.ts';

const secret = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw';
const heard: HeardDelivery[] = [];
let listener: Listener;

beforeAll(async () => {
  listener = await startListener({
    port: 0,
    secret: () => secret,
    onDelivery: (delivery) => heard.push(delivery),
  });
});

afterAll(() => listener.close());

function signed(body: string, { timeS = Date.now() / 1_000, key = secret } = {}) {
  const timestamp = String(Math.floor(timeS));
  const standardKey = Buffer.from(key.slice('whsec_'.length), 'base64');
  const standard = createHmac('sha256', standardKey).update(`d1.${timestamp}.${body}`);
  return {
    'content-type': 'application/json',
    'x-service-event': 'message_sent',
    'x-service-delivery': 'd1',
    'x-service-webhook-id': 'w1',
    'x-service-signature': `sha256=${createHmac('sha256', key).update(body).digest('hex')}`,
    'webhook-id': 'd1',
    'webhook-timestamp': timestamp,
    'webhook-signature': `v1a,AAAA v1,${standard.digest('base64')}`,
  };
}

async function post(body: string, headers: Record<string, string>): Promise<number> {
  return (await fetch(listener.url, { method: 'POST', body, headers })).status;
}

it('takes a delivery whose signatures are right, and prints it in one line', async () => {
  const body = '{"name":"Zoë – 日本 😀\u2028"}';
  expect(await post(body, signed(body))).toBe(200);
  expect(heard).toEqual([{ deliveryId: 'd1', eventType: 'message_sent', webhookId: 'w1', body }]);
  expect(heard.map(deliveryLine)).toEqual(['200  message_sent  d1  {"name":"Zoë – 日本 😀?"}']);
});

it('answers 401 to everything else', async () => {
  const body = '{"a":1}';
  const before = heard.length;
  const headers = signed(body);
  const hour = 3_600;
  for (const wrong of [
    {},
    { ...headers, 'x-service-signature': `${headers['x-service-signature']}0` },
    { ...headers, 'x-service-signature': '' },
    { ...headers, 'webhook-signature': 'v1,AAAA' },
    { ...headers, 'webhook-id': 'd2' },
    signed(body, { timeS: Date.now() / 1_000 - hour }),
    signed(body, { timeS: Date.now() / 1_000 + hour }),
    signed(body, { key: 'whsec_AAAA' }),
    signed('{"a":2}'),
  ]) {
    expect(await post(body, wrong)).toBe(401);
  }
  expect((await fetch(listener.url)).status).toBe(401);
  expect(heard).toHaveLength(before);
});

it('reads no body that is longer than a delivery can be', async () => {
  const body = 'x'.repeat(2 * 1_048_576);
  const before = heard.length;
  const status = await post(body, signed(body)).catch(() => 401);
  expect(status).toBe(401);
  expect(heard).toHaveLength(before);
});
