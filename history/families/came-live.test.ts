// An event that its SDK sent here and that the vendor's export has, too: one event where both name it alike, and the
// guide says of every family whether they do.

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { endpointsOf } from '../../ingest/compat/families.ts';
import type { DraftContext, EventDraft } from '../../ingest/compat/mapping/event-draft.ts';
import { isCompatFamily } from '../../platform/compat/compat-families.ts';
import { root } from '../../test/harness/source-tree.ts';
import { familyNames, familyOf } from '../families.ts';

const projectId = '6ba7b810-9dad-11d1-80b4-00c04fd430c8';
const uuid = '0195612a-7c10-7a31-9c55-0a1b2c3d4e01';
const ofServer = '0195612a-7c10-7a31-9c55-0a1b2c3d4e02';
const timestamp = '2026-03-04T09:15:00.123Z';
const timeMs = Date.parse(timestamp);
const column = '2026-03-04 09:15:00.123000';

interface Sent {
  path: string;
  query?: string;
  body?: unknown;
}

interface Case {
  /** What the guide says. */
  comesOnce: boolean;
  sent: Sent;
  /** The same event in the export. */
  row: unknown;
}

const message = { type: 'track', event: 'x', userId: 'ada', messageId: 'ajs-next-1-2', timestamp };
const messages = { comesOnce: true, sent: { path: '/v1/batch', body: message }, row: message };

function snowplow(fingerprint: string): Case {
  const columns: Record<number, string> = { 6: 'page_view', 7: uuid, 16: 'device', 125: column };
  return {
    comesOnce: fingerprint === '',
    sent: {
      path: '/com.snowplowanalytics.snowplow/tp2',
      body: { data: [{ e: 'pv', eid: uuid, duid: 'device', dtm: String(timeMs) }] },
    },
    row: Array.from({ length: 131 }, (_, at) => (at === 129 ? fingerprint : columns[at + 1]) ?? ''),
  };
}

function mixpanel(sent: object, exported: object): Omit<Case, 'comesOnce'> {
  const event = 'Signed Up';
  return {
    sent: { path: '/track', body: [{ event, properties: { token: 'pub_1', ...sent } }] },
    row: { event, properties: { time: Math.floor(timeMs / 1_000), ...exported } },
  };
}

function amplitude(insertId: string): Omit<Case, 'comesOnce'> {
  const event = { event_type: 'x', user_id: 'ada', device_id: 'd' };
  return {
    sent: {
      path: '/2/httpapi',
      body: { api_key: 'pub_1', events: [{ ...event, time: timeMs, insert_id: insertId }] },
    },
    row: { ...event, event_time: column, uuid: ofServer, $insert_id: insertId },
  };
}

