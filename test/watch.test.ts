// Live views of the whole product over HTTP: each stage of an event, refusals and dead letters, the bound on viewers.

import { timestampMs } from '@bufbuild/protobuf/wkt';
import { Code, ConnectError, createClient } from '@connectrpc/connect';
import { createConnectTransport } from '@connectrpc/connect-node';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { connectBroker } from '../platform/broker/nats.ts';
import { eventsStream, eventsSubject } from '../platform/broker/streams.ts';
import { shardOf } from '../platform/broker/topology.ts';
import { createLog } from '../platform/log.ts';
import {
  ActivityService,
  type IngestHealthResponse,
  WatchStage,
} from '../proto/gen/shared/activity/v1/activity_pb.js';
import { encodeContext } from '../proto/wire/frame.ts';
import { encodeFrame } from '../proto/wire/frame-writer.ts';
import { batchCreate, call, eventually, newEvent } from './harness/clients/client.ts';
import { type Watching, watch } from './harness/clients/watch-client.ts';
import { type Stack, startStack } from './harness/servers/stack.ts';

const shards = 2;
let stack: Stack;
let key: Record<string, string>;
beforeAll(async () => {
  const env = { MILLRACE_READS_PER_SECOND: '0', MILLRACE_SHARDS: String(shards) };
  stack = await startStack({ env });
  key = { 'x-api-key': stack.privateKey };
});
afterAll(async () => {
  await stack.stop();
});

function health(request = {}): Promise<IngestHealthResponse> {
  const transport = createConnectTransport({ baseUrl: stack.baseUrl, httpVersion: '1.1' });
  return createClient(ActivityService, transport).ingestHealth(request, { headers: key });
}

/** Queues a request that ingest would have refused. */
async function publishUnreadable(event: object): Promise<void> {
  const nats = await connectBroker(stack.natsUrl, createLog('silent'));
  const context = encodeContext({
    ...{ projectId: stack.projectId, credential: 'private', receiveTimeMs: Date.now() },
    ...{ userAgent: undefined, location: undefined, botScore: undefined },
    ...{ verifiedBot: undefined, cookieless: undefined },
  });
  const body = Buffer.from(JSON.stringify({ events: [event] }));
  const subject = eventsSubject(shardOf(stack.projectId, shards));
  await nats.jetstream().publish(subject, encodeFrame([{ context, body, events: 1 }]));
  await nats.close();
}

const sum = (
  { totals }: Watching,
  name: 'arriving' | 'stored' | 'duplicates' | 'refused' | 'dead',
) => totals.reduce((all, each) => all + Number(each[name]), 0);

// First: the pipeline believes for six seconds that somebody watches.
it('is what the pipeline tells only while somebody watches', async () => {
  const nats = await connectBroker(stack.natsUrl, createLog('silent'));
  let verdicts = 0;
  nats.subscribe('watch.*', { callback: () => void verdicts++ });
  const manager = await nats.jetstreamManager();
  const stream = eventsStream(shardOf(stack.projectId, shards));
  await batchCreate(stack, [newEvent()]);
  // Its row is there before the batch is done, and its verdict would come then.
  const queue = () => manager.streams.info(stream);
  await eventually(queue, ({ state }) => state.last_seq > 0 && state.messages === 0);
  await nats.flush();
  expect(verdicts).toBe(0);
  const viewer = await watch(stack.baseUrl, key);
  const event = newEvent();
  await batchCreate(stack, [event]);
  await viewer.until(() => viewer.stagesOf(event.eventId).includes('STORED'));
  await nats.flush();
  expect(verdicts).toBe(1);
  viewer.close();
  await nats.close();
});

