// The methods about deliveries, over a log that is a list in memory and the broker's real queue.

import { Code, ConnectError } from '@connectrpc/connect';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type Delivery, decodeDelivery } from '../../../platform/webhooks/delivery.ts';
import { payloadOf } from '../../../platform/webhooks/payload.ts';
import { dueStream } from '../../../platform/webhooks/webhook-streams.ts';
import { asOperator } from '../../../test/harness/servers/broker.ts';
import { useBroker } from '../../../test/harness/servers/use-servers.ts';
import {
  content,
  type Management,
  type ManagementAdmin,
  newManagementAdmin,
  outcome,
  startManagement,
} from '../../../test/harness/webhooks/management.ts';
import type { ListedAttempt } from '../../attempts/read-attempts.ts';
import type { StoredDelivery } from '../../attempts/read-deliveries.ts';

const broker = useBroker();
let management: Management;

beforeAll(async () => {
  management = await startManagement(broker.url);
});

afterAll(() => management.accounts.close());

async function messagesTo(webhookId: string): Promise<{ id: string; delivery: Delivery }[]> {
  const manager = await management.accounts.connection.jetstreamManager();
  const { state } = await manager.streams.info(dueStream);
  const found: { id: string; delivery: Delivery }[] = [];
  for (let seq = state.first_seq; seq <= state.last_seq; seq++) {
    const message = await manager.streams.getMessage(dueStream, { seq });
    const delivery = decodeDelivery(message.data);
    if (delivery?.webhookId !== webhookId) continue;
    expect(message.subject).toBe(`whd.first.${webhookId}`);
    found.push({ id: message.header.get('Nats-Msg-Id'), delivery });
  }
  return found;
}

