// What single rows of exports become, where the samples do not tell: kinds that Millrace checks, ids, times, and rows
// that hold nothing.

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { IdentityCall } from '../../ingest/compat/mapping/identity-call.ts';
import { uuidV5 } from '../../ingest/validation/text/uuid.ts';
import { checkEvents, type NumberedDraft } from '../events/check-events.ts';
import { familyOf } from '../families.ts';
import { openInputs } from '../files/open-input.ts';
import { reasons } from './history-family.ts';

const nowMs = Date.UTC(2026, 10, 20);
const projectId = '6ba7b810-9dad-11d1-80b4-00c04fd430c8';

interface Decoded {
  events: Record<string, unknown>[];
  calls: IdentityCall[];
  why: (string | undefined)[];
  told: string[];
  notes: string[];
}

function decodeAll(name: string, values: readonly unknown[], zone?: string): Decoded {
  const family = familyOf(name, zone);
  if (family === undefined) throw new Error(`no family ${name}`);
  const drafts: NumberedDraft[] = [];
  const calls: IdentityCall[] = [];
  const told: string[] = [];
  const why = values.map((value, number) =>
    family.decode(value, {
      event: (draft) => drafts.push({ draft, number }),
      ready: () => {},
      call: (call) => calls.push(call),
    }),
  );
  const context = { projectId, family: name, receiveTimeMs: nowMs, correctsClock: false };
  const ready = checkEvents(drafts, context, (_, { rule }, isKept) =>
    told.push(`${rule} ${isKept}`),
  );
  return {
    events: ready.map(({ text }) => JSON.parse(text)),
    ...{ calls, why, told, notes: family.notes?.() ?? [] },
  };
}

const text = (stringValue: string) => ({ stringValue });

describe('GA4', () => {
  const micros = String(Date.UTC(2026, 2, 4) * 1_000);
  const row = (event_name: string, params: Record<string, string> = {}, more: object = {}) => ({
    ...{ event_name, event_timestamp: micros, user_pseudo_id: '1.2', stream_id: '9' },
    event_params: Object.entries(params).map(([key, string_value]) => ({
      key,
      value: { string_value },
    })),
    ...more,
  });

  it('fills what our kinds of the same names ask for', () => {
    const items = [{ item_id: 'K-1', price: 19.95 }];
    const { events, told } = decodeAll('ga4', [
      row('add_to_cart', { currency: 'EUR' }, { items }),
      row('search', { search_term: 'kettle' }),
      row('screen_view', { firebase_screen: 'Home' }),
    ]);
    expect(told).toEqual([]);
    expect(events.map(({ kind }) => kind)).toEqual(['add_to_cart', 'search', 'screen_view']);
    expect(events).toMatchObject([
      { customProperties: { product_id: text('K-1'), items: text(JSON.stringify(items)) } },
      { customProperties: { query: text('kettle') } },
      { customProperties: { screen_name: text('Home') } },
    ]);
  });

  it('keeps a row that does not have it under a kind of its own', () => {
    const { events, told } = decodeAll('ga4', [row('form_start')]);
    expect(told).toEqual(['well_known_required true']);
    expect(events).toMatchObject([
      { kind: 'form_start_unchecked', autoProperties: { $name: text('form_start') } },
    ]);
  });

  it('tells rows of one moment apart by their parameters where there is no place in a batch', () => {
    const { events } = decodeAll('ga4', [
      row('x', { a: '1' }),
      row('x', { a: '2' }),
      row('x', { a: '1' }),
    ]);
    const [first, second, third] = events.map(({ eventId }) => eventId);
    expect(second).not.toBe(first);
    expect(third).toBe(first);
  });

  it('names an event by its place in the batch, of which a part may be null, empty or absent', () => {
    const places = [
      [1, 2],
      [null, null],
      [undefined, undefined],
      ['', ''],
    ];
    const { events } = decodeAll(
      'ga4',
      places.map(([batch_page_id, batch_ordering_id]) =>
        row('x', {}, { batch_page_id, batch_ordering_id, batch_event_index: '3' }),
      ),
    );
    // They are stored, so that another id would be another event.
    expect(events.map(({ eventId }) => eventId)).toEqual(
      ['"1","2"', '"null","null"', '"undefined","undefined"', '"",""'].map((texts) =>
        uuidV5(projectId, JSON.stringify(['ga4', `["9","1.2","${micros}","x",${texts},"3"]`])),
      ),
    );
  });

  it('leaves out who did not consent, and keeps an integer that no number holds', () => {
    const { why, events } = decodeAll('ga4', [
      row('x', {}, { user_pseudo_id: undefined }),
      row('y', {}, { event_params: [{ key: 'n', value: { int_value: '9007199254740993' } }] }),
    ]);
    expect(why).toEqual([reasons.no_person, undefined]);
    expect(events).toMatchObject([{ customProperties: { n: text('9007199254740993') } }]);
  });
});

