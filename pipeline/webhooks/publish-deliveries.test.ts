// The publisher of deliveries with a broker that the test plays.

import { describe, expect, it } from 'vitest';
import type { PublishOutcome } from '../../platform/broker/nats.ts';
import { createLog } from '../../platform/log.ts';
import { createMetrics, metricValue } from '../../platform/metrics.ts';
import { decodeDelivery, maxPayloadBytes } from '../../platform/webhooks/delivery.ts';
import type { WebhookRecord } from '../../platform/webhooks/webhook-record.ts';
import { webhookRecord } from '../../test/harness/models/webhook-records.ts';
import type { MatchedEvent } from '../build/thread-messages.ts';
import { createPipelineMetrics } from '../metrics.ts';
import { deliveriesPerSecond } from './delivery-limit.ts';
import { createDeliveryPublisher } from './publish-deliveries.ts';
import { createSubscriptions } from './subscriptions.ts';

const MiB = 1_048_576;
const stored: PublishOutcome = { kind: 'stored', seq: 1, duplicate: false };

interface Message {
  subject: string;
  content: Uint8Array;
  messageId: string;
}

function open(options: {
  answer?: (message: Message) => PublishOutcome;
  maxMessageBytes?: number;
  webhooks?: WebhookRecord[];
}) {
  const {
    answer = () => stored,
    maxMessageBytes = 9 * MiB,
    webhooks = [webhookRecord()],
  } = options;
  const metrics = createMetrics();
  const sent: Message[] = [];
  const most = { inFlight: 0, bytes: 0 };
  let inFlight = 0;
  let bytes = 0;
  let tries = 0;
  const publish = createDeliveryPublisher({
    subscriptions: createSubscriptions({
      webhooks: { webhooksOf: () => webhooks },
      organizationOf: () => 'acme',
      privateOnly: false,
    }),
    publish: async (subject, content, messageId) => {
      const message = { subject, content, messageId };
      sent.push(message);
      inFlight++;
      bytes += content.length;
      most.inFlight = Math.max(most.inFlight, inFlight);
      most.bytes = Math.max(most.bytes, bytes);
      await new Promise(setImmediate);
      inFlight--;
      bytes -= content.length;
      return answer(message);
    },
    maxMessageBytes,
    retry: async (call) => {
      for (;;) {
        tries++;
        try {
          return await call();
        } catch (error) {
          if (tries > 20) throw error;
        }
      }
    },
    metrics: createPipelineMetrics(metrics),
    log: createLog('silent'),
  });
  const count = (outcome: string) =>
    metricValue(metrics, 'millrace_pipeline_webhook_matches_total', { outcome });
  const deliveries = () => sent.flatMap(({ content }) => decodeDelivery(content) ?? []);
  return { publish, sent, most, count, deliveries, tries: () => tries };
}

function events(
  count: number,
  fields: Partial<Pick<MatchedEvent, 'projectId' | 'receiveTimeMs' | 'part'>> = {},
): MatchedEvent[] {
  return Array.from({ length: count }, (_, n) => ({
    projectId: 'p',
    eventType: 'message_sent',
    source: 'PRIVATE',
    subjects: { roomId: 'r1' },
    eventId: String(n),
    receiveTimeMs: 1_000,
    part: '"data":{}}',
    ...fields,
  }));
}

describe('deliveries', () => {
  it('are on their way a few at once, by count and by bytes', async () => {
    const many = open({});
    await many.publish(events(1_000));
    expect(many.sent).toHaveLength(1_000);
    expect(many.most.inFlight).toBe(256);
    const webhooks = Array.from({ length: 50 }, (_, n) => webhookRecord({ id: `w${n}` }));
    const large = open({ webhooks });
    await large.publish(events(4, { part: `"x":"${'"'.repeat(200_000)}"}` }));
    expect(large.sent).toHaveLength(200);
    expect(large.most.bytes).toBeLessThan(9 * MiB);
  });

  it('beyond the limit of a project are recorded, beyond that limit too counted', async () => {
    const { publish, deliveries, count } = open({});
    const burst = 2 * deliveriesPerSecond;
    await publish(events(burst * 2 + 10));
    expect(deliveries().filter(({ skip }) => skip === undefined)).toHaveLength(burst);
    const skipped = deliveries().filter(({ skip }) => skip === 'rate_limited');
    expect(skipped).toHaveLength(burst);
    expect(skipped[0]?.payload).toContain('"data":{}');
    expect(await count('unrecorded')).toBe(10);
    // Half a second of the events' own time later; a request that was received earlier takes nothing back.
    await publish(events(600, { receiveTimeMs: 1_500 }));
    await publish(events(1, { receiveTimeMs: 1_200 }));
    expect(await count('queued')).toBe(burst + 500);
    await publish(events(1, { projectId: 'q' }));
    expect(await count('queued')).toBe(burst + 501);
  });

  it('are within the limit again soon after the clock of the receiver was set back', async () => {
    const { publish, count } = open({});
    const burst = 2 * deliveriesPerSecond;
    const hourMs = 3_600_000;
    await publish(events(burst, { receiveTimeMs: hourMs }));
    await publish(events(1, { receiveTimeMs: 1_000 }));
    await publish(events(600, { receiveTimeMs: 1_500 }));
    expect(await count('queued')).toBe(burst + 500);
  });

  it('that are too large go without payload', async () => {
    const { publish, deliveries } = open({});
    await publish([
      ...events(1, { part: '' }),
      ...events(1, { part: `"x":"${'x'.repeat(maxPayloadBytes - 50)}"}` }),
      ...events(1),
    ]);
    expect(deliveries().map(({ skip, payload }) => [skip, payload === ''])).toEqual([
      ['payload_too_large', true],
      ['payload_too_large', true],
      [undefined, false],
    ]);
    const small = open({ maxMessageBytes: 64 * 1_024 });
    await small.publish(events(1, { part: `"x":"${'x'.repeat(50_000)}"}` }));
    expect(small.deliveries()).toMatchObject([{ skip: 'payload_too_large', payload: '' }]);
  });

  it('are asked for again while nobody knows whether they are stored, under the same id', async () => {
    let failures = 3;
    const { publish, sent, tries, count } = open({
      answer: () =>
        failures-- > 0 ? { kind: 'unavailable', reason: 'it does not answer in time' } : stored,
    });
    await publish(events(5));
    expect(tries()).toBe(2);
    expect(sent).toHaveLength(8);
    expect(new Set(sent.map(({ messageId }) => messageId)).size).toBe(5);
    expect(await count('queued')).toBe(5);
  });
});
