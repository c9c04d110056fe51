// What a project excludes is accepted, counted by rule and never queued, by every way in; the rest is queued as it was
// sent, and all numbers add up.

import { BlockList } from 'node:net';
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { changeProject } from '../../control/projects/project-record.ts';
import { systemClock } from '../../platform/clock.ts';
import { hearLive } from '../../platform/live/live-messages.ts';
import { allRefused } from '../../platform/live/live-subjects.ts';
import type { Exclusions } from '../../platform/senders/exclusions.ts';
import { decodeExclusions } from '../../proto/wire/live/exclusion-message.ts';
import { eventually, newEvent } from '../../test/harness/clients/client.ts';
import {
  type IngestService,
  startIngestService,
} from '../../test/harness/services/ingest-service.ts';

const trustedProxies = new BlockList();
trustedProxies.addSubnet('127.0.0.0', 8, 'ipv4');
const start = () =>
  startIngestService({
    caller: {
      trustedProxies,
      proxyHops: 1,
      botScoreHeader: 'cf-bot-score',
      verifiedBotHeader: 'cf-verified-bot',
      locate: (address) => (address.startsWith('198.') ? { country: 'FR' } : undefined),
    },
  });

let service: IngestService;
beforeAll(async () => {
  service = await start();
});
afterAll(() => service?.stop());

const nothing: Exclusions = { networks: [], paths: [], countries: [], userAgents: [] };
const batchCreate = 'sdk.events.v1.EventsService/BatchCreate';
const shortCreate = 'events.v1.EventsService/BatchCreate';
const identify = 'sdk.profiles.v1.ProfilesSDKService/Identify';

function exclude(exclusions: Partial<Exclusions>, { projects, projectId } = service) {
  return changeProject(projects, projectId, systemClock, (project) => ({
    ...project,
    exclusions: { ...nothing, ...exclusions },
    compat: ['posthog'],
  }));
}

interface From {
  address?: string;
  agent?: string;
  key?: string;
  url?: string;
}

async function send(path: string, body: object, from: From = {}): Promise<Record<string, unknown>> {
  const response = await fetch(`${from.url ?? service.baseUrl}/${path}`, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      'x-api-key': from.key ?? service.publicKey,
      'user-agent': from.agent ?? 'Mozilla/5.0',
      'x-forwarded-for': from.address ?? '203.0.113.9',
    },
    body: JSON.stringify(body),
  });
  expect(response.status).toBe(200);
  const answer: Record<string, unknown> = JSON.parse(await response.text());
  return answer;
}

const onPath = (path: string, more = {}) =>
  newEvent({
    autoProperties: { $url: { stringValue: `https://shop.example${path}?a=/b` } },
    ...more,
  });

let before = 0;
beforeEach(async () => {
  before = (await service.queued()).length;
});

/** The events of the requests that a test queued: by their ids, and as the frames count them. */
async function queued(): Promise<{ ids: string[]; counted: number }> {
  const requests = (await service.queued()).slice(before);
  const events = requests.flatMap(({ body }) => JSON.parse(Buffer.from(body).toString()).events);
  return {
    ids: events.map(({ eventId }) => eventId),
    counted: requests.reduce((sum, { events: count }) => sum + count, 0),
  };
}

const cases: [string, Partial<Exclusions>, From, string][] = [
  [
    'an IPv4 network',
    { networks: ['192.0.2.0/24'] },
    { address: '192.0.2.77' },
    'excluded_network',
  ],
  [
    'an address, mapped',
    { networks: ['192.0.2.77/32'] },
    { address: '::ffff:192.0.2.77' },
    'excluded_network',
  ],
  [
    'an IPv6 network',
    { networks: ['2001:db8::/32'] },
    { address: '2001:DB8:1::2' },
    'excluded_network',
  ],
  ['a country', { countries: ['FR'] }, { address: '198.51.100.1' }, 'excluded_country'],
  [
    'a user agent',
    { userAgents: ['headlesschrome'] },
    { agent: 'X HeadlessChrome/1' },
    'excluded_user_agent',
  ],
];

it.each(cases)('leaves out whole requests by %s', async (_, exclusions, from, rule) => {
  await exclude(exclusions);
  const events = [newEvent(), newEvent()];
  for (const url of [service.baseUrl, service.nodeUrl, service.routerUrl]) {
    const answer = await send(batchCreate, { events }, { ...from, url });
    expect(answer).toEqual({ accepted: 0, dropped: 2, droppedByReason: { [rule]: 2 } });
  }
  const short = await send(shortCreate, { events: [{ name: 'a', properties: {} }] }, from);
  expect(short).toEqual({ eventsCreated: 0 });
  await send('e/', { api_key: service.publicKey, batch: [{ event: 'a', distinct_id: 'b' }] }, from);
  expect(await queued()).toEqual({ ids: [], counted: 0 });
  expect(await send(batchCreate, { events })).toEqual({ accepted: 2 });
  expect(await send(batchCreate, { events }, { ...from, key: service.privateKey })).toEqual({
    accepted: 2,
  });
  expect((await queued()).counted).toBe(4);
});

