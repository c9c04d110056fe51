// Requests of PostHog's SDKs, from HTTP to the queue: bodies of every form, ids, persons, answers.

import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { changeProject } from '../../control/projects/project-record.ts';
import { systemClock } from '../../platform/clock.ts';
import { metricValue } from '../../platform/metrics.ts';
import {
  type IngestService,
  startIngestService,
} from '../../test/harness/services/ingest-service.ts';

let service: IngestService;
beforeAll(async () => {
  service = await startIngestService();
  await switchOn('posthog');
});
afterAll(() => service.stop());

async function switchOn(...families: string[]): Promise<void> {
  await changeProject(service.projects, service.projectId, systemClock, (project) => ({
    ...project,
    compat: families,
  }));
}

const uuid = '01a21f28-6413-7bce-b8de-bc4a473785ab';
const session = '01a21f28-4e9b-76f9-9477-821df5362dfe';

function event(members: object = {}, properties: object = {}): object {
  return {
    uuid: crypto.randomUUID(),
    event: 'signed up',
    timestamp: new Date().toISOString(),
    properties: { distinct_id: 'anon-of-sdk', $session_id: session, ...properties },
    ...members,
  };
}

const batch = (...events: unknown[]): string =>
  JSON.stringify({ api_key: service.publicKey, batch: events, sent_at: new Date().toISOString() });

async function post(
  path: string,
  body: string | Uint8Array<ArrayBuffer>,
  headers: Record<string, string> = {},
): Promise<{ status: number; text: string; headers: Headers }> {
  const response = await fetch(service.baseUrl + path, { method: 'POST', headers, body });
  return { status: response.status, text: await response.text(), headers: response.headers };
}

interface Queued {
  eventId: string;
  kind: string;
  distinctId?: string;
  sessionId?: string;
  occurTime: string;
  cookieless?: boolean;
  autoProperties: Record<string, unknown>;
  customProperties: Record<string, unknown>;
}

async function lastQueued(): Promise<Queued[]> {
  const request = (await service.queued()).at(-1);
  return JSON.parse(Buffer.from(request?.body ?? []).toString()).events;
}

async function changes(): Promise<unknown[]> {
  const requests = await service.queued('PROFILES_0');
  return requests.map(({ body }) => JSON.parse(Buffer.from(body).toString()));
}

describe('a batch', () => {
  it('keeps ids, names, times and the types of properties', async () => {
    const sent = event(
      { uuid, timestamp: '2026-11-27T22:37:50.483Z' },
      {
        ...{ s: 'text é', i: 7, f: 1.5, b: true, n: null, d: {}, a: [1, 'x'], o: { k: { z: 1 } } },
        ...{ big: 12345678901234567000, at: '2026-01-02T03:04:05.678Z', ip: '203.0.113.7' },
        ...{ $current_url: 'http://shop.test/page?utm_source=news', $browser_version: 156 },
        ...{ $referrer: '$direct', utm_source: 'news', $groups: { company: 'acme' } },
        token: service.publicKey,
      },
    );
    expect(await post('/e/', batch(sent))).toMatchObject({ status: 200, text: '{"status":1}' });
    expect(await lastQueued()).toEqual([
      {
        eventId: uuid,
        kind: 'signed_up',
        occurTime: '2026-11-27T22:37:50.483Z',
        distinctId: 'anon-of-sdk',
        sessionId: session,
        autoProperties: {
          $session_id: { stringValue: session },
          $url: { stringValue: 'http://shop.test/page?utm_source=news' },
          $browserVersion: { stringValue: '156' },
          $utmSource: { stringValue: 'news' },
          $group_company: { stringValue: 'acme' },
          $name: { stringValue: 'signed up' },
        },
        customProperties: {
          s: { stringValue: 'text é' },
          i: { intValue: '7' },
          f: { doubleValue: 1.5 },
          b: { boolValue: true },
          d: { stringValue: '{}' },
          a: { stringValue: '[1,"x"]' },
          o: { stringValue: '{"k":{"z":1}}' },
          big: { doubleValue: 12345678901234567000 },
          at: { timestampValue: '2026-01-02T03:04:05.678Z' },
        },
      },
    ]);
  });

  it('is told by its bytes: gzip without a header, a form of base64, JSON as text', async () => {
    const before = (await service.queued()).length;
    const text = batch(event());
    const form = `data=${encodeURIComponent(Buffer.from(text).toString('base64'))}`;
    const plain = { 'content-type': 'text/plain' };
    const asForm = { 'content-type': 'application/x-www-form-urlencoded' };
    const sendings = [
      post('/e/', new Uint8Array(gzipSync(text)), plain),
      post('/e/?compression=base64', form, asForm),
      post('/e/?retry_count=1', text, plain),
      post('/batch/', new Uint8Array(gzipSync(text)), { 'content-encoding': 'gzip' }),
      post('/batch', Buffer.from(gzipSync(text)).toString('base64'), asForm),
    ];
    for (const { status } of await Promise.all(sendings)) expect(status).toBe(200);
    expect(await service.queued()).toHaveLength(before + sendings.length);
  });

  it('moves the times of a clock that is off, of a public key', async () => {
    const beganMs = Date.now();
    const sentMs = beganMs - 3 * 3_600_000;
    const timestamp = new Date(sentMs - 5_000).toISOString();
    const body = JSON.stringify({
      api_key: service.publicKey,
      batch: [event({ timestamp })],
      sent_at: new Date(sentMs).toISOString(),
    });
    await post('/e/', body);
    const [stored] = await lastQueued();
    const occurredMs = Date.parse(stored?.occurTime ?? '');
    expect(occurredMs).toBeGreaterThanOrEqual(beganMs - 5_000);
    expect(occurredMs).toBeLessThanOrEqual(Date.now() - 5_000);
  });

  it('gives an id that is no UUID the same UUID each time, and a session too', async () => {
    const sent = event({ uuid: 'no-uuid' }, { $session_id: 'visit-1' });
    await post('/e/', batch(sent));
    const [first] = await lastQueued();
    await post('/e/', batch(sent));
    const [second] = await lastQueued();
    expect(first?.eventId).toMatch(/^[\da-f]{8}-[\da-f]{4}-5/);
    expect(second).toMatchObject({ eventId: first?.eventId, sessionId: first?.sessionId });
    expect(first?.sessionId).toMatch(/^[\da-f]{8}-[\da-f]{4}-5/);
  });

  it('without a session or a person is stitched, or of the visitor of the day', async () => {
    await post('/batch/', batch(event({ distinct_id: 'u1', properties: {} })));
    expect((await lastQueued())[0]).not.toHaveProperty('sessionId');
    await post('/e/', batch(event({ properties: { distinct_id: '$posthog_cookieless' } })));
    const [stored] = await lastQueued();
    expect(stored).toMatchObject({ cookieless: true });
    expect(stored).not.toHaveProperty('distinctId');
  });

  it('loses no event for a long text, a half pair, or too many properties', async () => {
    const many = Object.fromEntries(Array.from({ length: 400 }, (_, at) => [`p${at}`, at]));
    const long = { long: 'é'.repeat(2_000), half: 'a\ud83d', ...many };
    expect(await post('/e/', batch(event({}, long)))).toMatchObject({ status: 200 });
    const [stored] = await lastQueued();
    expect(stored?.customProperties['long']).toEqual({ stringValue: 'é'.repeat(1_024) });
    expect(stored?.customProperties['half']).toEqual({ stringValue: 'a\ufffd' });
    expect(Object.keys(stored?.customProperties ?? {})).toHaveLength(256);
    expect(stored?.autoProperties['$cut']).toEqual({
      stringValue: expect.stringMatching(/^long, p2\d\d, /),
    });
  });
});

