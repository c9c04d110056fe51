// The whole pipeline of a process on a real broker and engine, through restarts and failures of both.

import { randomUUID } from 'node:crypto';
import pino from 'pino';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import {
  AckPolicy,
  connectBroker,
  type JetStreamManager,
  type JsMsg,
  type NatsConnection,
} from '../platform/broker/nats.ts';
import {
  deadLetterStream,
  eventsStream,
  eventsSubject,
  profilesStream,
  profilesSubject,
  writerConsumer,
} from '../platform/broker/streams.ts';
import { ensureTopology, shardOf } from '../platform/broker/topology.ts';
import { createClickHouse, type DatabaseClient } from '../platform/clickhouse/clickhouse.ts';
import { oneGroup } from '../platform/clickhouse/groups.ts';
import { systemClock } from '../platform/clock.ts';
import { createLog } from '../platform/log.ts';
import { createMetrics, type Metrics, metricValue } from '../platform/metrics.ts';
import { retry } from '../platform/retry.ts';
import { encodeContext } from '../proto/wire/frame.ts';
import { encodeFrame } from '../proto/wire/frame-writer.ts';
import { encodeChange } from '../proto/wire/profile-change.ts';
import { compiledWorker } from '../test/harness/compiled-entries.ts';
import { noWebhooks } from '../test/harness/models/webhook-records.ts';
import { asOperator } from '../test/harness/servers/broker.ts';
import { useBroker, useEngine } from '../test/harness/servers/use-servers.ts';
import { identify } from '../test/harness/services/profile-shard.ts';
import { type Pipeline, startPipeline } from './start.ts';

const shards = 2;
const broker = useBroker();
const engine = useEngine();
let nats: NatsConnection;
let manager: JetStreamManager;
let clickhouse: DatabaseClient;
let running: Pipeline[] = [];
/** Each test has a project of its own, so that all tests can share the tables. */
let project = '';

beforeAll(async () => {
  const log = createLog('silent');
  nats = await connectBroker(broker.url, log);
  manager = await nats.jetstreamManager();
  clickhouse = createClickHouse(engine.url, { log, maxConnections: 8 });
  await makeStreams();
});

async function makeStreams(): Promise<void> {
  await ensureTopology(nats, { eventsMaxBytes: 256 * 1_048_576, shards });
}

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
    clickhouse: oneGroup(clickhouse),
    shards,
    threads: 1,
    seenMaxBytes: 64 * 1_048_576,
    webhooks: noWebhooks,
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
  await publish(eventsSubject(shardOf(to, shards)), frame);
}

async function identifySomebody(): Promise<void> {
  const context = { projectId: project, credential: 'public', receiveTimeMs: Date.now() } as const;
  const body = encodeChange(identify(randomUUID(), []));
  const frame = encodeFrame([{ context: encodeContext(context), body, events: 1 }]);
  await publish(profilesSubject(shardOf(project, shards)), frame);
}

async function publish(subject: string, frame: Uint8Array): Promise<void> {
  const signal = AbortSignal.timeout(30_000);
  const publishing = () => nats.jetstream({ timeout: 5_000 }).publish(subject, frame);
  await retry(publishing, { signal, baseMs: 10, capMs: 100 });
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
    const counts = [0, 1].flatMap((shard) => [
      messagesIn(eventsStream(shard)),
      messagesIn(profilesStream(shard)),
    ]);
    return (await Promise.all(counts)).every((count) => count === 0);
  });
}

/** Whether a pipeline has all messages of the stream. */
async function isDelivered(stream: string): Promise<boolean> {
  return (await manager.consumers.info(stream, writerConsumer)).num_pending === 0;
}

async function messagesIn(stream: string): Promise<number> {
  return (await manager.streams.info(stream)).state.messages;
}

