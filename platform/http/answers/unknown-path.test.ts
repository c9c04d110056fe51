// What somebody learns who comes to a path without a method, or to the address itself.

import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { accessTable, serviceAliases } from '../../access/access-table.ts';
import { type HttpServer, startHttp } from '../http.ts';
import { frontPage } from '../pages/front-page.ts';
import { KnownPaths } from './unknown-path.ts';

const known = new KnownPaths([...accessTable.keys()].map((method) => `/${method}`));

describe('an unknown path', () => {
  it.each([
    ['/sdk.events.v1.EventsService/BatchCreat', '/sdk.events.v1.EventsService/BatchCreate'],
    ['/sdk.events.v1.EventsService/batchcreate', '/sdk.events.v1.EventsService/BatchCreate'],
    ['/events.v1.EventService/BatchCreate', '/events.v1.EventsService/BatchCreate'],
    ['/EventsService/BatchCreate', '/sdk.events.v1.EventsService/BatchCreate'],
    [
      '/shared.profiles.v1.ProfileService/GetByExternalID',
      '/shared.profiles.v1.ProfilesService/GetByExternalId',
    ],
    ['/public.auth.v1.AuthService/Signin', '/public.auth.v1.AuthService/SignIn'],
  ])('names the nearest method: %s', (path, nearest) => {
    expect(known.refusal(path)).toBe(`there is no such method: did you mean ${nearest}?`);
  });

  it.each([
    '/',
    '/track',
    '/v1/batch',
    '/api/events',
    '/favicon.ico',
    '/no.such.Service/Method',
    'x',
  ])('names the definitions where no method is near: %s', (path) => {
    expect(known.refusal(path)).toContain('/descriptors.binpb');
  });

  it('names the other document below its paths', () => {
    expect(known.refusal('/v1/organizations/o/webhook')).toContain('/openapi.json');
  });

  it('is compared with nothing where it is long', () => {
    const path = `/sdk.events.v1.EventsService/BatchCreate${'e'.repeat(89)}`;
    expect(known.refusal(path)).toContain('/descriptors.binpb');
  });
});

describe('over HTTP', () => {
  let server: HttpServer;
  beforeAll(async () => {
    server = await startHttp({
      host: '127.0.0.1',
      port: 0,
      nodeHttpRoutes: [frontPage],
      connect: { routes: () => {} },
      serviceAliases,
    });
  });
  afterAll(() => server.close(0));
  const get = (path: string, headers: Record<string, string> = {}) =>
    fetch(`http://127.0.0.1:${server.port}${path}`, { headers });

  it('an unknown path has the envelope, and its query is not looked at', async () => {
    const answer = await get('/track?api_key=pub_x');
    expect(answer.status).toBe(404);
    expect(await answer.json()).toEqual({
      code: 'unimplemented',
      message: expect.stringContaining('/descriptors.binpb'),
    });
  });

  it('the address itself is a page to a browser, which may load and run nothing', async () => {
    const page = await get('/', { accept: 'text/html,application/xhtml+xml,*/*;q=0.8' });
    expect(page.headers.get('content-type')).toBe('text/html; charset=utf-8');
    expect(page.headers.get('content-security-policy')).toMatch(/^default-src 'none';/);
    const html = await page.text();
    expect(html).toContain('/sdk.events.v1.EventsService/BatchCreate');
    expect(html).toContain('href="/descriptors.binpb"');
    expect(html).not.toMatch(/<script|<style|<img|style=/);
  });

  it('and text to all others', async () => {
    const page = await get('/', { accept: '*/*' });
    expect(page.headers.get('content-type')).toBe('text/plain; charset=utf-8');
    expect(await page.text()).toMatch(/^Millrace, an analytics event service/);
  });
});
