// Each family's refusals: the status and the body that its SDK takes for the end of a request, or for a reason to come
// back with it. No request of these is taken.

import { gzipSync } from 'node:zlib';
import { Counter } from 'prom-client';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { changeProject, createApiKey } from '../../control/projects/project-record.ts';
import { systemClock } from '../../platform/clock.ts';
import { compatFamilies } from '../../platform/compat/compat-families.ts';
import {
  freeze,
  type IngestService,
  startIngestService,
} from '../../test/harness/services/ingest-service.ts';

interface Sent<Body> {
  path: string;
  body: Body;
  headers?: Record<string, string>;
}

/** A request as the family's SDK sends it, which would be taken. */
type Request = (key: string) => Sent<object>;

interface Statuses {
  /** Of a key that opens nothing. */
  unknown: number;
  /** Of what the key, or its project's settings, do not allow. */
  denied: number;
  unreadable: number;
  tooLarge: number;
  /** Where nobody knows, or nothing was taken. */
  later: number;
}

const usual = { unknown: 401, denied: 403, unreadable: 400, tooLarge: 413, later: 503 };
const message = { type: 'track', event: 'x', anonymousId: 'a', channel: 'web' };
const basic = (key: string) => ({ authorization: `Basic ${btoa(`${key}:`)}` });
const postHog =
  (path: string): Request =>
  (api_key) => ({ path, body: { api_key, batch: [{ event: 'x', distinct_id: 'a' }] } });
const ofMessages =
  (path: string): Request =>
  (key) => ({ path, body: message, headers: basic(key) });
const mixpanel = (token: string) => ({ event: 'x', properties: { token, distinct_id: 'a' } });
const hit = (key: string) => `idsite=${key}&rec=1&_id=0123456789abcdef`;

const rows: readonly [string, Request, Statuses][] = [
  // posthog-js drops what is answered from 400 to 499, and takes 200 alone for success.
  ...['/e/', '/i/v0/e/', '/capture/'].map((path): [string, Request, Statuses] => [
    `posthog-js ${path}`,
    postHog(path),
    { unknown: 503, denied: 503, unreadable: 200, tooLarge: 200, later: 503 },
  ]),
  ['posthog-node', postHog('/batch/'), usual],
  ['Segment', ofMessages('/v1/t'), { ...usual, later: 429 }],
  ['RudderStack', ofMessages('/v1/track'), { ...usual, later: 429 }],
  ['Mixpanel', (key) => ({ path: '/track/?verbose=1', body: mixpanel(key) }), usual],
  ...['/2/httpapi', '/batch'].map((path): [string, Request, Statuses] => [
    `Amplitude ${path}`,
    (api_key) => ({ path, body: { api_key, events: [{ event_type: 'x', device_id: 'a' }] } }),
    { ...usual, later: 429 },
  ]),
  ['Plausible', (d) => ({ path: '/api/event', body: { n: 'x', d, u: 'http://a.test/' } }), usual],
  [
    'Umami',
    (website) => ({ path: '/api/send', body: { type: 'event', payload: { website, name: 'x' } } }),
    usual,
  ],
  [
    'OpenPanel',
    (key) => ({
      ...{ path: '/track', body: { type: 'track', payload: { name: 'x', profileId: 'a' } } },
      headers: { 'openpanel-client-id': key },
    }),
    // It sends again what is answered by anything but 200, 202 and 401.
    { ...usual, unreadable: 200, tooLarge: 200 },
  ],
  [
    'Jitsu',
    (key) => ({ path: '/api/s/track', body: message, headers: { 'x-write-key': `${key}:s` } }),
    usual,
  ],
  [
    'Snowplow',
    (aid) => ({
      path: '/com.snowplowanalytics.snowplow/tp2',
      body: { data: [{ aid, e: 'pv', duid: 'a' }] },
    }),
    { ...usual, tooLarge: 400 },
  ],
  ['Matomo', (key) => ({ path: '/matomo.php', body: { requests: [`?${hit(key)}`] } }), usual],
  ['GA4', (key) => ({ path: `/g/collect?tid=${key}&cid=a&en=x`, body: {} }), usual],
  ['Rybbit', (site_id) => ({ path: '/api/track', body: { site_id, type: 'pageview' } }), usual],
];

const origin = 'https://shop.test';
const nobody = `pub_${'0'.repeat(42)}`;
const bomb = new Uint8Array(gzipSync(Buffer.alloc(16 * 1_048_576, 0x20)));

let service: IngestService;
let reader: string;
beforeAll(async () => {
  service = await startIngestService({ publishDeadlineMs: 200 });
  const { projects, projectId } = service;
  const options = { kind: 'private', scope: 'read' } as const;
  const made = await createApiKey(projects, projectId, options, systemClock);
  reader = made.kind === 'created' ? made.key.raw : '';
  await allow();
});
afterAll(async () => {
  service?.broker.resume();
  await service?.stop();
});

