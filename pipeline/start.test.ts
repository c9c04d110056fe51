// The whole pipeline of a process on a real broker and engine, through restarts and failures of both.

import { randomUUID } from 'node:crypto';
import type { ClickHouseClient } from '@clickhouse/client';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import {
  AckPolicy,
  connectBroker,
  type JetStreamManager,
  type JsMsg,
  type NatsConnection,
} from '../platform/broker/nats.ts';
import { deadLetterStream, eventsStream, eventsSubject } from '../platform/broker/streams.ts';
import { ensureTopology, shardOf } from '../platform/broker/topology.ts';
import { createClickHouse } from '../platform/clickhouse/clickhouse.ts';
import { systemClock } from '../platform/clock.ts';
import { createLog } from '../platform/log.ts';
import { createMetrics, type Metrics, metricValue } from '../platform/metrics.ts';
import { retry } from '../platform/retry.ts';
import { encodeContext, encodeFrame } from '../proto/wire/frame.ts';
import { compiledWorker } from '../test/harness/compiled-entries.ts';
import { useBroker, useEngine } from '../test/harness/servers/use-servers.ts';
import { type Pipeline, startPipeline } from './start.ts';

const shards = 2;
const broker = useBroker();
const engine = useEngine();
let nats: NatsConnection;
let manager: JetStreamManager;
let clickhouse: ClickHouseClient;
let running: Pipeline[] = [];
/** Each test has a project of its own, so that all tests can share the tables. */
let project = '';

beforeAll(async () => {
  const log = createLog('silent');
  nats = await connectBroker(broker.url, log);
  manager = await nats.jetstreamManager();
  clickhouse = createClickHouse(engine.url, { log, maxConnections: 8 });
  await ensureTopology(nats, { eventsMaxBytes: 256 * 1_048_576, shards });
});

beforeEach(() => {
  project = `project-${randomUUID()}`;
});

afterAll(async () => {
  await Promise.all(running.map((pipeline) => pipeline.stop()));
  await nats.close();
  await clickhouse.close();
});

async function start(override: Partial<Parameters<typeof startPipeline>[0]> = {}) {
  const metrics = createMetrics();
  const pipeline = startPipeline({
    nats,
    clickhouse,
    shards,
    threads: 1,
    seenMaxBytes: 64 * 1_048_576,
    clock: systemClock,
    log: createLog(process.env['LOG'] ?? 'silent'),
    metrics,
    workerFile: compiledWorker(),
    ...override,
  });
  running.push(pipeline);
  const stop = async () => {
    running = running.filter((one) => one !== pipeline);
    await pipeline.stop();
  };
  return { pipeline, metrics, stop };
}

function event(fields: Record<string, unknown> = {}): Record<string, unknown> {
  return {
    eventId: randomUUID(),
    sessionId: randomUUID(),
    distinctId: 'visitor',
    kind: 'page_view',
    occurTime: new Date().toISOString(),
    ...fields,
  };
}

async function send(events: unknown[], to = project): Promise<void> {
  const context = { projectId: to, credential: 'public', receiveTimeMs: Date.now() } as const;
  const frame = encodeFrame([
    {
      context: encodeContext(context),
      body: Buffer.from(JSON.stringify({ events })),
      events: events.length,
    },
  ]);
  const signal = AbortSignal.timeout(30_000);
  const publish = () =>
    nats.jetstream({ timeout: 5_000 }).publish(eventsSubject(shardOf(to, shards)), frame);
  await retry(publish, { signal, baseMs: 10, capMs: 100 });
}

async function rows(select: string, of = project): Promise<unknown[][]> {
  const result = await clickhouse.query({
    query: `SELECT ${select} FROM events WHERE project_id = {project:String}`,
    query_params: { project: of },
    format: 'JSONCompactEachRow',
  });
  return result.json();
}

async function until(done: () => Promise<boolean>): Promise<void> {
  while (!(await done())) await new Promise((resolve) => setTimeout(resolve, 20));
}

async function untilRows(count: number, of = project): Promise<void> {
  await until(async () => Number((await rows('count()', of))[0]?.[0]) >= count);
}

async function untilIdle(): Promise<void> {
  await until(async () => {
    const states = [0, 1].map((shard) => manager.streams.info(eventsStream(shard)));
    return (await Promise.all(states)).every(({ state }) => state.messages === 0);
  });
}

const shardLabel = () => ({ shard: String(shardOf(project, shards)) });

function outcome(metrics: Metrics, name: string): Promise<number> {
  return metricValue(metrics, 'millrace_pipeline_events_total', { ...shardLabel(), outcome: name });
}

