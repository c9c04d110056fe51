// What becomes of the requests of older versions of SDKs, and of forms of requests that a protocol allows but its SDKs
// do not send. The packages themselves play in test/sdks.

import { describe, expect, it } from 'vitest';
import type { CompatFamily } from '../../platform/compat/compat-families.ts';
import type { CollectEndpoint, SentHead } from './endpoint.ts';
import { endpointsOf } from './families.ts';
import type { EventDraft } from './mapping/event-draft.ts';

const sentMs = Date.parse('2026-03-04T09:15:00Z');
const formType = 'application/x-www-form-urlencoded; charset=UTF-8';
const textOf = (value: string) => ({ stringValue: value });

function endpointAt(family: CompatFamily, path: string): CollectEndpoint {
  const endpoint = endpointsOf(path).find((one) => one.kind === 'collect' && one.family === family);
  if (endpoint?.kind !== 'collect') throw new Error(`${family} takes nothing at ${path}`);
  return endpoint;
}

function eventOf(draft: EventDraft, family: CompatFamily): Record<string, unknown> {
  const projectId = '6ba7b810-9dad-11d1-80b4-00c04fd430c8';
  const context = { projectId, family, receiveTimeMs: sentMs + 500, correctsClock: true };
  return JSON.parse(draft.write(context).text);
}

interface Read {
  key: string | undefined;
  events: Record<string, unknown>[];
  calls: unknown[];
  unreadable: number;
}

function read(family: CompatFamily, url: string, body: unknown): Read {
  const { pathname: path, searchParams: query } = new URL(url, 'http://a.example');
  const head: SentHead = { path, query, headers: {} };
  const endpoint = endpointAt(family, path);
  const json = typeof body === 'string' ? endpoint.readForm?.(body) : body;
  expect(endpoint.claims?.(head, json) ?? true).toBe(true);
  const { events, calls, unreadable } = endpoint.decode(head, json);
  return {
    key: endpoint.keyOf(head, json)?.text,
    events: events.map((draft) => eventOf(draft, family)),
    ...{ calls, unreadable },
  };
}

describe('PostHog', () => {
  it('tells how long an event had waited, in place of its time', () => {
    const event = { event: 'x', properties: { distinct_id: 'a', token: 'pub_1' }, offset: 3_000 };
    const read1 = read('posthog', `/e/?ip=1&_=${sentMs}&ver=1.57.2`, [event]);
    expect(read1.key).toBe('pub_1');
    expect(read1.events).toMatchObject([{ occurTime: '2026-03-04T09:14:57.000Z' }]);
  });

  it('names an event by its $insert_id where it has no uuid, so that a repetition is one', () => {
    const event = { event: 'x', properties: { distinct_id: 'a', $insert_id: 'sh56lx8zxwimzcou' } };
    const [one] = read('posthog', '/e/', [event]).events;
    const [other] = read('posthog', `/e/?retry_count=1&_=${sentMs}`, [event]).events;
    expect(one?.['eventId']).toEqual(expect.any(String));
    expect(other?.['eventId']).toBe(one?.['eventId']);
  });
});

describe('Amplitude', () => {
  const event = {
    ...{ event_type: 'signed up', device_id: 'd', user_id: null, timestamp: sentMs - 1_000 },
    ...{ uuid: '116be578-846a-4581-97c9-efd13ec5f440', session_id: sentMs, platform: 'Web' },
    ...{ os_name: 'Chrome', os_version: '150', device_model: 'Linux', event_properties: { i: 7 } },
    library: { name: 'amplitude-js', version: '8.21.10' },
  };
  const form = (fields: Record<string, string>): string => new URLSearchParams(fields).toString();

  it('takes the form of amplitude-js, whose system is a browser', () => {
    const e = JSON.stringify([event]);
    const upload_time = String(sentMs);
    const sent = read('amplitude', '/httpapi', form({ client: 'pub_1', e, v: '2', upload_time }));
    expect(sent).toMatchObject({ key: 'pub_1', unreadable: 0, calls: [] });
    expect(sent.events).toMatchObject([
      {
        ...{ kind: 'signed_up', distinctId: 'd', occurTime: '2026-03-04T09:14:59.000Z' },
        ...{ eventId: event.uuid, customProperties: { i: { intValue: '7' } } },
        autoProperties: { $lib: textOf('amplitude-js'), $lib_version: textOf('8.21.10') },
      },
    ]);
    expect(sent.events[0]).not.toHaveProperty('autoProperties.$os');
    expect(sent.events[0]).not.toHaveProperty('autoProperties.$device');
  });

  it('takes the form of the first HTTP API, with one event or with some', () => {
    const one = JSON.stringify({ event_type: 'x', user_id: 'ada', os_name: 'Linux' });
    for (const text of [one, `[${one}]`]) {
      const sent = read('amplitude', '/httpapi', form({ api_key: 'pub_1', event: text }));
      expect(sent).toMatchObject({ key: 'pub_1', events: [{ kind: 'x', distinctId: 'ada' }] });
      expect(sent.events).toMatchObject([{ autoProperties: { $os: textOf('Linux') } }]);
    }
  });

  it('tells of a form whose events are none', () => {
    for (const fields of [{ client: 'pub_1' }, { client: 'pub_1', e: '[{' }]) {
      expect(read('amplitude', '/httpapi', form(fields))).toMatchObject({
        ...{ events: [], unreadable: 1 },
      });
    }
  });

  it('answers a form with the word that its sender takes for success, and JSON with a code', () => {
    const { accepted } = endpointAt('amplitude', '/httpapi').answers;
    const textFor = (type: string): string =>
      accepted.body(1, {
        path: '',
        query: new URLSearchParams(),
        headers: { 'content-type': type },
      }).text;
    expect(textFor(formType)).toBe('success');
    expect(JSON.parse(textFor('application/json'))).toMatchObject({ code: 200 });
  });
});

