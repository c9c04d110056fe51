// A small request of each family, in the form that its SDK sends: what is queued, and the answer that the SDK takes for
// success. posthog.test.ts has what is the same for all.

import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { changeProject } from '../../control/projects/project-record.ts';
import { systemClock } from '../../platform/clock.ts';
import { type CompatFamily, compatFamilies } from '../../platform/compat/compat-families.ts';
import {
  type IngestService,
  startIngestService,
} from '../../test/harness/services/ingest-service.ts';

const nowMs = Date.parse('2026-11-27T22:37:58Z');

let service: IngestService;
beforeAll(async () => {
  service = await startIngestService({ clock: { nowMs: () => nowMs } });
  await takeOnly(...compatFamilies);
});
afterAll(() => service.stop());

async function takeOnly(...families: CompatFamily[]): Promise<void> {
  await changeProject(service.projects, service.projectId, systemClock, (project) => ({
    ...project,
    compat: families,
  }));
}

interface Answer {
  status: number;
  text: string;
  /** What the request queued. */
  events: Record<string, unknown>[];
  changes: Record<string, unknown>[];
}

async function queued(stream: string): Promise<Buffer[]> {
  return (await service.queued(stream)).map(({ body }) => Buffer.from(body));
}

async function send(path: string, init: RequestInit = {}): Promise<Answer> {
  const before = [await queued('EVENTS_0'), await queued('PROFILES_0')];
  const response = await fetch(service.baseUrl + path, init);
  const text = await response.text();
  const [events, changes] = [await queued('EVENTS_0'), await queued('PROFILES_0')];
  return {
    ...{ status: response.status, text },
    events: events
      .slice(before[0]?.length)
      .flatMap((body): Record<string, unknown>[] => JSON.parse(body.toString()).events),
    changes: changes.slice(before[1]?.length).map((body) => JSON.parse(body.toString())),
  };
}

const post = (path: string, body: unknown, headers: Record<string, string> = {}) =>
  send(path, {
    method: 'POST',
    headers,
    body: typeof body === 'string' ? body : JSON.stringify(body),
  });

const basic = () => ({ authorization: `Basic ${btoa(`${service.publicKey}:`)}` });
const base64 = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64');
const time = '2026-11-27T22:37:48.846Z';
const timeMs = Date.parse(time);
const properties = { s: 'text é', i: 7, f: 1.5, b: true, n: null, o: { k: 1 } };
const typed = {
  s: { stringValue: 'text é' },
  i: { intValue: '7' },
  f: { doubleValue: 1.5 },
  b: { boolValue: true },
  o: { stringValue: '{"k":1}' },
};
const textless = { toString: 1, valueOf: 1 };
const named = { $name: { stringValue: 'signed up' } };

