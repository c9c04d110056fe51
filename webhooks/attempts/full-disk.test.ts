// The engine's disk fills up while attempts are being logged: no record is lost or stored twice, deliveries go on, and
// the broker keeps what the table cannot take.

import { randomBytes, randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { connectBroker, type NatsConnection } from '../../platform/broker/nats.ts';
import { createClickHouse, type DatabaseClient } from '../../platform/clickhouse/clickhouse.ts';
import { systemClock } from '../../platform/clock.ts';
import { createLog } from '../../platform/log.ts';
import { createMetrics, metricValue } from '../../platform/metrics.ts';
import { attemptLogStream, attemptLogSubject } from '../../platform/webhooks/webhook-streams.ts';
import type { ChildServer } from '../../test/harness/servers/child-server.ts';
import { startEngine } from '../../test/harness/servers/engine.ts';
import {
  hasSmallDisks,
  mountSmallDisk,
  type SmallDisk,
} from '../../test/harness/servers/small-disk.ts';
import { attemptRecord } from '../../test/harness/webhooks/attempts.ts';
import {
  type DeliveryBroker,
  newDelivery,
  startDeliveryBroker,
} from '../../test/harness/webhooks/delivery-broker.ts';
import { type Receiver, startReceiver } from '../../test/harness/webhooks/receiver.ts';
import { startAttemptWriter } from './write-attempts.ts';

const KiB = 1_024;
const log = createLog('silent');
const webhookId = 'hook';
let disk: SmallDisk;
let engine: ChildServer;
let deliveries: DeliveryBroker;
let receiver: Receiver;
let connection: NatsConnection;
let clickhouse: DatabaseClient;
beforeAll(async () => {
  if (!hasSmallDisks) return;
  disk = await mountSmallDisk(128);
  engine = await startEngine({ disk });
  deliveries = await startDeliveryBroker();
  receiver = await startReceiver();
  await deliveries.setWebhooks('org', [{ id: webhookId, endpointUrl: receiver.url('/204') }]);
  connection = await connectBroker(deliveries.broker.url, log);
  clickhouse = createClickHouse(engine.url, { log, maxConnections: 2 });
});
afterAll(async () => {
  if (!hasSmallDisks) return;
  await deliveries.stop();
  await receiver.close();
  await connection.close();
  await clickhouse.close();
  await engine.stop();
  await disk.close();
});

/** Texts that do not pack, so that the rows take as much room as their records. */
async function publishRecords(count: number): Promise<string[]> {
  const records = Array.from({ length: count }, () =>
    attemptRecord({
      ...{ webhookId, attemptId: randomUUID() },
      responseBody: randomBytes(8 * KiB).toString('base64'),
    }),
  );
  const js = connection.jetstream();
  await Promise.all(
    records.map((one) => js.publish(attemptLogSubject('hook'), JSON.stringify(one))),
  );
  return records.map(({ attemptId }) => attemptId);
}

async function storedIds(): Promise<string[]> {
  const query = 'SELECT attempt_id FROM webhook_attempts ORDER BY attempt_id';
  const result = await clickhouse.query({ query, format: 'JSONCompactEachRow' });
  return (await result.json<[string]>()).map(([id]) => id);
}

const waitingRecords = async (): Promise<number> =>
  (await (await connection.jetstreamManager()).streams.info(attemptLogStream)).state.messages;

const soon = { interval: 100 };

it.runIf(hasSmallDisks)(
  'loses no row of the log, and holds up no delivery',
  { timeout: 600_000 },
  async () => {
    const metrics = createMetrics();
    const writer = startAttemptWriter({ connection, clickhouse, clock: systemClock, log, metrics });
    const failures = () =>
      metricValue(metrics, 'millrace_webhook_log_insert_failures_total').then(
        (count) => count ?? 0,
      );
    await deliveries.start();
    const ids: string[] = [];
    let sent = 0;
    try {
      for (const leftKiB of [0, 100, 400]) {
        disk.fill(leftKiB * KiB);
        const before = await failures();
        ids.push(...(await publishRecords(100)));
        await deliveries.publish(newDelivery('org', webhookId));
        await expect.poll(failures, soon).toBeGreaterThan(before);
        await expect.poll(() => receiver.received.length, soon).toBe(++sent);
        expect(writer.ready()).toBe(false);
        disk.free();
        await expect.poll(waitingRecords, soon).toBe(0);
        await expect.poll(() => writer.ready(), soon).toBe(true);
      }
      // The deliveries' own records are among them.
      const made = deliveries.attempts.map(({ attemptId }) => attemptId);
      expect(made).toHaveLength(ids.length + sent);
      expect(await storedIds()).toEqual(made.toSorted());
    } finally {
      await writer.stop();
    }
  },
);