describe('one bad event', () => {
  it('is left out and counted under its rule', async () => {
    const before = await leftOut('distinct_id_length');
    const bad = event({}, { distinct_id: 'x'.repeat(600) });
    expect(await post('/e/', batch(event(), bad, 'no event', event()))).toMatchObject({
      status: 200,
    });
    expect(await lastQueued()).toHaveLength(2);
    expect(await leftOut('distinct_id_length')).toBe(before + 1);
    expect(await leftOut('event_object')).toBeGreaterThan(0);
  });

  it('of a well-known kind is stored under a kind of its own', async () => {
    const sent = event({ event: 'purchase' }, { amount: -1, currency: 'euro' });
    expect(await post('/e/', batch(sent))).toMatchObject({ status: 200 });
    expect((await lastQueued())[0]).toMatchObject({
      kind: 'purchase_unchecked',
      autoProperties: { $name: { stringValue: 'purchase' } },
      customProperties: { amount: { intValue: '-1' } },
    });
    expect(await leftOut('well_known_amount')).toBe(1);
  });
});

async function leftOut(reason: string): Promise<number> {
  return (await metricValue(service.metrics, 'millrace_left_out_items_total', { reason })) ?? 0;
}

describe('persons', () => {
  it('are linked and described by $identify, groups and aliases', async () => {
    const before = (await changes()).length;
    await post(
      '/e/',
      batch(
        event(
          { event: '$identify', $set: { plan: 'pro', gone: null }, $set_once: { source: 'news' } },
          { distinct_id: 'user1', $anon_distinct_id: '01a2-anon' },
        ),
        event({ event: '$create_alias' }, { distinct_id: 'user1', alias: 'alias1' }),
        event(
          { event: '$groupidentify' },
          { distinct_id: 'user1', $group_type: 'company', $group_key: 'acme' },
        ),
        // A visitor stays nobody until `$identify`, although each event says where they came from.
        event({ event: '$pageview' }, { $set_once: { $initial_referrer: '$direct' } }),
        event({ event: '$set' }, { $is_identified: false, $set: { plan: 'trial' } }),
        event(
          { event: '$groupidentify' },
          { $is_identified: false, $group_type: 'company', $group_key: 'acme' },
        ),
        event({ event: '$set' }, { distinct_id: 'user1', $set_once: { first_plan: 'free' } }),
        event({ event: '$set' }, { distinct_id: 'user1', $set_once: {} }),
        // As Node's SDK describes a group that is nobody's: no person is made of it.
        event(
          { event: '$groupidentify', distinct_id: '$company_acme' },
          { $group_type: 'company', $group_key: 'acme', $group_set: { size: 9 } },
        ),
      ),
    );
    const made = (await changes()).slice(before);
    expect(made).toHaveLength(4);
    expect(made).toEqual(
      expect.arrayContaining([
        {
          ...{ kind: 'identify', externalId: 'user1', anonymousId: '01a2-anon', deviceId: '' },
          ...{ traits: [['plan', '"pro"']], traitsOnce: [['source', '"news"']] },
        },
        {
          ...{ kind: 'identify', externalId: 'user1', anonymousId: '', deviceId: '' },
          ...{ traits: [], traitsOnce: [['first_plan', '"free"']] },
        },
        { kind: 'alias', previousId: 'alias1', externalId: 'user1' },
        {
          ...{ kind: 'identify', externalId: 'user1', anonymousId: '', deviceId: '' },
          traits: [['$group_company', '"acme"']],
        },
      ]),
    );
  });

  it('are never made of a placeholder', async () => {
    const before = (await changes()).length;
    const properties = { distinct_id: 'user2', $anon_distinct_id: 'undefined' };
    await post('/e/', batch(event({ event: '$identify' }, properties)));
    expect(await changes()).toHaveLength(before);
    expect(await leftOut('id_placeholder')).toBe(1);
  });
});