describe('Segment and those who send its messages', () => {
  const message = {
    ...{ type: 'track', event: 'signed up', properties, anonymousId: 'anon-1', userId: null },
    ...{ messageId: 'ajs-next-1-2c01', timestamp: time, sentAt: time },
    context: {
      page: { url: 'http://shop.test/page', path: '/page', referrer: 'http://ref.test/a' },
      campaign: { source: 'news' },
      timezone: 'Europe/Berlin',
    },
  };

  it('Segment: one message as text, with the key twice', async () => {
    const body = { ...message, writeKey: service.publicKey };
    const sent = await post('/v1/t', body, { ...basic(), 'content-type': 'text/plain' });
    expect(sent).toMatchObject({ status: 200, text: '{"success":true}', changes: [] });
    expect(sent.events).toEqual([
      {
        eventId: expect.stringMatching(/^[\da-f]{8}-[\da-f]{4}-5/),
        ...{ kind: 'signed_up', occurTime: time, distinctId: 'anon-1', customProperties: typed },
        autoProperties: {
          ...named,
          $url: { stringValue: 'http://shop.test/page' },
          $pathname: { stringValue: '/page' },
          $referrer: { stringValue: 'http://ref.test/a' },
          $utmSource: { stringValue: 'news' },
          $timezone: { stringValue: 'Europe/Berlin' },
        },
      },
    ]);
  });

  it('Segment: a batch with persons and groups, and an alias of nobody', async () => {
    const batch = [
      { type: 'identify', userId: 'user1', anonymousId: 'anon-1', traits: { plan: 'pro' } },
      { type: 'alias', userId: 'user1', previousId: 'user1' },
      { type: 'alias', userId: 'user1', previousId: 'old' },
      { type: 'group', userId: 'user1', groupId: 'acme', traits: { n: 1 }, timestamp: time },
    ];
    const sent = await post('/v1/batch', { batch, writeKey: service.publicKey }, basic());
    expect(sent.changes).toEqual([
      {
        ...{ kind: 'identify', externalId: 'user1', anonymousId: 'anon-1', deviceId: '' },
        traits: [['plan', '"pro"']],
      },
      { kind: 'alias', previousId: 'old', externalId: 'user1' },
      expect.objectContaining({ traits: [['$group_group', '"acme"']] }),
    ]);
    expect(sent.events).toMatchObject([{ kind: 'group', customProperties: { n: {} } }]);
  });

  it('Segment: settings say where its events go', async () => {
    const { status, text } = await send(`/v1/projects/${service.publicKey}/settings`);
    const host = new URL(service.baseUrl).host;
    const own = { apiKey: service.publicKey, apiHost: `${host}/v1`, protocol: 'http' };
    expect(status).toBe(200);
    expect(JSON.parse(text)).toMatchObject({ integrations: { 'Segment.io': own } });
  });

  it('RudderStack: told by its channel, with a visit that its visitor shares with nobody', async () => {
    const context = { sessionId: 1795819064726, traits: { plan: 'pro' }, timezone: 'GMT+0000' };
    const own = { ...message, channel: 'web', userId: '', originalTimestamp: time, context };
    await takeOnly('rudderstack');
    const first = await post('/v1/track', { ...own, timestamp: undefined }, basic());
    const second = await post('/v1/track', { ...own, anonymousId: 'anon-2' }, basic());
    const past = '2026-11-26T10:00:00Z';
    const told = await post('/v1/track', { ...own, timestamp: past }, basic());
    expect(told.events).toMatchObject([{ occurTime: new Date(past).toISOString() }]);
    const identify = { type: 'identify', channel: 'web', userId: 'user1', context };
    const person = await post('/v1/identify', identify, basic());
    await takeOnly(...compatFamilies);
    expect(first.events).toMatchObject([{ kind: 'signed_up', occurTime: time }]);
    expect(first.events[0]?.['sessionId']).toMatch(/^[\da-f]{8}-[\da-f]{4}-5/);
    expect(second.events[0]?.['sessionId']).not.toBe(first.events[0]?.['sessionId']);
    expect(person.changes).toMatchObject([{ traits: [['plan', '"pro"']] }]);
    const { text } = await send(`/sourceConfig/?writeKey=${service.publicKey}`);
    expect(JSON.parse(text)).toMatchObject({ source: { enabled: true } });
  });

  it('RudderStack: a beacon, with its key in the address', async () => {
    const batch = [{ ...message, channel: 'web', originalTimestamp: time, timestamp: undefined }];
    const path = `/beacon/v1/batch?writeKey=${service.publicKey}`;
    const sent = await post(path, { batch, sentAt: time }, { 'content-type': 'text/plain' });
    expect(sent).toMatchObject({
      ...{ status: 200, events: [{ kind: 'signed_up', occurTime: time, distinctId: 'anon-1' }] },
    });
  });

  it('Jitsu: a key in a header of its own', async () => {
    const headers = { 'x-write-key': `${service.publicKey}:secret` };
    const sent = await post('/api/s/track', { ...message, type: undefined }, headers);
    expect(sent).toMatchObject({ status: 200, text: '{"ok":true}' });
    expect(sent.events).toMatchObject([{ kind: 'signed_up', customProperties: typed }]);
  });
});

