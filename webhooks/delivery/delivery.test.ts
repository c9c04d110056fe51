// Deliveries through a real broker to the receivers of the zoo: what each attempt becomes, and what follows.

import { createHmac } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { AttemptRecord } from '../../platform/webhooks/attempt-record.ts';
import { eventually } from '../../test/harness/clients/client.ts';
import { ownPort } from '../../test/harness/listen.ts';
import {
  type DeliveryBroker,
  newDelivery,
  startDeliveryBroker,
  testSecret,
} from '../../test/harness/webhooks/delivery-broker.ts';
import {
  type Receiver,
  startReceiver,
  startSilentServer,
} from '../../test/harness/webhooks/receiver.ts';

const organization = 'org-zoo';
/** Longer than a busy machine takes for an answer that comes at once. */
const attemptTimeoutMs = 8_000;
const paths = [
  ...['/200', '/204', '/301', '/308', '/400', '/429-seconds', '/429-date', '/500', '/503-long'],
  ...['/binary', '/umlauts', '/slow-headers', '/slow-body', '/huge', '/gzip-bomb'],
  ...['/reset-after-headers', '/reset'],
];

let deliveries: DeliveryBroker;
let receiver: Receiver;
let silent: { port: number; close(): Promise<void> };
beforeAll(async () => {
  deliveries = await startDeliveryBroker();
  receiver = await startReceiver();
  silent = await startSilentServer();
  const other = (id: string, endpointUrl: string) => ({ id, endpointUrl });
  await deliveries.setWebhooks(organization, [
    ...paths.map((path) => ({ id: idOf(path), endpointUrl: receiver.url(path) })),
    other('refusing', `http://127.0.0.1:${await ownPort()}/`),
    other('hanging', `http://127.0.0.1:${silent.port}/`),
    other('unknown-name', 'https://nobody.invalid/'),
    other('inside', 'https://10.0.0.1/'),
  ]);
  await deliveries.start({
    draw: () => 0,
    sending: {
      attemptTimeoutMs,
      internet: {
        resolve: () => Promise.reject(Object.assign(new Error(), { code: 'ENOTFOUND' })),
        isPublic: () => false,
      },
    },
  });
});
afterAll(async () => {
  await deliveries.stop();
  await receiver.close();
  await silent.close();
});

const idOf = (path: string): string => path.slice(1);

async function recordOf(webhookId: string, changed = {}): Promise<AttemptRecord> {
  const delivery = newDelivery(organization, webhookId, changed);
  await deliveries.publish(delivery);
  const find = () => deliveries.attempts.find((one) => one.deliveryId === delivery.deliveryId);
  const record = await eventually(
    async () => find(),
    (found) => found !== undefined,
  );
  if (record === undefined) throw new Error('no record');
  return record;
}

const minuteMs = 60_000;