describe('the pipeline', () => {
  it('makes rows of queued events, in every shard', async () => {
    const { pipeline, stop } = await start();
    await until(async () => pipeline.ready());
    expect(pipeline.state()).toEqual(['waiting', 'waiting']);
    const some = Array.from({ length: 200 }, () => `project-${randomUUID()}`);
    const projects = [0, 1].flatMap((shard) =>
      some.filter((one) => shardOf(one, shards) === shard).slice(0, 3),
    );
    expect(new Set(projects.map((one) => shardOf(one, shards))).size).toBe(2);
    await Promise.all(projects.map((one) => send([event({ kind: one })], one)));
    for (const one of projects) await untilRows(1, one);
    for (const one of projects) {
      expect(await rows('kind, shard', one)).toEqual([[one, shardOf(one, shards)]]);
    }
    await stop();
    expect(pipeline.state()).toEqual(['stopped', 'stopped']);
  });

  it('stores an event once across batches and restarts, and counts its repetitions', async () => {
    const first = await start();
    const events = Array.from({ length: 300 }, () => event());
    await send(events);
    await untilRows(300);
    await send(events.slice(100, 200));
    await send([...events.slice(0, 50), event({ kind: 'fresh' })]);
    await untilRows(301);
    await untilIdle();
    await first.stop();
    expect(await outcome(first.metrics, 'stored')).toBe(301);
    expect(await outcome(first.metrics, 'duplicate')).toBe(150);
    // The second pipeline knows only the ids that it has read from the table.
    const second = await start();
    await send([...events, event({ kind: 'fresh' })]);
    await untilRows(302);
    await untilIdle();
    await second.stop();
    expect(await outcome(second.metrics, 'duplicate')).toBe(300);
    expect(await rows('count(), uniqExact(event_id)')).toEqual([['302', '302']]);
  });

  it('writes the messages it has received before it ends, and leaves the rest', async () => {
    const { pipeline, stop } = await start();
    await until(async () => pipeline.ready());
    for (let n = 0; n < 50; n++) await send(Array.from({ length: 20 }, () => event()));
    await stop();
    const [[stored]] = (await rows('count()')) as [[string]];
    const left = (await manager.streams.info(eventsStream(shardOf(project, shards)))).state
      .messages;
    expect(Number(stored) + left * 20).toBe(1_000);
    const next = await start();
    await untilRows(1_000);
    await untilIdle();
    await next.stop();
    expect(await rows('count(), uniqExact(event_id)')).toEqual([['1000', '1000']]);
  });

  it('keeps unreadable events with their reason, and goes on', async () => {
    const { metrics, stop } = await start();
    const bad = event({ kind: '', customProperties: { x: { stringValue: 'y' } } });
    await send([event(), bad]);
    await nats.jetstream().publish(eventsSubject(shardOf(project, shards)), Buffer.from('junk'));
    await send([event()]);
    await untilRows(2);
    await untilIdle();
    expect(await outcome(metrics, 'dead_letter')).toBe(1);
    const letters = await deadLetters();
    const described = letters.map(({ headers, data, subject }) => ({
      subject,
      reason: headers?.get('Millrace-Reason'),
      project: headers?.get('Millrace-Project'),
      event: headers?.get('Millrace-Event'),
      content: Buffer.from(data).toString(),
    }));
    const subject = `events_dlq.${shardOf(project, shards)}`;
    expect(described).toEqual([
      { subject, reason: 'kind_missing', project, event: '1', content: JSON.stringify(bad) },
      { subject, reason: 'frame_unreadable', project: '', event: '', content: 'junk' },
    ]);
    await stop();
  });

  it('waits for an engine that is gone, reports it, and stores every event once it is back', async () => {
    const { pipeline, metrics, stop } = await start();
    await until(async () => pipeline.ready());
    await engine.kill9();
    await send(Array.from({ length: 100 }, () => event()));
    await until(
      async () =>
        (await metricValue(metrics, 'millrace_pipeline_insert_failures', shardLabel())) > 1,
    );
    expect(pipeline.state()).toContain('inserting');
    await send(Array.from({ length: 100 }, () => event()));
    await engine.restart();
    await untilRows(200);
    await untilIdle();
    expect(await metricValue(metrics, 'millrace_pipeline_insert_failures', shardLabel())).toBe(0);
    expect(await rows('count(), uniqExact(event_id)')).toEqual([['200', '200']]);
    await stop();
  });

  it('ends within its grace where the engine is gone, and the next one finishes its batch', async () => {
    const { pipeline, stop } = await start({ stopGraceMs: 300 });
    await until(async () => pipeline.ready());
    await engine.kill9();
    await send(Array.from({ length: 100 }, () => event()));
    await until(async () => pipeline.state().includes('inserting'));
    await stop();
    await engine.restart();
    const next = await start();
    await untilRows(100);
    expect(await rows('count(), uniqExact(event_id)')).toEqual([['100', '100']]);
    await next.stop();
  });

  it('goes on where the broker is killed and comes back', async () => {
    const { pipeline, stop } = await start();
    await until(async () => pipeline.ready());
    const ids: string[] = [];
    for (let round = 0; round < 3; round++) {
      const events = Array.from({ length: 200 }, () => event());
      await send(events);
      ids.push(...events.map(({ eventId }) => String(eventId)));
      await broker.kill9();
      await broker.restart();
    }
    await untilRows(600);
    expect(await rows('count(), uniqExact(event_id)')).toEqual([['600', '600']]);
    expect(pipeline.ready()).toBe(true);
    await stop();
  });

  it('stops where another pipeline writes the shard, and reports it', async () => {
    const first = await start();
    await until(async () => first.pipeline.ready());
    const second = await start();
    await until(async () => second.pipeline.ready());
    await send(Array.from({ length: 10 }, () => event()));
    await untilRows(10);
    await send(Array.from({ length: 10 }, () => event()));
    await untilRows(20);
    const shard = shardOf(project, shards);
    await until(async () => first.pipeline.state()[shard] === 'fenced');
    expect(first.pipeline.ready()).toBe(false);
    expect(second.pipeline.ready()).toBe(true);
    expect(await rows('count(), uniqExact(event_id)')).toEqual([['20', '20']]);
    await first.stop();
    await second.stop();
  });
});

/** All messages of the dead letter stream. */
async function deadLetters(): Promise<JsMsg[]> {
  const { state } = await manager.streams.info(deadLetterStream);
  const { name } = await manager.consumers.add(deadLetterStream, { ack_policy: AckPolicy.None });
  const consumer = await nats.jetstream().consumers.get(deadLetterStream, name);
  const letters: JsMsg[] = [];
  const messages = await consumer.fetch({ max_messages: state.messages, expires: 2_000 });
  for await (const letter of messages) letters.push(letter);
  return letters;
}
