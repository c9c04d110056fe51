// Pages of any origin may call the methods of SDKs and read every answer there; no other path has a word for pages.

import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { newEvent } from '../../test/harness/clients/client.ts';
import {
  type IngestService,
  startIngestService,
} from '../../test/harness/services/ingest-service.ts';
import { pageHeaders } from './cors.ts';

let service: IngestService;
beforeAll(async () => {
  service = await startIngestService();
});
afterAll(() => service?.stop());

const origin = 'https://shop.example';
const paths = [
  '/sdk.events.v1.EventsService/BatchCreate',
  '/events.v1.EventsService/BatchCreate',
  '/sdk.profiles.v1.ProfilesSDKService/Identify',
  '/profiles.v1.ProfilesSDKService/Alias',
  '/sdk.events.v1.EventsService/NoSuchMethod',
  '/sdk.events.v2.EventsService/BatchCreate',
  '/events.v1.EventService/BatchCreate',
  '/m',
  '/m/i',
  '/m/no-such-method',
];
const closed = [
  '/shared.profiles.v1.ProfilesService/Get',
  '/profiles.v1.ProfilesService/Get',
  '/public.auth.v1.AuthService/SignIn',
  '/dashboard.orgs.v1.OrgsService/List',
  '/mm',
  '/metrics',
  '/',
];

function corsOf(headers: Headers): Record<string, string> {
  const isCors = ([name]: [string, string]) =>
    name.startsWith('access-control-') || name === 'vary';
  return Object.fromEntries([...headers].filter(isCors));
}

describe('a preflight', () => {
  const preflight = (path: string) =>
    fetch(service.baseUrl + path, {
      method: 'OPTIONS',
      headers: {
        origin,
        'access-control-request-method': 'POST',
        'access-control-request-headers': 'content-type,x-api-key',
      },
    });

  it.each(paths)(
    'allows a page of any origin, with credentials, for two hours: %s',
    async (path) => {
      const { status, headers } = await preflight(path);
      expect(status).toBe(204);
      expect(corsOf(headers)).toMatchObject({
        'access-control-allow-origin': origin,
        'access-control-allow-credentials': 'true',
        'access-control-allow-methods': 'POST',
        'access-control-max-age': '7200',
        vary: 'origin',
      });
      const allowed = headers.get('access-control-allow-headers')?.toLowerCase().split(', ');
      for (const name of [
        'content-type',
        'x-api-key',
        'authorization',
        'connect-protocol-version',
      ]) {
        expect(allowed).toContain(name);
      }
    },
  );

  it.each(closed)('allows nothing: %s', async (path) => {
    expect(corsOf((await preflight(path)).headers)).toEqual({});
  });
});

describe('an answer', () => {
  const readable = {
    'access-control-allow-origin': origin,
    'access-control-allow-credentials': 'true',
    vary: 'origin',
  };
  const send = (baseUrl: string, path: string, headers: Record<string, string>) =>
    fetch(baseUrl + path, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-api-key': service.publicKey, ...headers },
      body: JSON.stringify({ events: [newEvent()] }),
    });
  const path = '/sdk.events.v1.EventsService/BatchCreate';
  const urls = () => [service.baseUrl, service.nodeUrl];

  it('can be read by the page that asked', async () => {
    for (const url of urls()) {
      expect(corsOf((await send(url, path, { origin })).headers)).toMatchObject(readable);
      expect(corsOf((await send(url, path, { origin: 'null' })).headers)).toMatchObject({
        ...readable,
        'access-control-allow-origin': 'null',
      });
    }
  });

  it.each([
    ['a refused key', path, { 'x-api-key': 'pub_x' }, 401],
    ['a content type of the router', path, { 'content-type': 'application/xml' }, 415],
    ['gRPC-web', path, { 'content-type': 'application/grpc-web+json' }, 200],
    ['an unknown method', '/sdk.events.v1.EventsService/NoSuchMethod', {}, 404],
    ['a short path', '/m', {}, 200],
    ['gRPC-web by a short path', '/m', { 'content-type': 'application/grpc-web+json' }, 200],
    ['an unknown short path', '/m/no-such-method', {}, 404],
  ])('can be read where it is one to %s', async (_, target, headers, status) => {
    for (const url of urls()) {
      const answer = await send(url, target, { origin, ...headers });
      expect(answer.status).toBe(status);
      expect(corsOf(answer.headers)).toMatchObject(readable);
      expect(answer.headers.get('access-control-expose-headers')).toContain('retry-after');
    }
  });

  it('has none of these headers where no page asked', async () => {
    for (const url of urls()) {
      expect(corsOf((await send(url, path, {})).headers)).toEqual({});
      expect(corsOf((await send(url, path, { 'content-type': 'text/xml' })).headers)).toEqual({});
    }
  });

  it('repeats nothing that is no origin', () => {
    for (const text of ['', 'https://a b', 'https://ü.example', 'a\r\nb: c', 'x'.repeat(513)]) {
      expect(pageHeaders(text)).toEqual({});
    }
  });
});