describe('Mixpanel', () => {
  const row = (event: string, properties: object) => ({
    event,
    properties: { time: 1_772_615_700, distinct_id: 'ada', ...properties },
  });

  it('links by what succeeded alone', () => {
    const { calls } = decodeAll('mixpanel', [
      row('$identify', { $identified_id: 'ada', $anon_id: 'a', $failure_reason: 'x' }),
      row('$merge', { $distinct_ids: ['ada', 'b'] }),
      row('seen', { $user_id: 'ada', $device_id: 'c' }),
    ]);
    expect(calls).toEqual([
      { externalId: 'ada', alias: 'b' },
      { externalId: 'ada', anonymousId: '$device:c' },
    ]);
  });

  it('doubts a zone by which nearly all events are off alike, and none of events that were sent late', () => {
    const startMs = Date.UTC(2026, 2, 4);
    const doubt = (lateMs: (number: number) => number, zone?: string): string | undefined =>
      familyOf('mixpanel', zone)?.doubt?.(
        Array.from({ length: 100 }, (_, number) => {
          const time = startMs / 1_000 + 60 * number;
          const mp_processing_time_ms = 1_000 * time + lateMs(number);
          return { number, value: row('x', { time, mp_processing_time_ms }) };
        }),
      );
    const atOnce = (): number => 2_000;
    // Every two hours a job sends the events of the two hours before.
    const byJob = (number: number): number => 60_000 * (30 + 120 - (number % 120));
    const ofNight = (): number => 3 * 3_600_000;
    expect(doubt(atOnce)).toBeUndefined();
    expect(doubt(byJob)).toContain('or --zone UTC where its events were sent late');
    expect(doubt(byJob, 'UTC')).toBeUndefined();
    expect(doubt(ofNight, 'UTC')).toBeUndefined();
    expect(doubt(ofNight, 'Europe/Moscow')).toContain('still -6 h off');
    expect(doubt(atOnce, 'Asia/Tokyo')).toContain('still -9 h off');
  });

  it('takes the clock of the project’s summer, too', () => {
    const wall = Date.UTC(2020, 6, 1, 12) / 1_000;
    const { events } = decodeAll('mixpanel', [row('x', { time: wall })], 'Europe/Berlin');
    expect(events).toMatchObject([{ occurTime: '2020-07-01T10:00:00.000Z' }]);
  });
});

describe('Snowplow', () => {
  const row = (fields: Record<number, string>): string[] =>
    Array.from({ length: 131 }, (_, index) => fields[index + 1] ?? '');

  it('reads a moment without a fraction, the true one first, and refuses another number of columns', () => {
    const times = { 4: '2026-03-04 09:15:01.400', 125: '2026-03-04 09:15:00', 6: 'page_ping' };
    const { events, why } = decodeAll('snowplow', [
      row({ ...times, 7: projectId, 16: 'device' }),
      row({ ...times, 16: 'device', 131: '2026-03-04 09:14:00.5' }),
      row(times),
      ['too', 'few'],
      [''],
    ]);
    expect(events.map(({ occurTime, kind }) => [occurTime, kind])).toEqual([
      ['2026-03-04T09:15:00.000Z', 'page_ping'],
      ['2026-03-04T09:14:00.500Z', 'page_ping'],
    ]);
    // An id without a fingerprint is as it is.
    expect(events[0]).toMatchObject({ eventId: projectId });
    expect(why.slice(2)).toEqual([reasons.no_person, reasons.row_columns, undefined]);
  });
});

