// Queues the deliveries of a batch: each under its id, so that the broker drops one that comes again, and resolves once
// the broker has them all. A queue that is full holds nobody up: the delivery is recorded as skipped, straight in the
// log of attempts; where that is full too, it is counted and lost. A broker that does not answer is asked again.

import type { PublishOutcome } from '../../platform/broker/nats.ts';
import type { Log } from '../../platform/log.ts';
import { type AttemptRecord, skippedRecordOf } from '../../platform/webhooks/attempt-record.ts';
import { type Delivery, encodeDelivery } from '../../platform/webhooks/delivery.ts';
import { attemptLogSubject, dueSubject } from '../../platform/webhooks/webhook-streams.ts';
import type { MatchedEvent } from '../build/thread-messages.ts';
import { formatUuid } from '../build/uuid.ts';
import type { PipelineMetrics } from '../metrics.ts';
import { type AddressedDelivery, deliveriesOf } from './deliveries.ts';
import { DeliveryLimit } from './delivery-limit.ts';
import type { Subscriptions } from './subscriptions.ts';

/** Deliveries that are on their way to the broker at once. */
const maxInFlight = 256;
/** Of payloads. As messages they take hardly more in ASCII, and at most some four times as many bytes. */
const maxCharactersInFlight = 4 * 1_048_576;
/** For headers, and for what a retry or a record of the delivery has beside it. */
const headerReserveBytes = 16 * 1_024;
const warnEveryMs = 60_000;

export interface PublishOptions {
  subscriptions: Subscriptions;
  /** One try to store a message; a message whose id was stored in the last minutes is not stored again. */
  publish(subject: string, content: Uint8Array, messageId: string): Promise<PublishOutcome>;
  /** The most bytes that the broker takes in one message, headers included. */
  maxMessageBytes: number;
  /** Runs one call until it succeeds; see platform/retry.ts. */
  retry<T>(call: () => Promise<T>): Promise<T>;
  metrics: Pick<PipelineMetrics, 'webhookMatches'>;
  log: Log;
}

/** How a delivery ended here. The last two are in no queue and no log. */
type Outcome = 'queued' | 'skipped' | 'queue_full' | 'lost' | 'unrecorded';

/** Rejects only where `retry` does. */
export function createDeliveryPublisher(
  options: PublishOptions,
): (events: readonly MatchedEvent[]) => Promise<void> {
  const limit = new DeliveryLimit();
  const tell = createTeller(options);
  return async (events) => {
    if (events.length === 0) return;
    const { subscriptions } = options;
    const onUnrecorded = ({ projectId }: MatchedEvent) => tell('unrecorded', projectId);
    const deliveries = deliveriesOf(events, { subscriptions, limit, onUnrecorded });
    for (const window of windowsOf(deliveries)) await publishWindow(window, options, tell);
  };
}

function* windowsOf(deliveries: Iterable<AddressedDelivery>): Generator<AddressedDelivery[]> {
  let window: AddressedDelivery[] = [];
  let characters = 0;
  for (const addressed of deliveries) {
    window.push(addressed);
    characters += addressed.delivery.payload.length;
    if (window.length < maxInFlight && characters < maxCharactersInFlight) continue;
    yield window;
    window = [];
    characters = 0;
  }
  if (window.length > 0) yield window;
}

async function publishWindow(
  window: readonly AddressedDelivery[],
  options: PublishOptions,
  tell: Teller,
): Promise<void> {
  let left = window;
  await options.retry(async () => {
    const outcomes = await Promise.all(left.map((addressed) => publishOne(addressed, options)));
    const failed: AddressedDelivery[] = [];
    let reason = '';
    for (const [index, addressed] of left.entries()) {
      const outcome = outcomes[index];
      if (typeof outcome === 'string') tell(outcome, addressed.delivery.projectId);
      else if (outcome !== undefined) {
        failed.push(addressed);
        reason = outcome.reason;
      }
    }
    left = failed;
    if (left.length > 0) throw new Error(`${left.length} deliveries are not queued: ${reason}`);
  });
}

/** An object where nobody knows whether the broker has it. */
async function publishOne(
  { delivery: wanted, webhook }: AddressedDelivery,
  { publish, maxMessageBytes }: PublishOptions,
): Promise<Outcome | { reason: string }> {
  const { delivery, content: message } = fitted(wanted, maxMessageBytes - headerReserveBytes);
  const { deliveryId, webhookId, skip } = delivery;
  const queued = await publish(dueSubject('first', webhookId), message, deliveryId);
  if (queued.kind === 'stored') return skip === undefined ? 'queued' : 'skipped';
  if (queued.kind === 'unavailable') return queued;
  const record = skippedRecord({ delivery, webhook });
  const content = Buffer.from(JSON.stringify(record));
  const logged = await publish(attemptLogSubject(webhookId), content, record.attemptId);
  if (logged.kind === 'unavailable') return logged;
  return logged.kind === 'stored' ? 'queue_full' : 'lost';
}

/** A message that the broker never takes would be tried for ever: it goes without its payload. */
function fitted(delivery: Delivery, maxBytes: number): { delivery: Delivery; content: Uint8Array } {
  const content = encodeDelivery(delivery);
  if (content.length <= maxBytes) return { delivery, content };
  const skipped: Delivery = { ...delivery, payload: '', skip: 'payload_too_large' };
  return { delivery: skipped, content: encodeDelivery(skipped) };
}

/** The same for the same delivery, so that the log holds it once. */
function skippedRecord({ delivery, webhook }: AddressedDelivery): AttemptRecord {
  return skippedRecordOf(delivery, {
    attemptId: formatUuid(Buffer.from(delivery.deliveryId, 'hex')),
    endpointUrl: webhook.endpointUrl,
    error: delivery.skip ?? 'queue_full',
    timeMs: delivery.acceptTimeMs,
  });
}

type Teller = (outcome: Outcome, projectId: string) => void;

/** Counts every delivery; the log says, once a minute, how many have left no record, and of which project the last. */
function createTeller({ metrics, log }: PublishOptions): Teller {
  let untold = 0;
  let toldAtMs = Number.NEGATIVE_INFINITY;
  return (outcome, project) => {
    metrics.webhookMatches.inc({ outcome });
    if (outcome !== 'lost' && outcome !== 'unrecorded') return;
    untold++;
    const nowMs = performance.now();
    if (nowMs - toldAtMs < warnEveryMs) return;
    log.warn({ project, deliveries: untold, outcome }, 'deliveries are neither made nor recorded');
    toldAtMs = nowMs;
    untold = 0;
  };
}