describe('Segment', () => {
  it('takes messages whose parts are null', () => {
    const nulls = { context: null, properties: null, traits: null, integrations: null };
    const ids = { messageId: null, userId: null, timestamp: null };
    const batch = ['track', 'page', 'screen', 'group', 'identify', 'alias'].map((type) => ({
      ...{ type, event: 'x', anonymousId: 'a', ...nulls, ...ids },
    }));
    const { events, unreadable } = read('segment', '/v1/batch', { writeKey: 'pub_1', batch });
    expect(events.map(({ kind }) => kind)).toEqual(['x', 'page_view', 'screen_view', 'group']);
    expect(unreadable).toBe(0);
  });
});

describe('Mixpanel', () => {
  it('takes lists of what is set of persons, by mobile SDKs too', () => {
    const body = [
      { $token: 'pub_1', $distinct_id: 'ada', $set: { plan: 'pro' }, $time: sentMs },
      { $token: 'pub_1', $distinct_id: 'ada', $add: { n: 1 } },
      { $token: 'pub_1', $distinct_id: '$device:d', $set: { plan: 'free' } },
    ];
    const sent = read('mixpanel', '/engage/', body);
    expect(sent).toMatchObject({ key: 'pub_1', unreadable: 0 });
    expect(sent.calls).toEqual([{ externalId: 'ada', traits: { plan: 'pro' } }]);
  });
});

describe('Umami', () => {
  const page = { website: 'pub_1', hostname: 'a.example', url: '/p', language: 'de' };

  it('takes the path and the names of its first version', () => {
    const payloads = [
      page,
      { ...page, event_name: 'signed up', event_data: { i: 7 } },
      { ...page, event_type: 'click', event_value: 'header' },
    ];
    const events = payloads.flatMap(
      (payload) => read('umami', '/api/collect', { type: 'event', payload }).events,
    );
    expect(events).toMatchObject([
      { kind: 'page_view', autoProperties: { $url: textOf('https://a.example/p') } },
      { kind: 'signed_up', customProperties: { i: { intValue: '7' } } },
      { kind: 'click', customProperties: { value: textOf('header') } },
    ]);
  });

  it('takes lists, and one bad item leaves the others', () => {
    const items = [{ type: 'event', payload: page }, { type: 'event' }, null];
    const sent = read('umami', '/api/batch', items);
    expect(sent).toMatchObject({ key: 'pub_1', events: [{ kind: 'page_view' }], unreadable: 2 });
  });
});

describe('Plausible', () => {
  it('needs no version of its script', () => {
    const sent = read('plausible', '/api/event', { n: 'pageview', d: 'pub_1', u: 'http://a/' });
    expect(sent).toMatchObject({ key: 'pub_1', events: [{ kind: 'page_view' }] });
  });
});

describe('Matomo', () => {
  it('takes a list with a token of its vendor’s, whose requests are whole addresses', () => {
    const hit = 'idsite=pub_1&rec=1&url=http://a.example/?x=1';
    const requests = [`?${hit}`, hit, `/matomo.php?${hit}`, `https://b.example/matomo.php?${hit}`];
    const sent = read('matomo', '/matomo.php', { requests, token_auth: 'a'.repeat(32) });
    expect(sent).toMatchObject({ key: 'pub_1', unreadable: 0 });
    expect(sent.events).toHaveLength(requests.length);
    for (const event of sent.events) {
      expect(event).toMatchObject({
        ...{ kind: 'page_view', autoProperties: { $url: textOf('http://a.example/?x=1') } },
      });
    }
  });

  it('takes no hit of a plugin for a view', () => {
    const { events } = read('matomo', '/matomo.php?idsite=pub_1&rec=1&ca=1&ma_id=v1&ma_ti=A', {});
    expect(events).toMatchObject([{ kind: 'custom_action' }]);
  });
});