it('Mixpanel: forms of base64, persons, and a GET of Node', async () => {
  const token = service.publicKey;
  const event = {
    event: 'signed up',
    properties: {
      ...{ token, distinct_id: '$device:d1', $insert_id: 'xu8xe2riuz6sccl9' },
      ...{ time: timeMs / 1_000, ...properties },
    },
  };
  const identify = {
    event: '$identify',
    properties: { token, distinct_id: 'user1', $anon_distinct_id: '$device:d1', time: timeMs },
  };
  const form = `data=${encodeURIComponent(base64([event, identify]))}`;
  const sent = await post('/track/?verbose=1&ip=1', form, { 'content-type': 'text/plain' });
  expect(sent).toMatchObject({ status: 200, text: '1' });
  expect(sent.events).toMatchObject([
    { kind: 'signed_up', occurTime: time, distinctId: '$device:d1', customProperties: typed },
    { kind: 'identify', occurTime: time, distinctId: 'user1' },
  ]);
  expect(sent.changes).toMatchObject([{ externalId: 'user1', anonymousId: '$device:d1' }]);
  const people = [
    { $set: { plan: 'pro' }, $token: token, $distinct_id: 'user1' },
    { $set_once: { source: 'news' }, $token: token, $distinct_id: 'user2' },
  ];
  const engaged = await post('/engage/', `data=${encodeURIComponent(base64(people))}`);
  expect(engaged.changes).toHaveLength(2);
  expect(engaged.changes).toEqual(
    expect.arrayContaining([
      expect.objectContaining({ externalId: 'user1', traits: [['plan', '"pro"']] }),
      expect.objectContaining({ externalId: 'user2', traitsOnce: [['source', '"news"']] }),
    ]),
  );
  const got = await send(`/track?ip=0&data=${encodeURIComponent(base64(event))}`);
  expect(got).toMatchObject({ status: 200, text: '1' });
  expect(got.events[0]?.['eventId']).toBe(sent.events[0]?.['eventId']);
});

it('Amplitude: a code in every answer, and a device that its user owns', async () => {
  const event = {
    ...{ event_type: '[Amplitude] Page Viewed', device_id: 'd1', user_id: 'user1', time: timeMs },
    ...{ session_id: 1795819165851, insert_id: '1bc419f7-1531-4ac3-97d0-877720144297' },
    ...{ event_properties: { '[Amplitude] Page Location': 'http://shop.test/' }, ip: '$remote' },
    groups: { company: 'acme' },
  };
  const body = { api_key: service.publicKey, events: [event, 7], client_upload_time: time };
  const sent = await post('/2/httpapi', body);
  expect(sent.status).toBe(200);
  expect(JSON.parse(sent.text)).toMatchObject({ code: 200, events_ingested: 1 });
  expect(sent.events).toMatchObject([
    {
      ...{ eventId: event.insert_id, kind: 'page_view', distinctId: 'user1', occurTime: time },
      autoProperties: {
        $url: { stringValue: 'http://shop.test/' },
        $group_company: { stringValue: 'acme' },
        $name: { stringValue: '[Amplitude] Page Viewed' },
      },
    },
  ]);
  expect(sent.changes).toMatchObject([{ externalId: 'user1', anonymousId: 'd1' }]);
  const nobody = `pub_${'0'.repeat(42)}`;
  for (const path of ['/2/httpapi', '/batch']) {
    const refused = await post(path, { ...body, api_key: nobody });
    expect(JSON.parse(refused.text)).toMatchObject({ code: 401 });
  }
  const operations = { $set: { plan: 'pro' }, $setOnce: { source: 'news' } };
  const identify = { ...event, event_type: '$identify', user_properties: operations, groups: {} };
  const named = await post('/2/httpapi', { ...body, events: [identify] });
  expect(named.changes).toMatchObject([
    { traits: [['plan', '"pro"']], traitsOnce: [['source', '"news"']] },
  ]);
  const form = new URLSearchParams({ client: service.publicKey, e: JSON.stringify([event]) });
  const ofForm = await post('/httpapi', form.toString(), {
    'content-type': 'application/x-www-form-urlencoded; charset=UTF-8',
  });
  expect(ofForm).toMatchObject({
    ...{ status: 200, text: 'success', events: [{ eventId: event.insert_id, kind: 'page_view' }] },
  });
  const refused = await post('/2/httpapi', { ...body, api_key: 'none' });
  expect([refused.status, JSON.parse(refused.text)]).toMatchObject([401, { code: 401 }]);
});

