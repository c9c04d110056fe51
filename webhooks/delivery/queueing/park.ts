// Deliveries that their webhook takes no more of now wait on the broker's disk, in a stream of their own. A webhook
// that has such deliveries gets a consumer while it has room for them; the broker is asked which webhooks have any,
// so that nothing is forgotten at a restart.

import { setMaxListeners } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import type { NatsConnection } from '../../../platform/broker/nats.ts';
import type { Log } from '../../../platform/log.ts';
import { type Delivery, encodeDelivery } from '../../../platform/webhooks/delivery.ts';
import { parkStream, parkSubject } from '../../../platform/webhooks/webhook-streams.ts';
import { HeldMessages } from './held-messages.ts';
import type { Publisher } from './publisher.ts';
import {
  consumerState,
  deleteEmptyParkConsumer,
  ensureQueueConsumer,
  parkConsumer,
  parkConsumerConfig,
  parkedWebhooks,
} from './queue-consumer.ts';
import { openQueuePuller, type QueuedMessage } from './queue-puller.ts';

interface ParkOptions {
  connection: NatsConnection;
  publisher: Publisher;
  log: Log;
  /** How many parked deliveries of this webhook may be taken up now. */
  roomOf(webhookId: string): number;
  /** The message is held. */
  onMessage(message: QueuedMessage, held: HeldMessages): void;
  signal: AbortSignal;
}

const scanEveryMs = 1_000;
/** After a delivery was parked here. */
const scanSoonMs = 200;
const maxDrains = 64;
/** A drain that got nothing for so long has taken up everything, or others have. */
const emptyMs = 500;
/** The longest drain while other webhooks wait for one. */
const maxDrainMs = 2_000;

export class Park {
  readonly #options: ParkOptions;
  readonly held: HeldMessages;
  /** Webhooks with parked deliveries that nobody has taken up, as far as this process knows. */
  readonly #backlog = new Set<string>();
  /** Webhooks whose consumer had something left when it was last looked at. */
  readonly #withConsumer = new Set<string>();
  readonly #draining = new Set<string>();
  readonly #drains = new Set<Promise<void>>();
  /** When the last drain of each parked webhook began. */
  readonly #drainedMs = new Map<string, number>();
  /** Whether webhooks with room wait until another's drain ends. */
  #isCrowded = false;
  readonly #ended: Promise<void>;
  #wake: () => void = () => {};

  constructor(options: ParkOptions) {
    this.#options = options;
    this.held = new HeldMessages(options.connection);
    // Each drain listens.
    setMaxListeners(0, options.signal);
    this.#ended = this.#scanAgainAndAgain();
  }

  /** Whether deliveries of this webhook wait already: then a later one waits behind them. */
  hasBacklog(webhookId: string): boolean {
    return this.#backlog.has(webhookId);
  }

  /** `full`: nothing was stored. `sourceKey` is the message that the delivery came with. */
  async park(delivery: Delivery, sourceKey: string): Promise<'stored' | 'full'> {
    const { webhookId } = delivery;
    const subject = parkSubject(webhookId);
    const { publisher } = this.#options;
    const outcome = await publisher.publish(subject, encodeDelivery(delivery), sourceKey);
    if (outcome === 'stored') {
      this.#backlog.add(webhookId);
      this.#wake();
    }
    return outcome;
  }

  async stop(): Promise<void> {
    await this.#ended;
    await Promise.all(this.#drains);
    this.held.stop();
  }

  async #scanAgainAndAgain(): Promise<void> {
    const { log, signal } = this.#options;
    let isFailing = false;
    while (!signal.aborted) {
      try {
        await this.#scan();
        isFailing = false;
      } catch (error) {
        if (!isFailing) log.warn({ err: error }, 'parked deliveries wait for the broker');
        isFailing = true;
      }
      await this.#pause();
    }
  }

