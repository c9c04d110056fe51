// Makes the durable consumers of the webhook streams, which all dispatchers share, and asks how much waits at them.

import { leaderInfo } from '../../../platform/broker/cluster/leader-info.ts';
import { noSuchConsumer } from '../../../platform/broker/connection/error-codes.ts';
import { unlessCode } from '../../../platform/broker/ensure-stream.ts';
import {
  type ConsumerConfig,
  type JetStreamManager,
  type NatsConnection,
  nanos,
} from '../../../platform/broker/nats.ts';
import { parkStream, queueConsumerConfig } from '../../../platform/webhooks/webhook-streams.ts';

/** A parked webhook's consumer that no process asks any more is removed by the broker. */
const parkIdleMs = 3_600_000;
const parkMaxAckPending = 64;

type QueueConsumerConfig = Partial<ConsumerConfig> & { durable_name: string };

/** Makes the consumer; one of an earlier start gets today's bounds. */
export async function ensureQueueConsumer(
  connection: NatsConnection,
  stream: string,
  config: QueueConsumerConfig,
): Promise<void> {
  const manager = await managerOf(connection);
  const name = config.durable_name;
  const existing = await unlessCode(noSuchConsumer, manager.consumers.info(stream, name));
  if (existing === undefined) await manager.consumers.add(stream, config);
  else if (!hasBounds(existing.config, config)) {
    await manager.consumers.update(stream, name, { ...existing.config, ...config });
  }
}

function hasBounds(existing: ConsumerConfig, wanted: QueueConsumerConfig): boolean {
  return (
    existing.max_ack_pending === wanted.max_ack_pending && existing.ack_wait === wanted.ack_wait
  );
}

export interface ConsumerState {
  /** Not delivered yet. */
  waiting: number;
  /** Delivered, or put off, and not done. */
  pending: number;
}

/** Undefined where there is no such consumer. */
export async function consumerState(
  connection: NatsConnection,
  stream: string,
  consumer: string,
): Promise<ConsumerState | undefined> {
  const manager = await managerOf(connection);
  const info = await unlessCode(noSuchConsumer, manager.consumers.info(stream, consumer));
  return info && { waiting: info.num_pending, pending: info.num_ack_pending };
}

export const parkConsumer = (webhookId: string): string => `park_${webhookId}`;

export function parkConsumerConfig(webhookId: string, subject: string): QueueConsumerConfig {
  const config = queueConsumerConfig(parkConsumer(webhookId), subject, parkMaxAckPending);
  return { ...config, inactive_threshold: nanos(parkIdleMs) };
}

/** Deletes a parked webhook's consumer where it has nothing left; false where it has. */
export async function deleteEmptyParkConsumer(
  connection: NatsConnection,
  webhookId: string,
): Promise<boolean> {
  const name = parkConsumer(webhookId);
  const state = await consumerState(connection, parkStream, name);
  if (state === undefined) return true;
  if (state.waiting + state.pending > 0) return false;
  const manager = await managerOf(connection);
  await unlessCode(noSuchConsumer, manager.consumers.delete(parkStream, name));
  return true;
}

/** The ids of webhooks that have parked deliveries. */
export async function parkedWebhooks(connection: NatsConnection): Promise<string[]> {
  const manager = await managerOf(connection);
  const { state } = await leaderInfo(manager, parkStream);
  if (state.messages === 0) return [];
  const all = await manager.streams.info(parkStream, { subjects_filter: 'whp.*' });
  return Object.keys(all.state.subjects ?? {}).map((subject) => subject.slice('whp.'.length));
}

function managerOf(connection: NatsConnection): Promise<JetStreamManager> {
  return connection.jetstreamManager({ checkAPI: false });
}