describe('the answer', () => {
  it('lets every page ask and read, with whatever headers it asks for', async () => {
    const response = await fetch(`${service.baseUrl}/e/`, {
      method: 'OPTIONS',
      headers: {
        origin: 'https://shop.test',
        'access-control-request-method': 'POST',
        'access-control-request-headers': 'x-own, content-type',
      },
    });
    expect(response.status).toBe(204);
    expect(Object.fromEntries(response.headers)).toMatchObject({
      'access-control-allow-origin': 'https://shop.test',
      'access-control-allow-credentials': 'true',
      'access-control-allow-headers': 'x-own, content-type',
      'access-control-max-age': '7200',
      vary: 'origin, access-control-request-headers',
    });
    const answer = await post('/e/', batch(event()), { origin: 'https://shop.test' });
    expect(answer.headers.get('access-control-allow-origin')).toBe('https://shop.test');
  });

  it('to what asks before events are sent is the least that starts the SDK', async () => {
    const get = async (path: string) => {
      const response = await fetch(service.baseUrl + path);
      return { status: response.status, text: await response.text() };
    };
    const config = await get(`/array/${service.publicKey}/config`);
    expect(config).toMatchObject({ status: 200 });
    expect(JSON.parse(config.text)).toMatchObject({ supportedCompression: ['gzip', 'gzip-js'] });
    const script = await get(`/array/${service.publicKey}/config.js`);
    expect(script.text).toContain(service.publicKey);
    expect((await post('/flags/?v=2', 'data=e30=')).text).toContain('"flags":{}');
  });

  it('is of the key before the body is parsed', async () => {
    const cut = batch(event()).slice(0, -9);
    const wrong = cut.replace(service.publicKey, `pub_${'0'.repeat(42)}`);
    for (const body of [wrong, '{"batch":[{']) {
      expect(await post('/batch/', body)).toMatchObject({ status: 401 });
    }
    expect(await post('/batch/', cut)).toMatchObject({ status: 400 });
  });

  it('is 413 for more than 4 MiB, or for what inflates to more', async () => {
    const bomb = new Uint8Array(gzipSync(Buffer.alloc(64 * 1_048_576, 0x20)));
    expect(await post('/batch/', bomb)).toMatchObject({ status: 413 });
    const deep = `{"api_key":"${service.publicKey}","batch":${'['.repeat(50_000)}${']'.repeat(50_000)}}`;
    expect(await post('/batch/', deep)).toMatchObject({ status: 400 });
  });

  it('refuses more items than any SDK sends at once', async () => {
    const many = Array.from({ length: 10_001 }, () => 0);
    expect(await post('/batch/', batch(...many))).toMatchObject({
      status: 400,
      text: expect.stringContaining('at most 10000 items'),
    });
  });

  it('is 404 where the instance serves no such paths', async () => {
    const without = await startIngestService({ compatOf: undefined });
    const response = await fetch(`${without.baseUrl}/e/`, { method: 'POST', body: '{}' });
    await without.stop();
    expect(response.status).toBe(404);
  });

  it('answers a page nothing from 400 to 499', async () => {
    const bodies = ['', '{', '[]', 'data=', batch(), batch(7), batch({ event: '' })];
    bodies.push(`{"api_key":"${service.publicKey}"}`, batch(event()).slice(0, -1));
    const statuses = [];
    for (const body of bodies) statuses.push((await post('/e/', body)).status);
    expect(statuses).toEqual([503, 503, 503, 503, 200, 200, 200, 200, 200]);
  });
});
