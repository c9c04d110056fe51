// The log's writer with a real broker and a real engine: every record becomes one row, whatever fails in between.

import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { beforeAll, expect, it, onTestFinished } from 'vitest';
import { pullMs } from '../../platform/broker/beat.ts';
import { connectBroker, type NatsConnection } from '../../platform/broker/nats.ts';
import { ensureTopology } from '../../platform/broker/topology.ts';
import { createClickHouse, type DatabaseClient } from '../../platform/clickhouse/clickhouse.ts';
import { type Clock, systemClock } from '../../platform/clock.ts';
import { createLog } from '../../platform/log.ts';
import { createMetrics, metricValue } from '../../platform/metrics.ts';
import type { AttemptRecord } from '../../platform/webhooks/attempt-record.ts';
import { attemptLogStream, attemptLogSubject } from '../../platform/webhooks/webhook-streams.ts';
import { useBroker, useEngine } from '../../test/harness/servers/use-servers.ts';
import { attemptRecord } from '../../test/harness/webhooks/attempts.ts';
import { insertAttempts } from './insert-attempts.ts';
import { ensureLogConsumer, pullRecords } from './pull-records.ts';
import { startAttemptWriter } from './write-attempts.ts';

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

function startWriter(
  engineClient: Pick<DatabaseClient, 'exec'> = clickhouse,
  clock: Clock = systemClock,
) {
  const metrics = createMetrics();
  const options = { connection, clickhouse: engineClient, clock, log, metrics };
  const writer = startAttemptWriter(options);
  onTestFinished(() => writer.stop());
  const counted = (outcome: string) =>
    metricValue(metrics, 'millrace_webhook_log_records_total', { outcome });
  return { writer, metrics, counted };
}

async function publish(...records: readonly (AttemptRecord | string)[]): Promise<void> {
  const js = connection.jetstream();
  for (const record of records) {
    const text = typeof record === 'string' ? record : JSON.stringify(record);
    await js.publish(attemptLogSubject('wh'), text);
  }
}

/** What the table holds of a webhook, duplicates included, in order of time. */
async function rowsOf(webhookId: string, final = ''): Promise<Record<string, unknown>[]> {
  const result = await clickhouse.query({
    query: `SELECT * FROM webhook_attempts ${final} WHERE webhook_id = {webhookId:String} ORDER BY attempt_time`,
    query_params: { webhookId },
    format: 'JSONEachRow',
  });
  return result.json();
}

const waitingRecords = async (): Promise<number> => {
  const manager = await connection.jetstreamManager();
  return (await manager.streams.info(attemptLogStream)).state.messages;
};

const soon = { interval: 50 };

it('stores each record as one row, empties the stream, and tells how old the record was', async () => {
  const attemptTimeMs = Date.now();
  const clock = { nowMs: () => attemptTimeMs + 2_500 };
  const { writer, metrics, counted } = startWriter(clickhouse, clock);
  await expect.poll(() => writer.ready(), soon).toBe(true);
  const webhookId = randomUUID();
  const record = attemptRecord({
    ...{ webhookId, attemptTimeMs, durationMs: 12.4, attempt: 2, responseCode: 500 },
    ...{ status: 'FAILED_WILL_RETRY', error: 'http_status', nextAttemptTimeMs: 1_900_000_000_123 },
    ...{ responseBody: 'caf\u00e9 \ud83d\ude00 \u0000 \\ "', payload: '{"a":"\\u00e9"}' },
  });
  const { attemptId } = record;
  await publish(record);
  await expect.poll(() => rowsOf(webhookId), soon).toHaveLength(1);
  expect((await rowsOf(webhookId))[0]).toMatchObject({
    ...{ attempt_id: attemptId, status: 'FAILED_WILL_RETRY', attempt: 2, response_code: 500 },
    ...{ response_body: record.responseBody, payload: record.payload, duration_ms: 12 },
    next_attempt_time: '2030-03-17 17:46:40.123',
  });
  await expect.poll(waitingRecords, soon).toBe(0);
  expect(await counted('stored')).toBe(1);
  const lag = metrics.registry.getSingleMetric('millrace_webhook_log_lag_seconds');
  const values = (await lag?.get())?.values ?? [];
  const upTo = (le: number) => values.find(({ labels }) => labels['le'] === le)?.value;
  expect([upTo(2), upTo(3)]).toEqual([0, 1]);
});

it('stores more records than one batch has', async () => {
  const webhookId = randomUUID();
  const records = Array.from({ length: 2_100 }, () => attemptRecord({ webhookId }));
  const js = connection.jetstream();
  await Promise.all(
    records.map((record) => js.publish(attemptLogSubject('wh'), JSON.stringify(record))),
  );
  const { counted } = startWriter();
  await expect.poll(() => counted('stored'), soon).toBe(2_100);
  const ids = new Set((await rowsOf(webhookId)).map((row) => row['attempt_id']));
  expect(ids).toEqual(new Set(records.map(({ attemptId }) => attemptId)));
});