async function allow(
  settings: { compat?: typeof compatFamilies | []; allowedOrigins?: string[] } = {},
): Promise<void> {
  await changeProject(service.projects, service.projectId, systemClock, (project) => ({
    ...{ ...project, compat: compatFamilies, allowedOrigins: [] },
    ...settings,
  }));
}

const textOf = (request: Request, key: string, more: object = {}): Sent<string> => {
  const { body, ...head } = request(key);
  return { ...head, body: JSON.stringify({ ...body, ...more }) };
};

async function send(
  { path, body, headers }: Sent<string | Uint8Array<ArrayBuffer>>,
  baseUrl = service.baseUrl,
) {
  const init = { method: 'POST', headers: { origin, ...headers }, body };
  const response = await fetch(baseUrl + path, init);
  return { status: response.status, headers: response.headers, text: await response.text() };
}
type Answer = Awaited<ReturnType<typeof send>>;

/** A page may read each answer, and the SDKs that read one find what they look for. */
function check(name: string, expected: number, { status, headers, text }: Answer): void {
  expect([name, status]).toEqual([name, expected]);
  expect(headers.get('access-control-allow-origin')).toBe(origin);
  expect(headers.get('access-control-allow-credentials')).toBe('true');
  if (name.startsWith('Amplitude')) expect(JSON.parse(text)).toMatchObject({ code: expected });
  if (name === 'OpenPanel') expect(JSON.parse(text)).toEqual(expect.any(Object));
}

describe.each(rows)('%s', (name, request, statuses) => {
  it('would take the request', async () => {
    expect((await send(textOf(request, service.publicKey))).status).toBeLessThan(300);
  });

  it('says of a key that opens nothing where it stands, and of none that it is missing', async () => {
    const unknown = await send(textOf(request, nobody));
    check(name, statuses.unknown, unknown);
    expect(unknown.text).toMatch(/the key of the request’s (body|header|url): the API key is not/);
    const missing = await send(textOf(request, ''));
    check(name, statuses.unknown, missing);
    expect(missing.text).toContain('must be given a key of the project');
  });

  it('is not opened by a key that only reads', async () => {
    const { path } = request(service.publicKey);
    const inUrl = path.includes(service.publicKey);
    const answer = await send(textOf(request, reader));
    check(name, inUrl ? statuses.unknown : statuses.denied, answer);
  });

  it('is told what the project’s settings do not take', async () => {
    await allow({ compat: [] });
    const off = await send(textOf(request, service.publicKey));
    await allow({ allowedOrigins: ['other.test'] });
    const stranger = await send(textOf(request, service.publicKey));
    await allow();
    for (const answer of [off, stranger]) check(name, statuses.denied, answer);
  });

  it('is told the end of what can never be read', async () => {
    const sent = textOf(request, service.publicKey);
    const cut = { ...sent, body: `${sent.body.slice(0, -1)},` };
    check(name, statuses.unreadable, await send(cut));
    check(name, statuses.tooLarge, await send({ ...sent, body: bomb }));
    const items = textOf(request, service.publicKey, { more: Array(10_001).fill(0) });
    check(name, statuses.unreadable, await send(items));
  });
});

it('what posthog-js asks before it sends is answered 200, whatever its key', async () => {
  const paths = [nobody, 'phc_key'].flatMap((key) => [
    ...[`/array/${key}/config`, `/array/${key}/config.js`],
    ...['/flags/?v=2', '/decide/?v=3'],
  ]);
  for (const path of paths) {
    for (const init of [{}, { method: 'POST', body: 'data=' }]) {
      const { status } = await fetch(service.baseUrl + path, init);
      expect([path, status]).toEqual([path, 200]);
    }
  }
});

it('who is not served now is told to come later', async () => {
  await freeze(service.broker, service.nats);
  for (const [name, request, { later }] of rows) {
    const answer = await send(textOf(request, service.publicKey));
    check(name, later, answer);
    expect([name, answer.headers.get('retry-after')]).toEqual([name, '1']);
  }
  service.broker.resume();
});

it('a fault of ours is told in the words of the family, before the body tells it too', async () => {
  const broken = await startIngestService({
    authenticate: () => Promise.reject(new Error('broken')),
  });
  for (const [name, request, { later }] of rows) {
    // Its answers are of those that share its path: the body, which is not read, tells them apart.
    if (name === 'posthog-node') continue;
    check(name, later, await send(textOf(request, nobody), broken.baseUrl));
  }
  await broken.stop();
});

it('a fault in counting an answer is told in the words of the family, too', async () => {
  const refused = service.metrics.registry.getSingleMetric('millrace_refused_requests_total');
  if (!(refused instanceof Counter)) throw new Error('nobody counts refusals');
  const inc = vi.spyOn(refused, 'inc').mockImplementation(() => {
    throw new Error('broken');
  });
  try {
    for (const [name, request, { later }] of rows) {
      if (name !== 'posthog-node') check(name, later, await send(textOf(request, nobody)));
    }
    expect(inc).toHaveBeenCalled();
  } finally {
    inc.mockRestore();
  }
});
