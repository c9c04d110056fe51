// What the log knows of the newest attempts, read from a real broker and a real engine.

import { afterEach, beforeAll, expect, it, vi } from 'vitest';
import { connectBroker, type NatsConnection } from '../../platform/broker/nats.ts';
import { ensureTopology } from '../../platform/broker/topology.ts';
import { createClickHouse, type DatabaseClient } from '../../platform/clickhouse/clickhouse.ts';
import { createLog } from '../../platform/log.ts';
import type { AttemptRecord } from '../../platform/webhooks/attempt-record.ts';
import { attemptLogStream, attemptLogSubject } from '../../platform/webhooks/webhook-streams.ts';
import { asOperator } from '../../test/harness/servers/broker.ts';
import { useBroker, useEngine } from '../../test/harness/servers/use-servers.ts';
import { attemptRecord } from '../../test/harness/webhooks/attempts.ts';
import { insertAttempts } from './insert-attempts.ts';
import { readRecentAttempts } from './recent-attempts.ts';

const broker = useBroker();
const engine = useEngine();
const log = createLog('silent');
let connection: NatsConnection;
let clickhouse: DatabaseClient;
beforeAll(async () => {
  connection = await connectBroker(broker.url, log);
  clickhouse = createClickHouse(engine.url, { log, maxConnections: 2 });
  await ensureTopology(connection, { eventsMaxBytes: 256 * 1_048_576, shards: 1 });
  return async () => {
    await connection.close();
    await clickhouse.close();
  };
});
// Not before the first test: a purged stream is not the stream of a new installation.
afterEach(async () => {
  broker.resume();
  engine.resume();
  await clickhouse.command({ query: 'TRUNCATE TABLE webhook_attempts' });
  await asOperator(broker, (manager) => manager.streams.purge(attemptLogStream));
});

const read = (maxReadMs?: number) =>
  readRecentAttempts({
    connection,
    clickhouse,
    log,
    ...(maxReadMs !== undefined && { maxReadMs }),
  });

async function publish(records: readonly AttemptRecord[]): Promise<void> {
  const js = connection.jetstream();
  for (const record of records) {
    await js.publish(attemptLogSubject(record.webhookId), JSON.stringify(record));
  }
}

const namesOf = ({ deliveryId, attempt, trigger, acceptTimeMs }: AttemptRecord) => ({
  ...{ deliveryId, attempt, trigger, acceptTimeMs },
});

const minuteMs = 60_000;

it('is nothing in a new installation', async () => {
  const warn = vi.spyOn(log, 'warn');
  expect(await read()).toEqual([]);
  expect(warn).not.toHaveBeenCalled();
});

it('is what the table and the stream hold of five minutes, the oldest first', async () => {
  const nowMs = Date.now();
  const old = attemptRecord({ attemptTimeMs: nowMs - 6 * minuteMs });
  const stored = [
    attemptRecord({ attemptTimeMs: nowMs - 4 * minuteMs, attempt: 3, webhookId: 'zz' }),
    attemptRecord({ attemptTimeMs: nowMs - 3, trigger: 'MANUAL', acceptTimeMs: nowMs - 12 }),
    attemptRecord({ attemptTimeMs: nowMs, attempt: 0, status: 'SKIPPED', webhookId: 'aa' }),
  ];
  await insertAttempts(clickhouse, [old, ...stored]);
  // More than are asked for at once, and some are gone.
  const waiting = Array.from({ length: 150 }, (_, n) => attemptRecord({ attempt: (n % 6) + 1 }));
  await publish(waiting);
  const manager = await connection.jetstreamManager();
  const { first_seq: firstSeq } = (await manager.streams.info(attemptLogStream)).state;
  await manager.streams.deleteMessage(attemptLogStream, firstSeq + 70);
  await connection.jetstream().publish(attemptLogSubject('wh'), 'no record');
  const left = waiting.filter((_, n) => n !== 70);
  expect(await read()).toEqual([...stored, ...left].map(namesOf));
});

it('is less where the engine or the broker does not answer in time', async () => {
  const [stored, waiting] = [attemptRecord(), attemptRecord()];
  await insertAttempts(clickhouse, [stored]);
  await publish([waiting]);
  engine.pause();
  expect(await read(5_000)).toEqual([namesOf(waiting)]);
  engine.resume();
  broker.pause();
  expect(await read(10_000)).toEqual([namesOf(stored)]);
});