describe('counters of sites', () => {
  it('Plausible: properties as an object or as a text, revenue, engagement', async () => {
    const own = { n: 'signed up', d: service.publicKey, u: 'http://shop.test/page' };
    const first = await post('/api/event', {
      ...{ ...own, p: JSON.stringify(properties) },
      $: { amount: 12.5, currency: 'EUR' },
    });
    expect(first).toMatchObject({ status: 202, text: 'ok' });
    expect(first.events).toMatchObject([
      {
        ...{ kind: 'signed_up', cookieless: true, occurTime: new Date(nowMs).toISOString() },
        customProperties: {
          ...typed,
          amount: { doubleValue: 12.5 },
          currency: { stringValue: 'EUR' },
        },
      },
    ]);
    const left = await post('/api/event', { ...own, n: 'engagement', e: 5_113, sd: 100 });
    expect(left.events).toMatchObject([
      { kind: 'page_leave', customProperties: { engaged_ms: { intValue: '5113' } } },
    ]);
  });

  // Such an object throws where it is made a text or a number.
  it.each([
    ['Plausible', '/api/event', { $: { amount: textless, currency: 'EUR' } }],
    ['OpenPanel', '/track', { type: 'track', payload: { name: 'bought', groups: [textless] } }],
  ])('%s: takes an object in the place of a text', async (_family, path, members) => {
    const headers = path === '/track' ? { 'openpanel-client-id': service.publicKey } : {};
    const body = { n: 'bought', d: service.publicKey, u: 'http://shop.test/', ...members };
    const { status, events } = await post(path, body, headers);
    expect([status < 300, events]).toEqual([true, [expect.objectContaining({ kind: 'bought' })]]);
  });

  it('Umami: page views, events and persons', async () => {
    const website = service.publicKey;
    const view = { website, hostname: 'shop.test', url: '/page', title: 'Shop' };
    const viewed = await post('/api/send', { type: 'event', payload: view });
    expect(viewed).toMatchObject({ status: 200, text: '{"cache":"millrace"}' });
    expect(viewed.events).toMatchObject([
      { kind: 'page_view', autoProperties: { $url: { stringValue: 'https://shop.test/page' } } },
    ]);
    const payload = { website, id: 'user1', data: { plan: 'pro' } };
    const described = await post('/api/send', { type: 'identify', payload });
    expect(described.changes).toMatchObject([{ externalId: 'user1' }]);
  });

  it.each([
    ['A%20shop%3A%2050%25%20off', 'A shop: 50% off'],
    ['A shop: 50% off', 'A shop: 50% off'],
    ['50%AF', '50%AF'],
  ])('Umami: the tracker escapes a title, %s, and an address twice', async (title, meant) => {
    const website = service.publicKey;
    const view = { website, hostname: 'shop.test', url: '/a%2520b', title };
    const { events } = await post('/api/send', { type: 'event', payload: view });
    expect(events).toMatchObject([
      {
        autoProperties: { $url: { stringValue: 'https://shop.test/a%20b' } },
        customProperties: { title: { stringValue: meant } },
      },
    ]);
  });

  it('OpenPanel: always 200 with JSON, also where nothing can be read', async () => {
    const headers = { 'openpanel-client-id': service.publicKey };
    const view = { name: 'screen_view', properties: { __path: 'http://shop.test/', a: 1 } };
    const viewed = await post('/track', { type: 'track', payload: view }, headers);
    expect(viewed).toMatchObject({ status: 200, text: '{"deviceId":"","sessionId":""}' });
    expect(viewed.events).toMatchObject([{ kind: 'page_view', cookieless: true }]);
    const person = { profileId: 'user1', firstName: 'A', properties: { plan: 'pro' } };
    const named = await post('/track', { type: 'identify', payload: person }, headers);
    expect(named.changes).toMatchObject([
      {
        traits: [
          ['firstName', '"A"'],
          ['plan', '"pro"'],
        ],
      },
    ]);
    const grouped = { profileId: 'user1', groupIds: ['acme'] };
    const member = await post('/track', { type: 'assign_group', payload: grouped }, headers);
    expect(member.changes).toMatchObject([{ traits: [['$group_group', '"acme"']] }]);
    const inGroup = { name: 'in group', profileId: 'user1', groups: ['acme'] };
    const { events } = await post('/track', { type: 'track', payload: inGroup }, headers);
    expect(events).toMatchObject([{ autoProperties: { $group_group: { stringValue: 'acme' } } }]);
    expect(await post('/track', '{', headers)).toMatchObject({ status: 200, events: [] });
  });

  it('Matomo: one hit in an address, and a list', async () => {
    const site = `idsite=${service.publicKey}&rec=1`;
    const hit = await send(`/matomo.php?url=http%3A%2F%2Fx%2F&uid=u1&e_c=cat&e_a=act&${site}`);
    expect(hit.events).toMatchObject([{ kind: 'act', distinctId: 'u1' }]);
    const requests = [`?url=http%3A%2F%2Fx%2F1&${site}`, 7, `?uid=u1&${site}`];
    const list = await post('/matomo.php', { requests });
    expect(list.events).toMatchObject([
      { kind: 'page_view', cookieless: true },
      { distinctId: 'u1' },
    ]);
  });

  it('Matomo: a form as its script sends it, of which a ping is no view and an order a purchase', async () => {
    const site = `idsite=${service.publicKey}&rec=1&_id=0123456789abcdef`;
    const type = { 'content-type': 'application/x-www-form-urlencoded; charset=UTF-8' };
    const form = `action_name=A%20shop&url=http%3A%2F%2Fx%2F&uid=u2&${site}`;
    const viewed = await post('/matomo.php?', form, type);
    expect(viewed).toMatchObject({
      status: 200,
      events: [
        {
          ...{ kind: 'page_view', distinctId: 'u2' },
          customProperties: { title: { stringValue: 'A shop' } },
        },
      ],
      changes: [{ kind: 'identify', externalId: 'u2', anonymousId: '0123456789abcdef' }],
    });
    expect((await post('/matomo.php?', `ping=1&${form}`, type)).events).toEqual([]);
    const order = `idgoal=0&ec_id=o1&revenue=9.5&ec_items=%5B%5D&${site}`;
    expect((await post('/piwik.php', order, type)).events).toMatchObject([
      { kind: 'purchase', customProperties: { order_id: {}, amount: {} } },
    ]);
    expect(await post('/matomo.php', `a=${'&'.repeat(300_000)}&${site}`)).toMatchObject({
      ...{ status: 413, events: [] },
    });
  });

  it('GA4: hits of one request, each a line of its body', async () => {
    const common = `v=2&tid=${service.publicKey}&cid=c2&sid=77&uid=u3&dl=http%3A%2F%2Fshop.test%2F`;
    const lines = 'en=page_view&up.plan=pro&upn.seats=3\r\nen=scroll&epn.percent=90&_et=12\r\n';
    const hits = await post(`/g/collect?${common}`, lines, { 'content-type': 'text/plain' });
    expect(hits).toMatchObject({
      status: 200,
      events: [
        { kind: 'page_view', distinctId: 'u3', autoProperties: { $url: {} } },
        { kind: 'scroll', customProperties: { percent: { intValue: '90' }, engaged_ms: {} } },
      ],
      changes: [
        {
          traits: [
            ['plan', '"pro"'],
            ['seats', '3'],
          ],
        },
      ],
    });
    const odd = [{ toString: 1 }, 7];
    expect((await post(`/g/collect?${common}`, odd)).events).toEqual([]);
    const many = await post(`/g/collect?${common}`, 'en=scroll\n'.repeat(10_000));
    expect(many.events).toHaveLength(25);
    expect((await post(`/g/collect?${common}`, Array(100).fill('en=scroll'))).events).toHaveLength(
      25,
    );
  });

  it('GA4: hits of pages, and the protocol of servers', async () => {
    const tid = service.publicKey;
    const query = `tid=${tid}&cid=c1&sid=76&dl=http%3A%2F%2Fshop.test%2F&en=signed_up&epn.i=7&ep.s=text`;
    const hit = await post(`/g/collect?${query}`, '');
    expect(hit.events).toMatchObject([
      {
        ...{ kind: 'signed_up', distinctId: 'c1' },
        customProperties: { i: { intValue: '7' }, s: { stringValue: 'text' } },
      },
    ]);
    const events = [{ name: 'purchase', params: { value: 12.5, currency: 'EUR' } }];
    const body = { client_id: 'c1', user_id: 'u1', timestamp_micros: timeMs * 1_000, events };
    const sent = await post(`/mp/collect?measurement_id=${tid}`, body);
    expect(sent.events).toMatchObject([
      { distinctId: 'u1', occurTime: time, customProperties: { amount: { doubleValue: 12.5 } } },
    ]);
  });

  it('Rybbit: told from others of its path by the site', async () => {
    const own = { site_id: service.publicKey, hostname: 'shop.test', pathname: '/page' };
    const event = { type: 'custom_event', event_name: 'signed up' };
    const text = JSON.stringify(properties);
    const sent = await post('/api/track', { ...own, ...event, properties: text });
    expect(sent.events).toMatchObject([{ kind: 'signed_up', customProperties: typed }]);
    const node = await post('/track', { site_id: service.publicKey, ...event, i: 7 });
    expect(node.events).toMatchObject([{ customProperties: { i: { intValue: '7' } } }]);
    const person = { site_id: service.publicKey, user_id: 'user1', traits: { plan: 'pro' } };
    expect((await post('/api/identify', person)).changes).toMatchObject([{ externalId: 'user1' }]);
    expect(await send('/api/site/tracking-config/5')).toMatchObject({ status: 200 });
  });
});

it('Snowplow: flat events, with JSON in texts or in base64', async () => {
  const self = { schema: 'iglu:com.acme/signed_up/jsonschema/1-0-0', data: properties };
  const item = {
    ...{ e: 'ue', eid: '8fce4977-b52f-46d7-901f-df693893a5a0', aid: service.publicKey },
    ...{ duid: 'd1', sid: '44dd71ef-064a-4ff3-80e5-9ef7e25db309', dtm: String(timeMs) },
  };
  const data = [
    { ...item, ue_pr: JSON.stringify({ data: self }) },
    { ...item, uid: 'u1', ue_px: base64({ data: self }) },
  ];
  const sent = await post('/com.snowplowanalytics.snowplow/tp2', { schema: 'iglu:x', data });
  expect(sent).toMatchObject({ status: 200 });
  expect(sent.events).toMatchObject([
    {
      ...{ eventId: item.eid, sessionId: item.sid, kind: 'signed_up', distinctId: 'd1' },
      ...{ occurTime: time, customProperties: typed },
    },
    { distinctId: 'u1', customProperties: typed },
  ]);
});
