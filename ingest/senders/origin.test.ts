// A project that lists its origins takes a public key's requests from pages of these alone, by every way in, and its
// people learn of the others.

import { afterAll, beforeAll, expect, it } from 'vitest';
import { changeProject } from '../../control/projects/project-record.ts';
import { systemClock } from '../../platform/clock.ts';
import { hearLive } from '../../platform/live/live-messages.ts';
import { allRefused } from '../../platform/live/live-subjects.ts';
import { decodeRefusal } from '../../proto/wire/live/refusal-message.ts';
import { eventually, newEvent } from '../../test/harness/clients/client.ts';
import {
  type IngestService,
  startIngestService,
} from '../../test/harness/services/ingest-service.ts';

let service: IngestService;
beforeAll(async () => {
  service = await startIngestService();
});
afterAll(() => service?.stop());

const home = 'https://shop.example';
const stranger = 'https://stranger.example';
const batchCreate = 'sdk.events.v1.EventsService/BatchCreate';
const identify = 'sdk.profiles.v1.ProfilesSDKService/Identify';

function allow(allowedOrigins: readonly string[]) {
  return changeProject(service.projects, service.projectId, systemClock, (project) => ({
    ...project,
    allowedOrigins,
    compat: ['posthog'],
  }));
}

interface Sent {
  path: string;
  body: object;
  url?: string;
  key?: string;
  type?: string;
}

function send({ path, body, url = service.baseUrl, key, type }: Sent, origin?: string) {
  return fetch(`${url}/${path}`, {
    method: 'POST',
    headers: {
      'content-type': type ?? 'application/json',
      'x-api-key': key ?? service.publicKey,
      ...(origin !== undefined && { origin }),
    },
    body: JSON.stringify(body),
  });
}

const events = () => ({ events: [newEvent()] });
const ways: [string, () => Sent][] = [
  ['plain requests', () => ({ path: batchCreate, body: events() })],
  ['node:http', () => ({ path: batchCreate, body: events(), url: service.nodeUrl })],
  ['the router', () => ({ path: batchCreate, body: events(), url: service.routerUrl })],
  ['the short path', () => ({ path: `m?api_key=${service.publicKey}`, body: events(), key: '' })],
  ['Identify', () => ({ path: identify, body: { externalId: 'ada' } })],
  [
    'Identify on the router',
    () => ({ path: identify, body: { externalId: 'ada' }, url: service.routerUrl }),
  ],
];

it.each(ways)('is asked on %s', async (_, sent) => {
  await allow([home]);
  const refused = await send(sent(), stranger);
  expect(refused.status).toBe(403);
  // A browser's developer can read the reason.
  expect(refused.headers.get('access-control-allow-origin')).toBe(
    sent().url === service.routerUrl ? null : stranger,
  );
  expect(await refused.json()).toEqual({
    code: 'permission_denied',
    message: 'origin: must be one of the allowed origins of the project, which its settings list',
  });
  expect((await send(sent(), home)).status).toBe(200);
  expect((await send(sent())).status).toBe(200);
  expect((await send({ ...sent(), key: service.privateKey }, stranger)).status).toBe(200);
  await allow([]);
  expect((await send(sent(), stranger)).status).toBe(200);
});

it('is asked of other vendors’ SDKs', async () => {
  await allow(['*.shop.example']);
  const sent = {
    path: 'e/',
    body: { api_key: service.publicKey, batch: [{ event: 'x', properties: { distinct_id: 'a' } }] },
    key: '',
  };
  // What this family takes for later: the settings may name the origin by then.
  expect((await send(sent, stranger)).status).toBe(503);
  expect((await send(sent, 'https://www.shop.example')).status).toBe(200);
});

it('tells the project’s people once for each request, without the origin', async () => {
  await allow([home]);
  const told: string[] = [];
  const stop = hearLive(service.nats, allRefused, (content) => {
    told.push(JSON.stringify(decodeRefusal(content)));
  });
  await service.nats.flush();
  await send({ path: batchCreate, body: events() }, stranger);
  await send({ path: batchCreate, body: events(), url: service.routerUrl }, stranger);
  await eventually(
    () => Promise.resolve(told),
    ({ length }) => length >= 2,
  );
  stop();
  expect(told).toHaveLength(2);
  for (const message of told) {
    expect(JSON.parse(message)).toMatchObject({ rule: 'origin', method: batchCreate });
    expect(message).not.toContain('stranger');
  }
});
