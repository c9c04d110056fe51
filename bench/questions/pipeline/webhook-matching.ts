// A batch through the pipeline's builder with webhooks (subject) and without (calibration): the look-up of
// subscriptions, matching, rendering, and the deliveries up to the broker. A tenth of the events are messages in rooms,
// which webhooks hear of by their room or by their kind.

import { createHash } from 'node:crypto';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { BatchBuilder } from '../../../pipeline/build/build-batch.ts';
import type { Messages } from '../../../pipeline/build/thread-messages.ts';
import { deliveriesOf } from '../../../pipeline/webhooks/deliveries.ts';
import { DeliveryLimit } from '../../../pipeline/webhooks/delivery-limit.ts';
import {
  createSubscriptions,
  type Subscriptions,
} from '../../../pipeline/webhooks/subscriptions.ts';
import { encodeDelivery } from '../../../platform/webhooks/delivery.ts';
import type {
  ProjectSubscription,
  RoomSubscription,
  WebhookRecord,
} from '../../../platform/webhooks/webhook-record.ts';
import { webhookRecord } from '../../../test/harness/models/webhook-records.ts';
import { type Body, makeBodies } from '../../../test/harness/requests/bodies.ts';
import { type Bench, check } from '../../bench.ts';
import { makeFrames, packFrames, projectOfFrames } from '../../harness/frames.ts';
import { comparePairs } from '../../harness/pairs.ts';

interface Parameters {
  events: number;
  pairs: number;
  /** Where the cost is next to nothing: so many that the ratio is known to a half percent on a quiet machine. */
  pairsOfNone: number;
  warmUps: number;
}

const smoke: Parameters = { events: 200, pairs: 1, pairsOfNone: 2, warmUps: 0 };
const real: Parameters = { events: 10_000, pairs: 51, pairsOfNone: 1_001, warmUps: 10 };

const batch = 100;
const seed = 11;
const secret = Buffer.alloc(32, 7);
const nowMs = Date.UTC(2026, 10, 20, 12);
/** An event in this many is a message. */
const messageEvery = 10;
const rooms = 100;

interface Case {
  name: string;
  webhooks: WebhookRecord[];
  /** Deliveries for each message. */
  deliveries: number;
}

const cases: readonly Case[] = [
  { name: 'none', webhooks: [], deliveries: 0 },
  { name: '2,500, none of them fits', webhooks: subscribers(50, 50, 'another'), deliveries: 0 },
  { name: 'one webhook for every message', webhooks: subscribers(1, rooms, 'room'), deliveries: 1 },
  { name: 'ten for every message', webhooks: subscribers(10, rooms, 'room'), deliveries: 10 },
  {
    name: '2,500 to 20 kinds, none of them fits',
    webhooks: ofKinds(50, 50, 'another'),
    deliveries: 0,
  },
  { name: 'a kind of every message', webhooks: ofKinds(1, 1, 'message_sent'), deliveries: 1 },
  { name: '1,000 filters, none of them holds', webhooks: withFilters(50, 20), deliveries: 0 },
];

export const webhookMatchingBench: Bench = {
  name: 'webhook-matching',
  question: 'What do webhooks cost the pipeline, and what do they cost who has none?',
  async run(mode) {
    const { events, pairs, pairsOfNone, warmUps } = mode === 'smoke' ? smoke : real;
    const messages = packFrames(makeFrames(bodies(events), nowMs));
    const builder = new BatchBuilder(secret);
    const rows: string[][] = [];
    const hash = createHash('sha256');
    for (const { name, webhooks, deliveries } of cases) {
      const subscriptions = createSubscriptions({
        webhooks: { webhooksOf: () => webhooks },
        organizationOf: () => 'acme',
        privateOnly: false,
      });
      const subject = { prepare, run: () => deliver(builder, messages, subscriptions) };
      const calibration = { prepare, run: () => build(builder, messages) };
      const pairing = await comparePairs(subject, calibration, {
        pairs: webhooks.length === 0 ? pairsOfNone : pairs,
        warmUps,
        swaps: true,
      });
      const made = (deliveries * events) / messageEvery;
      check(pairing.subjectResult === made, `${made} deliveries are made`);
      check(pairing.calibrationResult === events, `${events} rows`);
      hash.update(`${name} ${pairing.subjectResult}`);
      const { subjectCpuMs, calibrationCpuMs, ratio } = pairing;
      const perEvent = (ms: number): string => ((1_000 * ms) / events).toFixed(2);
      const extraMs = subjectCpuMs - calibrationCpuMs;
      const costs = [ratio.median, ratio.high, ratio.low].map((faster) => (1 / faster).toFixed(3));
      const perDelivery = made === 0 ? '' : ((1_000 * extraMs) / made).toFixed(1);
      rows.push([name, perEvent(subjectCpuMs), perEvent(calibrationCpuMs), ...costs, perDelivery]);
    }
    return { tables: [{ title, columns, rows }], resultHash: hash.digest('hex') };
  },
};