describe('deliveries', () => {
  let admin: ManagementAdmin;
  let webhookId: string;
  let path: string;
  beforeEach(async () => {
    admin = await newManagementAdmin(management);
    webhookId = (await admin.create()).text('webhook.id');
    path = `${admin.path}/${webhookId}`;
    management.log.attempts = [];
    management.log.deliveries = [];
  });

  const stored = (place: number, payload = '{"a":1}'): StoredDelivery => ({
    deliveryId: `d${place}`,
    projectId: 'p',
    eventId: `e${place}`,
    eventType: 'message_sent',
    firstTimeMs: Date.UTC(2026, 0, 1, 0, 0, place),
    payload,
  });

  it('are shown as the log has them', async () => {
    const attempt: ListedAttempt = {
      attemptId: 'a',
      organizationId: admin.orgId,
      webhookId,
      deliveryId: 'd',
      projectId: 'p',
      eventId: 'e',
      eventType: 'message_sent',
      attempt: 2,
      trigger: 'SCHEDULED',
      status: 'FAILED_WILL_RETRY',
      responseCode: 500,
      error: 'http_status',
      durationMs: 12,
      responseBody: 'no',
      endpointUrl: content.endpoint_url,
      acceptTimeMs: 0,
      attemptTimeMs: Date.UTC(2026, 0, 1),
      nextAttemptTimeMs: Date.UTC(2026, 0, 1, 0, 5),
    };
    const last = { ...attempt, attempt: 0, nextAttemptTimeMs: 0 };
    management.log.attempts = [attempt, last];
    const query =
      '?status=FAILED_WILL_RETRY&event_type=message_sent&project_id=p&page_size=2&page_token=next';
    const range = '&from=2026-01-01T00:00:00%2B01:00&to=2026-01-02T00:00:00.5Z';
    const { json } = await admin.call('GET', `${path}/logs${query}${range}`);
    expect(json?.['next_page_token']).toBe('next');
    const shown = {
      delivery_id: 'd',
      event_id: 'e',
      event_type: 'message_sent',
      attempt: 2,
      retry_count: 1,
      trigger: 'SCHEDULED',
      status: 'FAILED_WILL_RETRY',
      response_code: 500,
      error: 'http_status',
      duration_ms: 12,
      response_body: 'no',
      endpoint_url: content.endpoint_url,
      attempt_time: '2026-01-01T00:00:00.000Z',
      next_attempt_time: '2026-01-01T00:05:00.000Z',
    };
    const { next_attempt_time: _none, ...unsent } = { ...shown, attempt: 0, retry_count: 0 };
    expect(json?.['logs']).toEqual([shown, unsent]);
    expect(management.log.asked.at(-1)).toEqual({
      organizationId: admin.orgId,
      webhookId,
      pageSize: 2,
      pageToken: 'next',
      status: 'FAILED_WILL_RETRY',
      eventType: 'message_sent',
      projectId: 'p',
      fromMs: Date.UTC(2025, 11, 31, 23),
      toMs: Date.UTC(2026, 0, 2) + 500,
    });
    expect(outcome(await admin.call('GET', `${path}/logs?page_token=x`))).toContain('page_token:');
    const wrong = '?from=2026-01-02T00:00:00Z&to=2026-01-01T00:00:00Z';
    expect(outcome(await admin.call('GET', `${path}/logs${wrong}`))).toContain('to: must be after');
  });

  it('are sent again one by one, under their id', async () => {
    management.log.deliveries = [stored(1), stored(2, '')];
    const again = await admin.call('POST', `${path}/deliveries/d1/redeliver`);
    expect(again.json).toEqual({ delivery_id: 'd1' });
    await admin.call('POST', `${path}/deliveries/d1/redeliver`);
    const [first, second, ...others] = await messagesTo(webhookId);
    expect(others).toEqual([]);
    expect(first?.id).not.toBe(second?.id);
    const { firstTimeMs: _time, ...same } = stored(1);
    const manual = { trigger: 'MANUAL', attempt: 1, organizationId: admin.orgId, webhookId };
    expect(first?.delivery).toMatchObject({ ...same, ...manual });
    const answers = ['d2', 'd3'].map((id) =>
      admin.call('POST', `${path}/deliveries/${id}/redeliver`),
    );
    expect((await Promise.all(answers)).map(outcome)).toEqual([
      "400 failed_precondition: the delivery's body was not kept: it had more than 262144 bytes",
      '404 not_found: the log has no such delivery',
    ]);
  });

  it('of a range of time are sent again once, the oldest first, in bounded pages', async () => {
    const count = 10_003;
    management.log.deliveries = Array.from({ length: count }, (_, place) => stored(place));
    management.log.deliveries[1] = stored(1, '');
    const range = { from: '2026-01-01T00:00:00Z', to: '2026-01-08T00:00:00Z' };
    const recovered = await admin.call('POST', `${path}/recover`, range);
    const ids = recovered.json?.['delivery_ids'];
    expect(ids).toHaveLength(10_000);
    expect(ids).toEqual(expect.arrayContaining(['d0', 'd10000']));
    expect(recovered.json).toMatchObject({
      without_body: 1,
      next_from: new Date(Date.UTC(2026, 0, 1, 0, 0, 10_001)).toISOString(),
    });
    const rest = { ...range, from: recovered.text('next_from'), statuses: ['EXHAUSTED'] };
    const { json } = await admin.call('POST', `${path}/recover`, rest);
    expect(json).toEqual({ delivery_ids: ['d10001', 'd10002'], without_body: 0 });
    await admin.call('POST', `${path}/recover`, rest);
    const manager = await management.accounts.connection.jetstreamManager();
    const subject = `whd.first.${webhookId}`;
    const { state } = await manager.streams.info(dueStream, { subjects_filter: subject });
    // The third request may come in another minute than the second.
    expect([10_002, 10_004]).toContain(state.subjects?.[subject]);
    await asOperator(broker, (operator) => operator.streams.purge(dueStream));
  });

  it.each([
    [{ from: '2026-01-02T00:00:00Z', to: '2026-01-02T00:00:00Z' }, 'to: must be after from'],
    [
      { from: '2026-01-01T00:00:00Z', to: '2026-01-15T00:00:00.001Z' },
      'to: must be at most 14 days',
    ],
    [{ to: '2026-01-02T00:00:00Z' }, 'from: is required'],
    [
      { from: '2026-01-01T00:00:00Z', to: '2026-01-02T00:00:00Z', statuses: ['FINE'] },
      'statuses[0]: must be one of',
    ],
  ])('of a range %j are refused', async (body, message) => {
    const answer = await admin.call('POST', `${path}/recover`, body);
    expect(outcome(answer)).toContain(`400 invalid_argument: ${message}`);
  });

  it('of a test have the example of the type', async () => {
    const sent = await admin.call('POST', `${path}/test`, { event_type: 'block_response_sent' });
    expect(sent.status).toBe(202);
    const [message, ...others] = await messagesTo(webhookId);
    expect(others).toEqual([]);
    const deliveryId = sent.text('delivery_id');
    expect(message?.delivery).toMatchObject({ deliveryId, trigger: 'TEST', attempt: 1 });
    const eventId = sent.text('event_id');
    const ids = { deliveryId, webhookId, organizationId: admin.orgId };
    expect(JSON.parse(message?.delivery.payload ?? '')).toMatchObject({
      ...ids,
      eventType: 'block_response_sent',
      test: true,
      data: { eventId, blockId: 'block-1', responseId: 'response-1' },
    });
  });

  it('that were queued before the log failed are told, so that nobody asks for them again', async () => {
    management.log.deliveries = Array.from({ length: 150 }, (_, place) => ({
      ...stored(place),
      deliveryId: `f${place}`,
    }));
    const { deliveries } = management.log;
    let reads = 0;
    Object.defineProperty(management.log, 'deliveries', {
      configurable: true,
      get() {
        if (++reads > 1) throw new ConnectError('busy', Code.ResourceExhausted);
        return deliveries;
      },
    });
    const range = { from: '2026-01-01T00:00:00Z', to: '2026-01-08T00:00:00Z' };
    const recovered = await admin.call('POST', `${path}/recover`, range);
    Object.defineProperty(management.log, 'deliveries', { value: [], writable: true });
    expect(recovered.json).toEqual({
      delivery_ids: Array.from({ length: 100 }, (_, place) => `f${place}`),
      without_body: 0,
      next_from: '2026-01-01T00:01:39.000Z',
    });
  });

  it('that the queue does not take are refused, and nothing is promised', async () => {
    const limit = (bytes: number) =>
      asOperator(broker, async ({ streams }) => {
        await streams.purge(dueStream);
        await streams.update(dueStream, { max_bytes: bytes });
      });
    const { max_bytes: usualBytes } = await asOperator(broker, async ({ streams }) => {
      return (await streams.info(dueStream)).config;
    });
    await limit(1_000_000);
    const payload = payloadOf('d', webhookId, `"data":"${'x'.repeat(100_000)}"}`);
    management.log.deliveries = Array.from({ length: 20 }, (_, place) => {
      // Of other deliveries than before: the broker remembers those.
      return { ...stored(place, payload), deliveryId: `q${place}` };
    });
    const range = { from: '2026-01-01T00:00:00Z', to: '2026-01-08T00:00:00Z' };
    const recovered = await admin.call('POST', `${path}/recover`, range);
    expect(recovered.json).toEqual({
      delivery_ids: Array.from({ length: 9 }, (_, place) => `q${place}`),
      without_body: 0,
      next_from: '2026-01-01T00:00:09.000Z',
    });
    const full =
      '429 resource_exhausted: too many deliveries wait already, this one was not queued: try again later';
    const rest = { ...range, from: recovered.text('next_from') };
    const refused = await admin.call('POST', `${path}/recover`, rest);
    expect(outcome(refused)).toBe(full);
    expect(refused.headers.get('retry-after')).toBe('60');
    const again = await admin.call('POST', `${path}/deliveries/q9/redeliver`);
    expect(outcome(again)).toBe(full);
    await limit(usualBytes);
  });
});
