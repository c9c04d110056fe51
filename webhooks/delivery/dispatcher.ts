// Sends deliveries: takes them from the two lanes and from the park, lets them wait for their turn, attempts them and
// settles what follows. Whatever a webhook takes no more of now goes back to the broker's disk, so that memory holds a
// bounded number however many wait.

import type { NatsConnection } from '../../platform/broker/nats.ts';
import type { Clock } from '../../platform/clock.ts';
import type { Log } from '../../platform/log.ts';
import { type Delivery, decodeDelivery } from '../../platform/webhooks/delivery.ts';
import type { OwnedWebhook } from '../../platform/webhooks/webhook-directory.ts';
import {
  type DueLane,
  dueConsumer,
  dueLanes,
  dueStream,
} from '../../platform/webhooks/webhook-streams.ts';
import type { Admission } from './admission.ts';
import type { Breakers } from './health/breaker.ts';
import type { DeliveryMetrics } from './metrics.ts';
import { FairQueue, type Turn, type TurnLimits } from './queueing/fair-queue.ts';
import { HeldMessages } from './queueing/held-messages.ts';
import { Park } from './queueing/park.ts';
import type { Publisher } from './queueing/publisher.ts';
import { openQueuePuller, type QueuedMessage, type QueuePuller } from './queueing/queue-puller.ts';
import type { Attempts } from './sending/attempt.ts';
import type { SettledAttempts } from './settled-attempts.ts';
import type { Settlement } from './settlement.ts';

export interface DispatcherOptions {
  connection: NatsConnection;
  publisher: Publisher;
  admit(delivery: Delivery): Promise<Admission>;
  attempts: Attempts;
  settlement: Settlement;
  settled: SettledAttempts;
  breakers: Breakers;
  metrics: DeliveryMetrics;
  clock: Clock;
  log: Log;
  limits?: TurnLimits | undefined;
}

interface Work extends Turn {
  delivery: Delivery;
  key: string;
  held: HeldMessages;
  isParked: boolean;
}

/** Deliveries of one webhook that may wait in memory beside those in flight. */
const maxWaiting = 32;
/** From this many on, nothing waits in memory for a webhook that has all its attempts in flight. */
const crowdedCount = 1_500;
/** Messages of a lane that are in memory, and their bytes. */
const maxHeld = 3_000;
const maxHeldBytes = 64 * 1_048_576;
const crowdedBytes = maxHeldBytes / 2;
const faultPauseMs = 5_000;
/** Until a message whose copy is being attempted is looked at again. */
const copyPauseMs = 5_000;
/** In-flight attempts get this long at a stop; then others repeat them, under the same id. */
const stopGraceMs = 4_000;
/** Deliveries of one webhook that are taken out of the park at once. */
const parkedRoom = 64;
const sealedSecret = "a webhook's secret cannot be opened: is the instance key gone?";
const unreadableRecord = 'a record of webhooks cannot be read: is it of a newer version?';

/**
 * The way of a delivery: `#receive` decodes it, `#takeIn` gives it a place in the queue, `#attempt` sends it when its
 * turn comes, and then its message is acknowledged. `#leaveOut` ends it without an attempt, `#setAside` parks it.
 */
export class Dispatcher {
  readonly #options: DispatcherOptions;
  readonly #queue: FairQueue<Work>;
  readonly #lanes: Record<DueLane, HeldMessages>;
  readonly #park: Park;
  #pullers: QueuePuller[] = [];
  readonly #ending = new AbortController();
  #stopped = false;
  #idle: () => void = () => {};