/** Until then a batch asks the engine before it is promised. */
async function untilLoaded(metrics: Metrics): Promise<void> {
  await until(
    async () => (await metricValue(metrics, 'millrace_pipeline_loading', shardLabel())) === 0,
  );
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
    // A batch that its grace cuts off may be stored and have no ack.
    const { pipeline, stop } = await start({ stopGraceMs: 120_000 });
    await until(async () => pipeline.ready());
    for (let n = 0; n < 50; n++) await send(Array.from({ length: 20 }, () => event()));
    await stop();
    const [[stored]] = (await rows('count()')) as [[string]];
    const stream = eventsStream(shardOf(project, shards));
    // The broker deletes an acknowledged message a moment later.
    await until(async () => Number(stored) + 20 * (await messagesIn(stream)) === 1_000);
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
    const nobody = encodeFrame([{ context: 'null', body: Buffer.from('{}'), events: 1 }]);
    await publish(eventsSubject(shardOf(project, shards)), nobody);
    await send([event()]);
    await untilRows(2);
    await untilIdle();
    expect(await outcome(metrics, 'dead_letter')).toBe(2);
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
      { subject, reason: 'request_unreadable', project: '', event: '', content: '{}' },
    ]);
    await stop();
  });

  it('waits for an engine that is gone, reports it, and stores every event once it is back', async () => {
    let aheadMs = 0;
    const clock = { nowMs: () => Date.now() + aheadMs };
    const { pipeline, metrics, stop } = await start({ clock });
    await until(async () => pipeline.ready());
    await untilLoaded(metrics);
    await engine.kill9();
    await send(Array.from({ length: 100 }, () => event()));
    await identifySomebody();
    await until(
      async () =>
        (await metricValue(metrics, 'millrace_pipeline_insert_failures', shardLabel())) > 1,
    );
    expect(pipeline.state()).toContain('inserting');
    await send(Array.from({ length: 100 }, () => event()));
    const gauge = (name: string) => metricValue(metrics, `millrace_pipeline_${name}`, shardLabel());
    aheadMs = 60_000;
    await until(async () => (await gauge('lag_seconds')) > 60);
    await until(async () => (await gauge('profile_lag_seconds')) > 60);
    // The lag grows between two answers of the broker, which may have been asked before the second message came.
    await until(async () => (await gauge('queued_messages')) === 2);
    expect(await gauge('profile_queued_messages')).toBe(1);
    const profileState = 'millrace_pipeline_profile_writer_state';
    // It loads the profiles of the batch, and has promised nothing.
    const waiting = { ...shardLabel(), state: 'waiting' };
    expect(await metricValue(metrics, profileState, waiting)).toBe(1);
    await engine.restart();
    await untilRows(200);
    await untilIdle();
    expect(await metricValue(metrics, 'millrace_pipeline_insert_failures', shardLabel())).toBe(0);
    expect(await rows('count(), uniqExact(event_id)')).toEqual([['200', '200']]);
    await until(async () => (await gauge('lag_seconds')) === 0);
    await stop();
  });

  it('ends within its grace where the engine is gone, and the next one finishes its batch', async () => {
    const { pipeline, metrics, stop } = await start({ stopGraceMs: 300 });
    await until(async () => pipeline.ready());
    await untilLoaded(metrics);
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

  it('deletes what a killed broker has kept of messages that are stored', async () => {
    const shard = shardOf(project, shards);
    const streams = [eventsStream(shard), profilesStream(shard)];
    const first = await start();
    await Promise.all([send([event()]), identifySomebody()]);
    await untilRows(1);
    // An emptied stream begins a new file. For half a minute the broker does not write which of its messages are acked.
    await untilIdle();
    engine.pause();
    for (let n = 0; n < 30; n++) await Promise.all([send([event()]), identifySomebody()]);
    for (const stream of streams) await until(() => isDelivered(stream));
    const stopped = first.stop();
    // A broker whose stream is empty when it is killed forgets nothing, so a message stays.
    await Promise.all([send([event()]), identifySomebody()]);
    engine.resume();
    await stopped;
    for (const stream of streams) await until(async () => (await messagesIn(stream)) === 1);
    await broker.kill9();
    await broker.restart();
    for (const stream of streams) {
      await until(() => messagesIn(stream).then(Boolean, () => false));
      expect(await messagesIn(stream)).toBeGreaterThan(1);
    }
    const { metrics, stop } = await start();
    // The broker delivers again after a minute.
    for (const stream of streams) {
      await expect.poll(() => messagesIn(stream)).toBe(0);
    }
    for (const name of ['queued_bytes', 'profile_queued_bytes']) {
      await until(async () => {
        return (await metricValue(metrics, `millrace_pipeline_${name}`, shardLabel())) === 0;
      });
    }
    expect(await rows('count(), uniqExact(event_id)')).toEqual([['32', '32']]);
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

  it('is not ready while a failed writer waits to start again, and logs starts, batches and ends', async () => {
    const shard = shardOf(project, shards);
    const lines: Record<string, unknown>[] = [];
    const readyAtFailure: boolean[] = [];
    const write = (text: string) => {
      const line: Record<string, unknown> = JSON.parse(text);
      lines.push(line);
      if (line['msg'] === 'the writer failed and starts again') {
        readyAtFailure.push(pipeline.ready());
      }
    };
    const logged = (msg: string, writer = 'events') =>
      lines.filter((line) => line['msg'] === msg && line['writer'] === writer);
    const { pipeline, stop } = await start({ log: pino({ level: 'debug' }, { write }) });
    await until(async () => pipeline.ready());
    const twice = event();
    await Promise.all([send([twice, event(), twice]), identifySomebody()]);
    await untilIdle();
    const batch = { level: 20, shard, seqs: [[expect.any(Number), expect.any(Number)]] };
    const anyMs = expect.any(Number);
    const waitsMs = { build: anyMs, turn: anyMs, promise: anyMs, insert: anyMs, finish: anyMs };
    expect(logged('batch.done')).toMatchObject([{ ...batch, rows: 2, dropped: 1, waitsMs }]);
    expect(logged('batch.done', 'profiles')).toMatchObject([{ ...batch, rows: 1 }]);
    // The next message has a sequence that is done, of another stream.
    await asOperator(broker, async ({ streams }) => {
      for (const name of [eventsStream(shard), 'KV_instance']) await streams.delete(name);
    });
    await makeStreams();
    await send([event()]);
    await untilRows(3);
    await stop();
    expect(readyAtFailure).toEqual([false]);
    expect(logged('writing a shard')).toHaveLength(shards + 1);
    for (const writer of ['events', 'profiles']) {
      const ends = logged('the writer has ended', writer);
      expect(ends).toHaveLength(shards);
      expect(ends[0]).toMatchObject({ level: 30, kind: 'stopped' });
    }
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