  async #pause(): Promise<void> {
    const { signal } = this.#options;
    const woken = new Promise<void>((resolve) => {
      this.#wake = resolve;
    });
    const pause = (ms: number): Promise<unknown> =>
      delay(ms, undefined, { signal }).catch(() => {});
    await pause(scanSoonMs);
    await Promise.race([woken, pause(scanEveryMs - scanSoonMs)]);
  }

  async #scan(): Promise<void> {
    const { connection, signal } = this.#options;
    this.#backlog.clear();
    const webhooks = new Set(await parkedWebhooks(connection));
    for (const webhookId of this.#drainedMs.keys()) {
      if (!webhooks.has(webhookId)) this.#drainedMs.delete(webhookId);
    }
    let isCrowded = false;
    for (const webhookId of this.#longestFirst(webhooks)) {
      if (this.#draining.has(webhookId)) continue;
      // Those that are being sent are among them; the drain finds out.
      this.#backlog.add(webhookId);
      if (signal.aborted || this.#options.roomOf(webhookId) <= 0) continue;
      if (this.#draining.size >= maxDrains) isCrowded = true;
      else this.#startDrain(webhookId);
    }
    this.#isCrowded = isCrowded;
    for (const webhookId of this.#withConsumer) {
      if (webhooks.has(webhookId) || this.#draining.has(webhookId)) continue;
      await this.#deleteConsumer(webhookId);
    }
  }

  /** Who has waited longest comes first: the broker's order is always the same. */
  #longestFirst(webhooks: Iterable<string>): string[] {
    const sinceMs = (webhookId: string): number => this.#drainedMs.get(webhookId) ?? 0;
    return [...webhooks].sort((one, other) => sinceMs(one) - sinceMs(other));
  }

  #startDrain(webhookId: string): void {
    this.#draining.add(webhookId);
    this.#drainedMs.set(webhookId, performance.now());
    const drain = this.#drain(webhookId).finally(() => {
      this.#draining.delete(webhookId);
      this.#drains.delete(drain);
    });
    this.#drains.add(drain);
  }

  /** Takes up a webhook's deliveries until none is left or there is no room for them. Never rejects. */
  async #drain(webhookId: string): Promise<void> {
    const { connection, log } = this.#options;
    try {
      const config = parkConsumerConfig(webhookId, parkSubject(webhookId));
      await ensureQueueConsumer(connection, parkStream, config);
      const state = await consumerState(connection, parkStream, parkConsumer(webhookId));
      if (state?.waiting === 0) this.#backlog.delete(webhookId);
      await this.#takeUp(webhookId);
      await this.#deleteConsumer(webhookId);
    } catch (error) {
      log.warn({ err: error, webhookId }, 'parked deliveries of a webhook wait for the broker');
    }
  }

  async #deleteConsumer(webhookId: string): Promise<void> {
    const isDeleted = await deleteEmptyParkConsumer(this.#options.connection, webhookId);
    if (isDeleted) this.#withConsumer.delete(webhookId);
    else this.#withConsumer.add(webhookId);
  }

  async #takeUp(webhookId: string): Promise<void> {
    const { connection, roomOf, onMessage, signal } = this.#options;
    const startedMs = performance.now();
    let lastMs = startedMs;
    const isOver = (): boolean => {
      const nowMs = performance.now();
      return nowMs - lastMs >= emptyMs || (this.#isCrowded && nowMs - startedMs >= maxDrainMs);
    };
    const puller = openQueuePuller({
      connection,
      stream: parkStream,
      consumer: parkConsumer(webhookId),
      wants: () => roomOf(webhookId),
      onMessage: (message) => {
        lastMs = performance.now();
        if (message.left === 0) this.#backlog.delete(webhookId);
        if (this.held.take(message)) onMessage(message, this.held);
      },
    });
    while (!signal.aborted && !isOver()) {
      await delay(emptyMs / 5, undefined, { signal }).catch(() => {});
    }
    await puller.stop();
  }
}