const title =
  'Batches of medium events with webhooks (subject), without any of it (calibration), CPU; ' +
  'the ratio with its 95 % confidence';
const columns = [
  ...['subscriptions', 'subject us/event', 'calibration us/event', 'ratio', 'at least', 'at most'],
  'us/delivery',
];

/** Without it either side of a pair pays for the other's garbage, in the same turns each time: a tenth of its CPU. */
async function prepare(): Promise<void> {
  setFlagsFromString('--expose-gc');
  runInNewContext('gc')();
}

/** Webhooks that each subscribe to the first `count` rooms of a name. */
function subscribers(webhooks: number, count: number, room: string): WebhookRecord[] {
  const subscriptions = Array.from({ length: count }, (_, n): RoomSubscription => {
    return { subjectType: 'ROOM', subjectId: `${room}-${n}`, eventType: 'message_sent' };
  });
  return Array.from({ length: webhooks }, (_, n) => webhookRecord({ id: `w${n}`, subscriptions }));
}

/** Webhooks that each subscribe `count` times to twenty kinds; the first of all is `kind`. */
function ofKinds(webhooks: number, count: number, kind: string): WebhookRecord[] {
  return Array.from({ length: webhooks }, (_, webhook) => {
    const subscriptions = Array.from({ length: count }, (_, n): ProjectSubscription => {
      const kinds = Array.from({ length: 20 }, (_, one) => `${kind}-${webhook}-${n}-${one}`);
      return toProject({ kinds: [kind, ...kinds.slice(1)] });
    });
    return webhookRecord({ id: `w${webhook}`, subscriptions });
  });
}

/** As many filters of properties as an organization can have, on the messages. */
function withFilters(webhooks: number, count: number): WebhookRecord[] {
  return Array.from({ length: webhooks }, (_, webhook) => {
    const subscriptions = Array.from({ length: count }, (_, n): ProjectSubscription => {
      const value = `another-${webhook}-${n}`;
      const filter = { property: 'room_id', operator: 'FILTER_OPERATOR_EQUALS', value };
      return toProject({ kinds: ['message_sent'], properties: [filter] });
    });
    return webhookRecord({ id: `w${webhook}`, subscriptions });
  });
}

function toProject(filter: Pick<ProjectSubscription, 'kinds' | 'properties'>): ProjectSubscription {
  return { subjectType: 'PROJECT', subjectId: projectOfFrames, eventType: 'event', ...filter };
}

/** The benches' medium bodies, in which every tenth event becomes a message. */
function bodies(events: number): Body[] {
  let number = 0;
  return makeBodies({ size: 'medium', batch, count: events / batch, seed, nowMs }).map((body) => {
    const parsed: { events: Record<string, unknown>[] } = JSON.parse(body.bytes.toString());
    const changed = parsed.events.map((event) =>
      ++number % messageEvery === 0 ? { ...event, ...messageOf(number / messageEvery) } : event,
    );
    return { ...body, bytes: Buffer.from(JSON.stringify({ events: changed })) };
  });
}

function messageOf(number: number): object {
  const customProperties = {
    room_id: { stringValue: `room-${number % rooms}` },
    message_id: { stringValue: `message-${number}` },
    space_id: { stringValue: 'space-1' },
    room_type: { stringValue: 'chat' },
    characters: { intValue: '120' },
    is_reply: { boolValue: true },
  };
  return { kind: 'message_sent', customProperties };
}

/** The number of rows. */
function build(builder: BatchBuilder, messages: Messages): number {
  builder.read(0, messages);
  return builder.finish({ dropped: undefined }).counts.stored;
}

/** The number of deliveries, with those beyond the limit. */
function deliver(builder: BatchBuilder, messages: Messages, subscriptions: Subscriptions): number {
  const { projects } = builder.read(0, messages);
  const subscribed = subscriptions.subscribed(projects);
  const { matched } = builder.finish({ dropped: undefined, subscribed });
  let count = 0;
  const onUnrecorded = (): void => void count++;
  const limit = new DeliveryLimit();
  for (const { delivery } of deliveriesOf(matched, { subscriptions, limit, onUnrecorded })) {
    if (encodeDelivery(delivery).length > 0) count++;
  }
  return count;
}