it('leaves out what cannot be read, and nothing waits behind it', async () => {
  const webhookId = randomUUID();
  const broken = [
    '',
    '{',
    'null',
    '{}',
    JSON.stringify({ ...attemptRecord({ webhookId }), attemptTimeMs: 'now' }),
    JSON.stringify({ ...attemptRecord({ webhookId }), responseCode: 70_000 }),
    JSON.stringify({ ...attemptRecord({ webhookId }), status: 'LOST' }),
  ];
  await publish(...broken, attemptRecord({ webhookId }));
  const { counted } = startWriter();
  await expect.poll(() => rowsOf(webhookId), soon).toHaveLength(1);
  await expect.poll(waitingRecords, soon).toBe(0);
  expect(await counted('unreadable')).toBe(broken.length);
});

it('leaves out the one record that the engine refuses', async () => {
  const webhookId = randomUUID();
  const ids = ['a', 'b', 'refused', 'd', 'e'];
  // Half a character, which is in no text.
  const bodies: Record<string, string> = { refused: '\ud800' };
  await publish(
    ...ids.map((attemptId) =>
      attemptRecord({ webhookId, attemptId, responseBody: bodies[attemptId] ?? '' }),
    ),
  );
  const { counted } = startWriter();
  await expect.poll(() => counted('refused'), soon).toBe(1);
  const stored = (await rowsOf(webhookId)).map((row) => row['attempt_id']);
  expect(stored.sort()).toEqual(['a', 'b', 'd', 'e']);
  await expect.poll(waitingRecords, soon).toBe(0);
});

it('one row is left of a record that was inserted and not acknowledged', async () => {
  const webhookId = randomUUID();
  const records = [attemptRecord({ webhookId }), attemptRecord({ webhookId })];
  await publish(...records);
  // The first writer's acknowledgements get lost: what it had pulled comes to the second one again.
  await ensureLogConsumer(connection);
  const pulled = await pullRecords(connection, new AbortController().signal);
  expect(pulled).toHaveLength(2);
  await insertAttempts(clickhouse, records);
  for (const { replySubject } of pulled) connection.publish(replySubject, '-NAK');
  await publish(attemptRecord({ webhookId }));
  const { counted } = startWriter();
  await expect.poll(() => counted('stored'), soon).toBe(3);
  expect(await rowsOf(webhookId)).toHaveLength(5);
  expect(await rowsOf(webhookId, 'FINAL')).toHaveLength(3);
});

it('a try that was through and not answered is not repeated', async () => {
  const webhookId = randomUUID();
  let tries = 0;
  const silent = {
    exec: (async (params) => {
      const result = await clickhouse.exec(params);
      if (++tries > 1) return result;
      for await (const _ of result.stream);
      throw new Error('the connection ended before the answer');
    }) satisfies DatabaseClient['exec'],
  };
  await publish(attemptRecord({ webhookId }));
  const { counted } = startWriter(silent);
  await expect.poll(() => counted('stored'), soon).toBe(1);
  expect(tries).toBe(2);
  expect(await rowsOf(webhookId)).toHaveLength(1);
});

it('takes a pull that ends soon for no refused one: it stays ready while nothing comes', async () => {
  // The pulls of a process end together: one that begins shortly before is short.
  await expect.poll(() => pullMs() < 400, { interval: 5 }).toBe(true);
  const { writer } = startWriter();
  await expect.poll(() => writer.ready(), soon).toBe(true);
  for (let looks = 0; looks < 50; looks++) {
    expect(writer.ready()).toBe(true);
    await delay(50);
  }
});

it('waits for an engine that is away, and says so', async () => {
  const webhookId = randomUUID();
  const { writer } = startWriter();
  await expect.poll(() => writer.ready(), soon).toBe(true);
  await engine.kill9();
  await publish(attemptRecord({ webhookId }));
  await expect.poll(() => writer.ready(), soon).toBe(false);
  await engine.restart();
  await expect.poll(() => rowsOf(webhookId).catch(() => []), soon).toHaveLength(1);
  await expect.poll(() => writer.ready(), soon).toBe(true);
  await expect.poll(waitingRecords, soon).toBe(0);
});

it('gives back what it could not store when it stops', async () => {
  const webhookId = randomUUID();
  const away = { exec: () => Promise.reject(new Error('away')) };
  const first = startWriter(away);
  await publish(attemptRecord({ webhookId }));
  const failures = () => metricValue(first.metrics, 'millrace_webhook_log_insert_failures_total');
  await expect.poll(failures, soon).toBeGreaterThan(0);
  await first.writer.stop();
  expect(await waitingRecords()).toBe(1);
  startWriter();
  await expect.poll(() => rowsOf(webhookId), soon).toHaveLength(1);
});

it('keeps 30 days: an older day goes as a whole', async () => {
  const [create] = await (
    await clickhouse.query({ query: 'SHOW CREATE TABLE webhook_attempts', format: 'TabSeparated' })
  )
    .text()
    .then((text) => [text]);
  expect(create).toContain('TTL toDateTime(attempt_time) + toIntervalDay(30)');
  expect(create).toContain('PARTITION BY toDate(attempt_time)');
  const webhookId = randomUUID();
  const dayMs = 86_400_000;
  const old = attemptRecord({ webhookId, attemptTimeMs: Date.now() - 32 * dayMs });
  const kept = attemptRecord({ webhookId, attemptTimeMs: Date.now() - 29 * dayMs });
  await insertAttempts(clickhouse, [old, kept]);
  await clickhouse.command({ query: 'OPTIMIZE TABLE webhook_attempts FINAL' });
  await expect
    .poll(async () => (await rowsOf(webhookId)).map((row) => row['attempt_id']), soon)
    .toEqual([kept.attemptId]);
});