it('leaves out events by the paths of their pages, and queues the rest of a request unchanged', async () => {
  await exclude({ paths: ['/admin/*', '*/preview', '/exact'] });
  const left = [
    onPath('/'),
    onPath('/admin', {
      customProperties: { n: { intValue: '9007199254740993' }, d: { doubleValue: 0.1 } },
    }),
    onPath('/preview/x'),
    onPath('/exact/'),
    newEvent(),
    onPath('/admin/x', {
      autoProperties: {
        $pathname: { stringValue: '/shown' },
        $url: { stringValue: 'https://a/admin/x' },
      },
    }),
  ];
  const out = [
    onPath('/admin/'),
    onPath('/admin/a/b'),
    onPath('/posts/1/preview'),
    onPath('/exact'),
  ];
  const events = [...out.slice(0, 2), ...left, ...out.slice(2)];
  for (const url of [service.baseUrl, service.nodeUrl, service.routerUrl]) {
    const answer = await send(batchCreate, { events }, { url });
    expect(answer).toEqual({ accepted: 6, dropped: 4, droppedByReason: { excluded_path: 4 } });
  }
  expect(await send(batchCreate, { events: out })).toMatchObject({ accepted: 0, dropped: 4 });
  const requests = (await service.queued()).slice(before);
  expect(requests.map(({ events: count }) => count)).toEqual([6, 6, 6]);
  for (const { body } of requests) {
    const sent = JSON.parse(Buffer.from(body).toString()).events;
    expect(sent.map(({ eventId }: { eventId: string }) => eventId)).toEqual(
      left.map(({ eventId }) => eventId),
    );
    expect(sent[1].customProperties).toEqual({
      n: { intValue: '9007199254740993' },
      d: { doubleValue: 0.1 },
    });
  }
});

it('names the cookieless visitors of the rest, whose ids a repetition makes again', async () => {
  await exclude({ paths: ['/out'] });
  const timestamp = new Date().toISOString();
  const event = (path: string) => ({ name: 'view', timestamp, properties: { $pathname: path } });
  const body = { events: [event('/out'), event('/a'), event('/out'), event('/b')] };
  const ids: string[][] = [];
  for (let time = 0; time < 2; time++) {
    before = (await service.queued()).length;
    expect(await send(shortCreate, body)).toEqual({ eventsCreated: 2 });
    const sent = await queued();
    expect(sent.counted).toBe(2);
    ids.push(sent.ids);
  }
  await exclude({});
  before = (await service.queued()).length;
  await send(shortCreate, body);
  const { ids: all } = await queued();
  expect(new Set(all).size).toBe(4);
  expect(ids).toEqual([
    [all[1], all[3]],
    [all[1], all[3]],
  ]);
});

it('takes no identity from an excluded caller, and answers as ever', async () => {
  await exclude({ networks: ['192.0.2.0/24'] });
  const changes = async () => (await service.queued('PROFILES_0')).length;
  const known = await changes();
  for (const url of [service.baseUrl, service.routerUrl]) {
    const from = { address: '192.0.2.1', url };
    expect(await send(identify, { externalId: 'ada' }, from)).toEqual({});
  }
  expect(await changes()).toBe(known);
  await send(identify, { externalId: 'ada' });
  expect(await changes()).toBe(known + 1);
});

it('tells the project’s people how many, by rule, and neither address nor path', async () => {
  const own = await start();
  await exclude({ networks: ['192.0.2.0/24'], paths: ['/secret'] }, own);
  const from = { url: own.baseUrl, key: own.publicKey };
  const told: string[] = [];
  const stop = hearLive(own.nats, allRefused, (content) => {
    if (decodeExclusions(content) !== undefined) told.push(Buffer.from(content).toString());
  });
  await own.nats.flush();
  for (let count = 0; count < 70; count++) {
    await send(
      batchCreate,
      { events: [newEvent(), newEvent()] },
      { ...from, address: '192.0.2.9' },
    );
  }
  await send(batchCreate, { events: [onPath('/secret'), newEvent()] }, from);
  const sum = (rule: string) =>
    told.reduce((total, message) => total + (JSON.parse(message).excluded[rule] ?? 0), 0);
  await eventually(
    () => Promise.resolve(sum('excluded_path')),
    (events) => events >= 1,
  );
  stop();
  await own.stop();
  expect([sum('excluded_network'), sum('excluded_path')]).toEqual([140, 1]);
  expect(told.join()).not.toMatch(/192\.|secret/);
});

it('leaves out events that are older than the project keeps any, whatever the key', async () => {
  const keep = (retentionDays: number) =>
    changeProject(service.projects, service.projectId, systemClock, (project) => ({
      ...project,
      ...{ exclusions: nothing, retentionDays },
    }));
  await keep(3);
  const dayMs = 86_400_000;
  const todayMs = Math.floor(Date.now() / dayMs) * dayMs;
  const at = (ms: number) => newEvent({ occurTime: new Date(ms).toISOString() });
  // A day beside the boundary: the day may be over before they are sent.
  const kept = [at(todayMs - 2 * dayMs), at(Date.now())];
  const old = [at(todayMs - 3 * dayMs - 1), at(todayMs - 300 * dayMs)];
  for (const url of [service.baseUrl, service.nodeUrl, service.routerUrl]) {
    const events = [...old, ...kept];
    const from = { url, key: service.privateKey };
    const answer = await send(batchCreate, { events }, from);
    expect(answer).toEqual({ accepted: 2, dropped: 2, droppedByReason: { excluded_age: 2 } });
  }
  expect(await send(batchCreate, { events: old.slice(0, 1) })).toMatchObject({
    ...{ accepted: 0, droppedByReason: { excluded_age: 1 } },
  });
  expect(await send(batchCreate, { events: kept })).toEqual({ accepted: 2 });
  const { ids } = await queued();
  expect(new Set(ids)).toEqual(new Set(kept.map(({ eventId }) => eventId)));
  await keep(0);
  const all = { url: service.baseUrl, key: service.privateKey };
  expect(await send(batchCreate, { events: old }, all)).toEqual({ accepted: 2 });
});