describe('a viewer', () => {
  it('sees each stage of an event, as it was sent, and the totals', async () => {
    const viewer = await watch(stack.baseUrl, key);
    const event = newEvent({
      kind: 'watched',
      autoProperties: { $url: { stringValue: 'https://example.com/' } },
      customProperties: { plan: { stringValue: 'gold' }, seats: { intValue: '3' } },
    });
    await batchCreate(stack, [event]);
    await viewer.until(() => viewer.stagesOf(event.eventId).includes('STORED'));
    await batchCreate(stack, [event]);
    await viewer.until(() => viewer.stagesOf(event.eventId).includes('DUPLICATE'));
    expect(viewer.stagesOf(event.eventId)).toEqual(['ARRIVING', 'STORED', 'ARRIVING', 'DUPLICATE']);
    expect(viewer.rows[0]?.event).toMatchObject({
      ...{ kind: 'watched', distinctId: 'visitor', sessionId: event.sessionId },
      autoProperties: { $url: { value: { case: 'stringValue', value: 'https://example.com/' } } },
      customProperties: { seats: { value: { case: 'intValue', value: 3n } } },
    });
    await viewer.until(() => sum(viewer, 'duplicates') === 1);
    expect([sum(viewer, 'arriving'), sum(viewer, 'stored')]).toEqual([2, 1]);
    expect(viewer.totals.at(-1)?.lag).toBeDefined();
    viewer.close();
  });

  it('sees both copies of an event that one batch holds twice', async () => {
    const viewer = await watch(stack.baseUrl, key);
    const event = newEvent();
    await batchCreate(stack, [event, event]);
    await viewer.until(() => viewer.stagesOf(event.eventId).includes('DUPLICATE'));
    expect(viewer.stagesOf(event.eventId)).toEqual(['ARRIVING', 'ARRIVING', 'STORED', 'DUPLICATE']);
    viewer.close();
  });

  it('sees a refusal with its rule and place, and never a value', async () => {
    const viewer = await watch(stack.baseUrl, key, { stages: [WatchStage.REFUSED] });
    const secret = 'a value that nobody may see';
    const bad = newEvent({ kind: 'signup', eventId: secret, distinctId: secret });
    const headers = { 'user-agent': 'shop-server/1.2.3 (ada@example.com)' };
    expect((await batchCreate(stack, [newEvent(), bad], { headers })).status).toBe(400);
    await viewer.until(() => viewer.rows.length > 0);
    const [row] = viewer.rows;
    expect(row).toMatchObject({ stage: WatchStage.REFUSED, rule: 'uuid' });
    expect(row?.refusal).toMatchObject({
      ...{ method: 'sdk.events.v1.EventsService/BatchCreate', eventIndex: 1, field: 'eventId' },
      ...{ rule: 'uuid', kind: 'signup', sdk: 'shop-server/1.2.3' },
    });
    const told = await health();
    expect(told.refusals[0]).toEqual(row?.refusal);
    expect(told.counts).toMatchObject([{ rule: 'uuid', requests: 1n }]);
    const text = (value: unknown): string =>
      JSON.stringify(value, (_, held) => (typeof held === 'bigint' ? String(held) : held));
    expect(text([viewer.rows, told])).not.toMatch(/nobody may see|ada@/);
    viewer.close();
  });

  it('is told of refusals by the router and by Identify too', async () => {
    const viewer = await watch(stack.baseUrl, key, { kinds: ['no such kind'] });
    const path = '/sdk.profiles.v1.ProfilesSDKService/Identify';
    const answer = await call(stack.baseUrl, path, stack.publicKey, { externalId: '' });
    expect(answer.status).toBe(400);
    await viewer.until(() => sum(viewer, 'refused') === 1);
    const { refusals } = await health();
    expect(refusals[0]).toMatchObject({ method: path.slice(1), kind: '' });
    expect(viewer.rows).toEqual([]);
    viewer.close();
  });

  it('sees a dead event with the reason, which IngestHealth pages through', async () => {
    const viewer = await watch(stack.baseUrl, key);
    const dead = newEvent({ kind: 'hopeless', sessionId: 'no session' });
    await publishUnreadable(dead);
    await viewer.until(() => viewer.stagesOf(dead.eventId).includes('DEAD'));
    expect(viewer.rows.at(-1)).toMatchObject({
      rule: 'session_id_invalid',
      event: { kind: 'hopeless' },
    });
    await publishUnreadable({ kind: 7 });
    await viewer.until(() => sum(viewer, 'dead') === 2);
    const first = await health({ pageSize: 1 });
    expect(first.deadLetters).toMatchObject([{ reason: 'event_id_invalid', kind: '', events: 1n }]);
    const rest = await health({ pageSize: 1, pageToken: first.nextPageToken });
    expect(rest.deadLetters).toMatchObject([
      { reason: 'session_id_invalid', kind: 'hopeless', eventId: dead.eventId },
    ]);
    expect(rest.nextPageToken).toBe('');
    viewer.close();
  });

  it('is shown the kinds and properties that it asks for', async () => {
    const viewer = await watch(stack.baseUrl, key, {
      kinds: ['order'],
      filters: [{ property: 'plan', operator: 1, value: 'gold' }],
    });
    const plan = (value: string) => ({ customProperties: { plan: { stringValue: value } } });
    const wanted = newEvent({ kind: 'order', ...plan('gold') });
    const others = [newEvent({ kind: 'order', ...plan('tin') }), newEvent(plan('gold'))];
    await batchCreate(stack, [...others, wanted]);
    await viewer.until(() => viewer.stagesOf(wanted.eventId).includes('STORED'));
    expect(viewer.rows.map(({ event }) => event?.eventId)).toEqual([
      wanted.eventId,
      wanted.eventId,
    ]);
    viewer.close();
  });
});