describe('Umami', () => {
  const event = (more: object) => ({
    ...{ event_id: projectId, session_id: 'v', visit_id: projectId, event_type: '2' },
    ...{ event_name: 'x', created_at: '2026-03-04 09:15:00', hostname: 'a.example', ...more },
  });
  const data = (data_key: string, data_type: string, string_value: string, more: object = {}) => ({
    ...{ event_id: projectId, data_key, data_type, string_value, ...more },
  });

  it('has the values of its data in their types', () => {
    const { events } = decodeAll('umami', [
      data('s', '1', 'text'),
      data('n', '2', '39.9000', { number_value: '39.9' }),
      data('b', '3', 'false'),
      data('d', '4', '', { date_value: '2026-03-04 00:00:00' }),
      data('l', '5', '["a"]'),
      event({ gclid: 'secret', url_path: '/p', url_query: 'a=1' }),
    ]);
    expect(events).toMatchObject([
      {
        customProperties: {
          ...{ s: text('text'), n: { doubleValue: 39.9 }, b: { boolValue: false } },
          ...{ d: { timestampValue: '2026-03-04T00:00:00.000Z' }, l: text('["a"]') },
        },
        autoProperties: { $url: text('https://a.example/p?a=1&gclid=1') },
      },
    ]);
  });

  it('has its data first, whatever the names of the files', async () => {
    const directory = mkdtempSync(join(tmpdir(), 'millrace-umami-'));
    try {
      const headers = ['website_id,event_id,event_type', '"event_id","data_key"', 'event_id'];
      const paths = headers.map((header, index) => {
        const path = join(directory, `${index} of all.csv`);
        writeFileSync(path, `${header}\n`);
        return path;
      });
      const ordered = await familyOf('umami', undefined)?.order?.(await openInputs(paths));
      expect(ordered?.map(({ name }) => paths.indexOf(name))).toEqual([1, 0, 2]);
    } finally {
      rmSync(directory, { recursive: true });
    }
  });

  it('takes the nulls and offsets of dumps, and leaves out what measures', () => {
    const { events, why } = decodeAll('umami', [
      event({ created_at: '2026-03-04 10:15:00.123456+01', distinct_id: '\\N', city: '\\N' }),
      event({ event_type: '5' }),
      event({ created_at: 'soon' }),
    ]);
    expect(events).toMatchObject([{ occurTime: '2026-03-04T09:15:00.123Z', distinctId: 'v' }]);
    expect(events[0]).not.toHaveProperty('autoProperties.$city');
    expect(why).toEqual([undefined, reasons.no_action, reasons.event_time]);
  });
});