describe('an endpoint that answers', () => {
  it.each([
    ['/200', 'SUCCEEDED', 200, '', 0],
    ['/204', 'SUCCEEDED', 204, '', 0],
    ['/huge', 'SUCCEEDED', 200, '', 0],
    ['/gzip-bomb', 'SUCCEEDED', 200, '', 0],
    ['/301', 'FAILED_WILL_RETRY', 301, 'redirected', minuteMs],
    ['/308', 'FAILED_WILL_RETRY', 308, 'redirected', minuteMs],
    ['/400', 'FAILED_WILL_RETRY', 400, 'http_status', minuteMs],
    ['/500', 'FAILED_WILL_RETRY', 500, 'http_status', minuteMs],
    ['/429-seconds', 'FAILED_WILL_RETRY', 429, 'http_status', 5 * minuteMs],
    ['/429-date', 'FAILED_WILL_RETRY', 429, 'http_status', 30 * minuteMs],
    ['/503-long', 'FAILED_WILL_RETRY', 503, 'http_status', 24 * 60 * minuteMs],
    ['/slow-headers', 'FAILED_WILL_RETRY', 0, 'timeout', minuteMs],
    ['/slow-body', 'FAILED_WILL_RETRY', 200, 'timeout', minuteMs],
    ['/reset-after-headers', 'FAILED_WILL_RETRY', 200, 'body_failed', minuteMs],
    ['/reset', 'FAILED_WILL_RETRY', 0, 'connection_failed', minuteMs],
  ])('with %s makes the attempt %s', async (path, status, responseCode, error, nextInMs) => {
    const record = await recordOf(idOf(path));
    expect(record).toMatchObject({ status, responseCode, error, attempt: 1, trigger: 'SCHEDULED' });
    const { nextAttemptTimeMs, attemptTimeMs } = record;
    if (nextInMs === 0) expect(nextAttemptTimeMs).toBe(0);
    else {
      // The delay counts from the attempt's end.
      expect(nextAttemptTimeMs - attemptTimeMs - nextInMs).toBeGreaterThanOrEqual(0);
      expect(nextAttemptTimeMs - attemptTimeMs - nextInMs).toBeLessThan(3 * attemptTimeoutMs);
    }
  });

  it.each([
    ['refusing', 'connection_failed'],
    ['hanging', 'timeout'],
    ['unknown-name', 'connection_failed'],
    ['inside', 'connection_failed'],
  ])('not at all (%s) is %s', async (webhookId, error) => {
    expect(await recordOf(webhookId)).toMatchObject({
      status: 'FAILED_WILL_RETRY',
      responseCode: 0,
      error,
      responseBody: '',
    });
  });

  it('tells no more of an address that may not be reached than of a connection that failed', async () => {
    const [refused, inside, unknown] = [
      await recordOf('refusing'),
      await recordOf('inside'),
      await recordOf('unknown-name'),
    ];
    const shown = ({ status, error, responseCode, responseBody, durationMs }: AttemptRecord) => {
      return { status, error, responseCode, responseBody, durationMs };
    };
    expect(shown(inside)).toEqual(shown(refused));
    expect(shown(unknown)).toEqual(shown(refused));
  });

  it('keeps at most 16 KiB of the answer, cut at a character', async () => {
    expect((await recordOf('200')).responseBody).toBe('thank you');
    expect((await recordOf('umlauts')).responseBody).toBe(`x${'ö'.repeat(8_191)}`);
    const { responseBody } = await recordOf('binary');
    expect(Buffer.byteLength(responseBody)).toBeLessThanOrEqual(16 * 1_024);
    expect((await recordOf('huge')).responseBody).toHaveLength(16 * 1_024);
    expect((await recordOf('gzip-bomb')).responseBody).toBe('');
  });
});

describe('a POST', () => {
  it('carries the bytes of the payload, its length and the headers', async () => {
    const { deliveryId } = await recordOf('204');
    const post = receiver.received.find(
      ({ headers }) => headers['x-service-delivery'] === deliveryId,
    );
    const { headers, body, rawHeaders } = post ?? expect.fail('nothing came');
    const hmac = createHmac('sha256', testSecret).update(body).digest('hex');
    expect(headers).toMatchObject({
      'content-type': 'application/json',
      'content-length': String(Buffer.byteLength(body)),
      'accept-encoding': 'identity',
      'x-service-signature': `sha256=${hmac}`,
      'x-service-event': 'message_sent',
      'x-service-webhook-id': '204',
      'webhook-id': deliveryId,
    });
    expect(headers['transfer-encoding']).toBeUndefined();
    expect(JSON.parse(body)).toMatchObject({ deliveryId, text: 'Zoë – 日本 😀' });
    expect(rawHeaders).toContain('X-Service-Signature');
  });

  it('does not follow a redirect', async () => {
    const before = receiver.received.filter(({ path }) => path === '/200').length;
    await recordOf('308');
    expect(receiver.received.filter(({ path }) => path === '/200')).toHaveLength(before);
  });
});

describe('the record', () => {
  it('has the payload at the first attempt alone', async () => {
    const first = await recordOf('500');
    const again = await recordOf('500', { attempt: 2 });
    const manual = await recordOf('200', { trigger: 'MANUAL' });
    expect(first.payload).toContain(first.deliveryId);
    expect([again.payload, manual.payload]).toEqual(['', '']);
  });

  it('of a sixth attempt says exhausted', async () => {
    expect(await recordOf('400', { attempt: 6 })).toMatchObject({
      status: 'EXHAUSTED',
      nextAttemptTimeMs: 0,
    });
  });

  it.each(['MANUAL', 'TEST'])('of a failed %s attempt plans no other', async (trigger) => {
    expect(await recordOf('301', { trigger })).toMatchObject({
      status: 'EXHAUSTED',
      nextAttemptTimeMs: 0,
      trigger,
    });
  });

  it('of a delivery that was decided to be left out says why', async () => {
    const before = receiver.received.length;
    expect(await recordOf('200', { skip: 'rate_limited' })).toMatchObject({
      status: 'SKIPPED',
      error: 'rate_limited',
      attempt: 0,
    });
    expect(receiver.received).toHaveLength(before);
  });
});