describe('how far a set-up has come', () => {
  it('is told by the last preflight of any page, and by nothing else that asks for options', async () => {
    const ask = (path: string, headers: Record<string, string>) =>
      fetch(stack.baseUrl + path, { method: 'OPTIONS', headers });
    const page = { origin: 'https://shop.example', 'access-control-request-method': 'POST' };
    await ask('/sdk.events.v1.EventsService/BatchCreate', { origin: page.origin });
    await ask('/shared.profiles.v1.ProfilesService/Get', page);
    // Its refusal is told after the two, over the same connection.
    const { refusals } = await health();
    await batchCreate(stack, [newEvent({ kind: 'no kind!' })]);
    const before = await eventually(health, (told) => told.refusals.length > refusals.length);
    expect(before.preflightTime).toBeUndefined();
    const startMs = Date.now();
    await ask('/sdk.events.v1.EventsService/BatchCreate', page);
    const { preflightTime } = await eventually(health, (told) => told.preflightTime !== undefined);
    const ms = preflightTime && timestampMs(preflightTime);
    expect(ms).toBeGreaterThanOrEqual(startMs);
    expect(ms).toBeLessThanOrEqual(Date.now());
  });

  it('is told by the last user who was named', async () => {
    expect((await health()).identifyTime).toBeUndefined();
    const path = '/sdk.profiles.v1.ProfilesSDKService/Identify';
    const startMs = Date.now();
    await call(stack.baseUrl, path, stack.publicKey, { externalId: 'ada' });
    const { identifyTime } = await eventually(health, (told) => told.identifyTime !== undefined);
    const ms = identifyTime && timestampMs(identifyTime);
    expect(ms).toBeGreaterThanOrEqual(startMs);
    expect(ms).toBeLessThanOrEqual(Date.now());
  });
});

it('twelve watch a project, the next is refused, and a place that is left is free', async () => {
  const viewers = await Promise.all(Array.from({ length: 12 }, () => watch(stack.baseUrl, key)));
  const refused = await watch(stack.baseUrl, key).catch((error: unknown) => error);
  expect(ConnectError.from(refused).code).toBe(Code.ResourceExhausted);
  viewers.pop()?.close();
  const again = await eventually(
    () => watch(stack.baseUrl, key).catch(() => undefined),
    (viewer) => viewer !== undefined,
  );
  for (const viewer of [...viewers, again]) viewer?.close();
});

it('refuses what it does not know', async () => {
  const path = '/shared.activity.v1.ActivityService/Watch';
  const answers: string[] = [];
  for (const message of [
    { stages: ['WATCH_STAGE_LOST'] },
    { stages: [9] },
    { samplePerSecond: 1_001 },
    {
      filters: [
        { property: 'plan', operator: 'FILTER_OPERATOR_IS_SET', source: 'PROPERTY_SOURCE_PROFILE' },
      ],
    },
  ]) {
    const json = Buffer.from(JSON.stringify(message));
    const body = Buffer.alloc(5 + json.length);
    body.writeUInt32BE(json.length, 1);
    body.set(json, 5);
    const headers = { ...key, 'content-type': 'application/connect+json' };
    const answer = await fetch(stack.baseUrl + path, { method: 'POST', headers, body });
    answers.push((await answer.text()).replace(/^[^{]*/, ''));
  }
  expect(answers.map((text) => JSON.parse(text).error)).toMatchObject([
    { code: 'invalid_argument', message: expect.stringContaining('stages[0]') },
    { code: 'invalid_argument', message: 'stages[0]: 9 is not a stage' },
    { code: 'invalid_argument', message: 'samplePerSecond: must be from 1 to 1000' },
    { code: 'invalid_argument', message: expect.stringContaining('filters[0].source') },
  ]);
});
