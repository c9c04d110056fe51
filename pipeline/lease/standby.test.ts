// Two processes with the role `pipeline`, each as a pipeline of its own on one real broker and engine: one writes, the
// other one waits, and each event is stored once whoever is frozen or ends. The product's test is test/standby.test.ts.

import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { buckets } from '../../platform/broker/buckets.ts';
import { connectBroker, type NatsConnection } from '../../platform/broker/nats.ts';
import { openBucket } from '../../platform/broker/record-bucket.ts';
import { eventsLedgerKey, eventsSubject } from '../../platform/broker/streams.ts';
import { ensureTopology, shardOf } from '../../platform/broker/topology.ts';
import { createClickHouse, type DatabaseClient } from '../../platform/clickhouse/clickhouse.ts';
import { oneGroup } from '../../platform/clickhouse/groups.ts';
import { steadyClock, systemClock } from '../../platform/clock.ts';
import { createLog } from '../../platform/log.ts';
import { createMetrics, metricValue } from '../../platform/metrics.ts';
import { encodeContext } from '../../proto/wire/frame.ts';
import { encodeFrame } from '../../proto/wire/frame-writer.ts';
import { compiledWorker } from '../../test/harness/compiled-entries.ts';
import { noWebhooks } from '../../test/harness/models/webhook-records.ts';
import { useBroker, useEngine } from '../../test/harness/servers/use-servers.ts';
import { StepwisePauses } from '../../test/harness/stepwise-pauses.ts';
import { startPipeline } from '../start.ts';
import { readLedgerRecord } from '../write/ledger-record.ts';
import { createLease, unchangedLooks } from './lease.ts';
import { openOwnerBucket } from './owner-record.ts';

const shards = 2;
const broker = useBroker();
const engine = useEngine();
const log = createLog(process.env['LOG'] ?? 'silent');
let nats: NatsConnection;
let clickhouse: DatabaseClient;
const projects = [0, 1].map((shard) => {
  for (;;) {
    const project = `project-${randomUUID()}`;
    if (shardOf(project, shards) === shard) return project;
  }
});

beforeAll(async () => {
  nats = await connectBroker(broker.url, log);
  await ensureTopology(nats, { eventsMaxBytes: 256 * 1_048_576, shards });
  clickhouse = createClickHouse(engine.url, { log, maxConnections: 8 });
});
afterAll(async () => {
  await nats.close();
  await clickhouse.close();
});

async function start(owner: string, steady = steadyClock) {
  const pauses = new StepwisePauses();
  const metrics = createMetrics();
  const lease = createLease({
    ...{ bucket: await openOwnerBucket(nats), owner, migrations: 1, log },
    pause: (ms, signal) => pauses.pause(ms, signal),
  });
  const pipeline = startPipeline({
    ...{ nats, clickhouse: oneGroup(clickhouse), shards, threads: 1, lease, metrics, log, steady },
    seenMaxBytes: 64 * 1_048_576,
    webhooks: noWebhooks,
    clock: systemClock,
    workerFile: compiledWorker(),
  });
  const isInState = (state: string, name = 'writer') =>
    metricValue(metrics, `millrace_pipeline_${name}_state`, { shard: '1', state });
  const gauge = (name: string) => metricValue(metrics, `millrace_pipeline_${name}`, { shard: '1' });
  return { pipeline, pauses, isInState, gauge };
}

let sent = 0;
async function send(): Promise<void> {
  for (const [shard, projectId] of projects.entries()) {
    const event = {
      ...{ eventId: randomUUID(), sessionId: randomUUID(), distinctId: 'visitor' },
      ...{ kind: 'page_view', occurTime: new Date().toISOString() },
    };
    const body = Buffer.from(JSON.stringify({ events: [event] }));
    const context = encodeContext({ projectId, credential: 'public', receiveTimeMs: Date.now() });
    const frame = encodeFrame([{ context, body, events: 1 }]);
    await nats.jetstream().publish(eventsSubject(shard), frame);
    sent++;
  }
}