describe('Matomo', () => {
  const visit = (actions: object[], more: object = {}) => ({
    ...{ idSite: '1', idVisit: '2', visitorId: 'abc', firstActionTimestamp: 1_772_615_700 },
    ...{ siteCurrency: 'EUR', actionDetails: actions, ...more },
  });

  it('takes orders as purchases, and leaves out carts that were left', () => {
    const order = {
      type: 'ecommerceOrder',
      orderId: 'T-1',
      revenue: '39.9',
      timestamp: 1_772_608_500,
    };
    const cart = { type: 'ecommerceAbandonedCart', timestamp: 1_772_608_600 };
    const { events, why } = decodeAll('matomo', [visit([order, cart])]);
    expect(why).toEqual([reasons.no_action]);
    expect(events).toMatchObject([
      {
        ...{ kind: 'purchase', occurTime: '2026-03-04T09:15:00.000Z' },
        customProperties: { amount: { doubleValue: 39.9 }, currency: text('EUR') },
      },
    ]);
  });

  it('sets both clocks of a visit right in which the site’s clock is changed', () => {
    const spring = Date.UTC(2026, 2, 29, 0, 50) / 1_000;
    const autumn = Date.UTC(2026, 9, 25, 0, 50) / 1_000;
    // In Berlin, two hours ahead of UTC in summer, one in winter, from 1:00 UTC on.
    for (const [first, before, after] of [
      [spring, 3_600, 7_200],
      [autumn, 7_200, 3_600],
    ] as const) {
      const moments = [first, first + 300, first + 900, first + 1_200];
      const actions = moments.map((moment, index) => ({
        ...{ type: 'action', pageId: index, timestamp: moment + (index < 2 ? before : after) },
      }));
      const times = { firstActionTimestamp: first, lastActionTimestamp: first + 1_200 };
      const { events } = decodeAll('matomo', [visit(actions, times)]);
      expect(events.map(({ occurTime }) => Date.parse(String(occurTime)) / 1_000)).toEqual(moments);
    }
  });

  it('takes actions out of order for no change of the site’s clock, nor a visit that goes on after them', () => {
    const first = Date.UTC(2026, 2, 4) / 1_000;
    const inVisit = (seconds: readonly number[], walls: readonly number[], last: number) => {
      const actions = walls.map((wall, pageId) => ({
        ...{ type: 'action', pageId, timestamp: first + wall },
      }));
      const times = { firstActionTimestamp: first, lastActionTimestamp: first + last };
      const { events } = decodeAll('matomo', [visit(actions, times)]);
      const moments = events.map(({ occurTime }) => Date.parse(String(occurTime)) / 1_000 - first);
      expect(moments).toEqual(seconds);
    };
    const disordered = [0, 600, 500, 700];
    inVisit(disordered, disordered, 2_000);
    // A last action half an hour before the visit's end looks like another clock; what does not fit it keeps its own.
    inVisit([0, 600, 2_300, 2_400, 2_500], [0, 600, 500, 2_400, 700], 2_500);
  });

  it('warns of what the API left out', () => {
    const action = { type: 'action', pageId: '1', timestamp: 1_772_615_700 };
    const visits = Array.from({ length: 10 }, () => visit([action]));
    const cut = { ...visit([action]), truncatedActionsCount: 12 };
    expect(decodeAll('matomo', visits).notes).toEqual([expect.stringContaining('filter_limit=-1')]);
    expect(decodeAll('matomo', [cut]).notes).toEqual([
      expect.stringMatching(/^1 visits have more/),
    ]);
    const nobody = visit([action], { visitorId: undefined });
    expect(decodeAll('matomo', [nobody]).why).toEqual([reasons.no_person]);
  });
});

it('PostHog’s properties that are a damaged text leave their row out, and are not lost without a word', () => {
  const row = {
    uuid: projectId,
    event: 'x',
    distinct_id: 'ada',
    timestamp: '2026-03-04T09:15:00Z',
  };
  const texts = ['{"a":1,"a":2}', '{"a":NaN}', ''];
  const { events, why } = decodeAll(
    'posthog',
    texts.map((properties) => ({ ...row, properties })),
  );
  expect(why).toEqual([undefined, reasons.row_json, undefined]);
  expect(events.map(({ customProperties }) => customProperties)).toEqual([
    { a: { intValue: '2' } },
    {},
  ]);
});

it('Amplitude’s times are in UTC, whether they say so or not', () => {
  const times = ['2026-03-04 09:15:00.000000', '2026-03-04T09:15:00Z'];
  const rows = times.map((event_time) => ({ event_type: 'x', event_time, user_id: 'ada' }));
  const { events } = decodeAll('amplitude', rows);
  const occurTime = '2026-03-04T09:15:00.000Z';
  expect(events).toMatchObject([{ occurTime }, { occurTime }]);
});

it('Amplitude’s unset values are no traits', () => {
  const row = {
    ...{ event_type: '$identify', event_time: '2026-03-04 09:15:00.000000', uuid: projectId },
    ...{ user_id: 'ada', user_properties: { plan: 'pro', source: 'EMPTY', city: null } },
  };
  const { calls } = decodeAll('amplitude', [row]);
  expect(calls.map(({ externalId, traits }) => [externalId, traits])).toEqual([
    ['ada', { plan: 'pro' }],
  ]);
});

it.each(['posthog', 'mixpanel', 'amplitude', 'segment', 'rudderstack', 'ga4', 'matomo', 'umami'])(
  '%s says of other JSON that it is no record, or names what is missing',
  (name) => {
    const { why, events } = decodeAll(name, [null, 7, 'text', [1], {}]);
    expect(events).toEqual([]);
    for (const one of why) expect(Object.values(reasons)).toContain(one);
  },
);