  constructor(options: DispatcherOptions) {
    const { connection, publisher, log } = options;
    this.#options = options;
    this.#queue = new FairQueue(options.limits);
    this.#lanes = { first: new HeldMessages(connection), retry: new HeldMessages(connection) };
    this.#park = new Park({
      connection,
      publisher,
      log,
      signal: this.#ending.signal,
      roomOf: (webhookId) => this.#roomForParked(webhookId),
      onMessage: (message, held) => this.#receive(message, held, undefined),
    });
  }

  /** The consumers of the lanes must exist. */
  start(): void {
    this.#pullers = dueLanes.map((lane) => {
      const held = this.#lanes[lane];
      return openQueuePuller({
        connection: this.#options.connection,
        stream: dueStream,
        consumer: dueConsumer(lane),
        wants: () => (held.bytes < maxHeldBytes ? maxHeld - held.count : 0),
        onMessage: (message) => {
          if (held.take(message)) this.#receive(message, held, lane);
        },
      });
    });
  }

  get inFlight(): number {
    return this.#queue.inFlight;
  }

  /** Resolves when attempts in flight have ended, or have had their time. What is left goes back to the broker. */
  async stop(): Promise<void> {
    this.#stopped = true;
    const pullsEnd = Promise.all(this.#pullers.map((puller) => puller.stop()));
    const idle = new Promise<void>((resolve) => {
      this.#idle = resolve;
    });
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<void>((resolve) => {
      timer = setTimeout(resolve, stopGraceMs);
    });
    if (this.#queue.inFlight > 0) await Promise.race([idle, late]);
    clearTimeout(timer);
    this.#ending.abort();
    await Promise.all([pullsEnd, this.#park.stop()]);
    for (const held of Object.values(this.#lanes)) held.stop();
  }

  #receive(message: QueuedMessage, held: HeldMessages, lane: DueLane | undefined): void {
    // It is held, and is given back with the others.
    if (this.#stopped) return;
    const delivery = decodeDelivery(message.data);
    if (delivery === undefined) {
      this.#options.metrics.deliveries.inc({ outcome: 'unreadable' });
      this.#options.log.error('a delivery of a webhook cannot be read and is dropped');
      held.ack(message.key);
      return;
    }
    const { organizationId, webhookId } = delivery;
    const work: Work = {
      delivery,
      organizationId,
      webhookId,
      lane: lane ?? (delivery.attempt === 1 ? 'first' : 'retry'),
      key: message.key,
      held,
      isParked: lane === undefined,
    };
    void this.#guard(work, () => this.#takeIn(work));
  }

  /** A fault of ours or of the broker gives the message back: nothing is lost by it. */
  async #guard(work: Work, run: () => Promise<void>): Promise<void> {
    try {
      await run();
    } catch (error) {
      if (this.#stopped) return;
      this.#options.log.error({ err: error }, 'a delivery of a webhook is put off');
      work.held.giveBack(work.key, faultPauseMs);
    }
  }

  async #takeIn(work: Work): Promise<void> {
    const { admit, breakers, settled } = this.#options;
    const { delivery, webhookId } = work;
    await settled.loaded();
    if (settled.isSettled(delivery)) return this.#passOver(work);
    const admission = await admit(delivery);
    if (admission.kind !== 'send') return this.#leaveOut(work, admission);
    const isScheduled = delivery.trigger === 'SCHEDULED';
    const mustWait = isScheduled && !work.isParked && this.#park.hasBacklog(webhookId);
    if (mustWait || (isScheduled && !breakers.admit(webhookId))) return this.#setAside(work);
    if (!this.#queue.offer(work, this.#mayWait())) return this.#setAside(work);
    this.#sendNext();
  }

  async #leaveOut(work: Work, admission: Exclude<Admission, { kind: 'send' }>): Promise<void> {
    const { settlement, metrics } = this.#options;
    const { delivery, key, held } = work;
    switch (admission.kind) {
      case 'drop':
        metrics.deliveries.inc({ outcome: 'dropped' });
        break;
      case 'skip':
        await settlement.skipped(delivery, admission.owned, admission.reason);
        break;
      case 'wait':
        await settlement.postpone(delivery, key, unreadableRecord);
        break;
      default:
        admission satisfies never;
    }
    held.ack(key);
  }

  /** To the park; where that is full, the delivery is recorded as not sent, so that it can be sent by hand. */
  async #setAside(work: Work): Promise<void> {
    const { admit, settlement, metrics } = this.#options;
    const outcome = await this.#park.park(work.delivery, work.key);
    if (outcome === 'stored') {
      metrics.deliveries.inc({ outcome: 'parked' });
    } else {
      const admission = await admit(work.delivery);
      if (admission.kind === 'drop' || admission.kind === 'wait') {
        return this.#leaveOut(work, admission);
      }
      await settlement.skipped(work.delivery, admission.owned, 'queue_full');
    }
    work.held.ack(work.key);
  }

  #sendNext(): void {
    while (!this.#stopped) {
      const work = this.#queue.next();
      if (work === undefined) break;
      void this.#guard(work, () => this.#attempt(work)).finally(() => {
        this.#queue.done(work);
        this.#sendNext();
        if (this.#stopped && this.#queue.inFlight === 0) this.#idle();
      });
    }
    this.#options.metrics.inFlight.set(this.#queue.inFlight);
  }

  async #attempt(work: Work): Promise<void> {
    const { admit, breakers, settled } = this.#options;
    const { delivery, webhookId } = work;
    const admission = await admit(delivery);
    if (admission.kind !== 'send') return this.#leaveOut(work, admission);
    const state = settled.begin(delivery);
    if (state === 'settled') return this.#passOver(work);
    if (state === 'under_way') return work.held.giveBack(work.key, copyPauseMs);
    try {
      await this.#makeAttempt(work, admission.owned);
    } finally {
      settled.end(delivery);
    }
    work.held.ack(work.key);
    if (breakers.state(webhookId) === 'open') this.#setAsideWaiting(webhookId);
  }

  async #makeAttempt({ delivery, lane, key }: Work, owned: OwnedWebhook): Promise<void> {
    const { attempts, settlement } = this.#options;
    const result = await attempts.make(delivery, owned);
    if (result.kind === 'secret_unreadable') {
      await settlement.postpone(delivery, key, sealedSecret);
    } else {
      await settlement.attempted(delivery, owned, result.attempt, lane);
    }
  }

  /** The message of an attempt that is in the log. */
  #passOver(work: Work): void {
    this.#options.metrics.deliveries.inc({ outcome: 'repeated' });
    work.held.ack(work.key);
  }

  /** What waits in memory for a webhook whose breaker has opened makes room for others. */
  #setAsideWaiting(webhookId: string): void {
    for (const work of this.#queue.takeWaiting(webhookId)) {
      void this.#guard(work, () => this.#setAside(work));
    }
  }

  #isCrowded(): boolean {
    const all = [...Object.values(this.#lanes), this.#park.held];
    return (
      all.reduce((sum, { count }) => sum + count, 0) > crowdedCount ||
      all.reduce((sum, { bytes }) => sum + bytes, 0) > crowdedBytes
    );
  }

  #mayWait(): number {
    return this.#isCrowded() ? 0 : maxWaiting;
  }

  #roomForParked(webhookId: string): number {
    const { breakers } = this.#options;
    if (this.#stopped || this.#park.held.bytes > maxHeldBytes) return 0;
    const state = breakers.state(webhookId);
    if (state !== 'closed') return state === 'probe' ? 1 : 0;
    return Math.min(parkedRoom, this.#queue.roomOf(webhookId, this.#mayWait()));
  }
}