const cases: readonly (readonly [family: string, of: string, Case])[] = [
  [
    'posthog',
    'a row',
    {
      comesOnce: true,
      sent: {
        path: '/batch',
        body: { batch: [{ uuid, event: 'x', distinct_id: 'ada', timestamp }] },
      },
      row: { uuid, event: 'x', distinct_id: 'ada', timestamp, properties: '{}' },
    },
  ],
  ['segment', 'a message', messages],
  ['rudderstack', 'a message', messages],
  [
    'mixpanel',
    'the browser, before who it is was known',
    {
      comesOnce: true,
      ...mixpanel(
        { $insert_id: 'zgupnstdfqpfgbi9', distinct_id: '$device:d', time: timeMs / 1_000 },
        {
          $insert_id: 'zgupnstdfqpfgbi9',
          ...{ distinct_id: 'ada', $distinct_id_before_identity: '$device:d' },
        },
      ),
    },
  ],
  [
    'mixpanel',
    'Node, which sends no $insert_id',
    {
      comesOnce: false,
      ...mixpanel(
        { distinct_id: 'ada', time: timeMs },
        { distinct_id: 'ada', $insert_id: 'made-by-mixpanel' },
      ),
    },
  ],
  ['amplitude', 'an SDK, whose ids are UUIDs', { comesOnce: true, ...amplitude(uuid) }],
  ['amplitude', 'an id of the sender’s own', { comesOnce: false, ...amplitude('order-7') }],
  ['snowplow', 'a row without a fingerprint', snowplow('')],
  ['snowplow', 'a row with one', snowplow('a1b2')],
  [
    'ga4',
    'a hit',
    {
      comesOnce: false,
      sent: { path: '/g/collect', query: 'tid=pub_1&en=x&cid=1.2&sid=3&_p=4&_s=1' },
      row: {
        ...{ event_name: 'x', event_timestamp: String(timeMs * 1_000), user_pseudo_id: '1.2' },
        ...{ stream_id: '9', batch_page_id: 4, batch_ordering_id: 1, batch_event_index: 1 },
      },
    },
  ],
  [
    'matomo',
    'a view',
    {
      comesOnce: false,
      sent: {
        path: '/matomo.php',
        query: 'idsite=pub_1&rec=1&url=https://a.example/&_id=0123456789abcdef&pv_id=abcdef',
      },
      row: {
        ...{ idSite: '1', idVisit: '2', visitorId: '0123456789abcdef' },
        firstActionTimestamp: timeMs / 1_000,
        actionDetails: [
          { type: 'action', pageId: 7, idpageview: 'abcdef', timestamp: timeMs / 1_000 },
        ],
      },
    },
  ],
  [
    'umami',
    'a view',
    {
      comesOnce: false,
      sent: {
        path: '/api/send',
        body: { type: 'event', payload: { website: 'pub_1', url: '/', hostname: 'a.example' } },
      },
      row: {
        ...{ event_id: uuid, session_id: ofServer, visit_id: ofServer, event_type: '1' },
        ...{ created_at: column, hostname: 'a.example', url_path: '/' },
      },
    },
  ],
];

const context: Omit<DraftContext, 'family'> = {
  ...{ projectId, receiveTimeMs: timeMs + 1_000, correctsClock: true },
};

function idOf(draft: EventDraft | undefined, family: string): string | undefined {
  return draft?.write({ ...context, family }).eventId;
}

function sentId({ path, query = '', body = {} }: Sent, family: string): string | undefined {
  const head = { path, query: new URLSearchParams(query), headers: {} };
  const endpoint = endpointsOf(path).find((one) => one.kind === 'collect' && one.family === family);
  if (endpoint?.kind !== 'collect') throw new Error(`${family} takes nothing at ${path}`);
  return idOf(endpoint.decode(head, body).events[0], family);
}

function exportedId(row: unknown, name: string): string | undefined {
  const drafts: EventDraft[] = [];
  const sink = {
    event: (draft: EventDraft) => drafts.push(draft),
    ready: () => {},
    call: () => {},
  };
  expect(familyOf(name, undefined)?.decode(row, sink)).toBeUndefined();
  return idOf(drafts[0], name);
}

describe('an event that came live and by an export', () => {
  it.each(cases)('%s: %s', (family, _of, { comesOnce, sent, row }) => {
    const ids = [sentId(sent, family), exportedId(row, family)];
    expect(ids).toEqual([expect.any(String), expect.any(String)]);
    expect(ids[0] === ids[1]).toBe(comesOnce);
  });
});

describe('the guide says whether it is stored once', () => {
  const guide = readFileSync(join(root, 'docs/import.md'), 'utf8');
  const saidOf = (family: string): string | undefined =>
    new RegExp(`^\\| \`${family}\` \\|.*?\\|[^|]*\\| (\\w+)[^|]*\\|[^|]*\\|$`, 'm').exec(
      guide,
    )?.[1];

  it.each(familyNames.filter(isCompatFamily))('%s', (family) => {
    const ofFamily = cases.filter(([name]) => name === family);
    const meets = ofFamily.some(([, , { comesOnce }]) => comesOnce);
    expect(ofFamily).not.toEqual([]);
    expect(saidOf(family)).toBe(meets ? 'once' : 'twice');
  });
});