async function expectEachOnce(): Promise<void> {
  const counts = async () => {
    const result = await clickhouse.query({
      query: 'SELECT toUInt32(count()) AS rows, toUInt32(uniqExact(event_id)) AS ids FROM events',
      format: 'JSONEachRow',
    });
    return result.json();
  };
  await expect.poll(counts).toEqual([{ rows: sent, ids: sent }]);
}

it('one of two pipelines writes all shards, and the other one takes them over and gives them up', async () => {
  const first = await start('first');
  await expect.poll(() => first.pipeline.ready()).toBe(true);
  expect(first.pipeline.isStandby()).toBe(false);
  const second = await start('second');
  await second.pauses.paused();
  await expect.poll(() => second.pipeline.isStandby()).toBe(true);
  expect(second.pipeline.ready()).toBe(true);
  expect(second.pipeline.state()).toEqual(['standby', 'standby']);
  expect(await second.isInState('standby')).toBe(1);
  expect(await second.isInState('standby', 'profile_writer')).toBe(1);
  await send();
  await expectEachOnce();

  // The first one is not heard of: its renewals stand still, and its writers do not know.
  for (let look = 1; look < unchangedLooks; look++) await second.pauses.next();
  expect(second.pipeline.isStandby()).toBe(true);
  await second.pauses.end();
  await expect.poll(() => second.pipeline.isStandby()).toBe(false);
  await expect.poll(() => second.pipeline.ready()).toBe(true);
  await send();
  await expectEachOnce();
  await send();
  await expectEachOnce();
  // It meets the other one's ledgers where it has a batch, or its next renewal tells.
  await first.pauses.end();
  await expect.poll(() => first.pipeline.isStandby()).toBe(true);
  expect(await first.isInState('standby')).toBe(1);

  await second.pipeline.stop();
  expect(second.pipeline.state()).toEqual(['stopped', 'stopped']);
  // After a rest, if it was fenced, it finds the shards given up at its next look.
  for (let step = 0; first.pipeline.isStandby() && step < 3; step++) {
    await first.pauses.end();
    await Promise.race([
      first.pauses.paused(),
      expect.poll(() => first.pipeline.isStandby()).toBe(false),
    ]);
  }
  await expect.poll(() => first.pipeline.ready()).toBe(true);
  await send();
  await expectEachOnce();
  await first.pipeline.stop();
});

it('a pipeline that was frozen in an insert tries it no more once another one has the shards', async () => {
  let aheadMs = 0;
  const first = await start('frozen', { nowMs: () => performance.now() + aheadMs });
  await expect.poll(() => first.pipeline.state()).toEqual(['waiting', 'waiting']);
  // Until then a batch asks the engine before it is promised.
  await expect.poll(() => first.gauge('loading')).toBe(0);
  await engine.kill9();
  await send();
  await expect.poll(() => first.gauge('insert_failures')).toBeGreaterThan(0);
  const ledgers = await openBucket(nats, buckets.ledger, readLedgerRecord);
  const writerNow = async () => {
    const read = await ledgers.get(eventsLedgerKey(1));
    return read.kind === 'found' ? read.record.writer : read.kind;
  };
  const writer = await writerNow();
  const second = await start('another');
  for (let look = 1; look <= unchangedLooks; look++) await second.pauses.end();
  await expect.poll(writerNow).not.toBe(writer);
  // It does not renew, and the engine is away: nothing but its ledger can tell.
  expect(first.pipeline.isStandby()).toBe(false);
  aheadMs = 3_600_000;
  await expect.poll(() => first.pipeline.isStandby()).toBe(true);
  expect(await first.gauge('insert_failures')).toBe(0);
  await engine.restart();
  await expectEachOnce();
  await Promise.all([first.pipeline.stop(), second.pipeline.stop()]);
});
