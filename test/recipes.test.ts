// The configurations of docs/recipes.md as they stand there: a page view and a batch go through real proxies to the
// built product, with the visitor's own address, whatever a visitor writes into headers.

import { randomUUID } from 'node:crypto';
import { createServer } from 'node:http';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { hasBrowser, startBrowser } from './harness/clients/browser.ts';
import { eventually, listActivity, newEvent, type StoredEvent } from './harness/clients/client.ts';
import { listen } from './harness/listen.ts';
import {
  hasProxy,
  type RecipeProxy,
  recipe,
  recipeSettings,
  sendTo,
  startProxy,
} from './harness/proxies/recipe-proxy.ts';
import { type Stack, startStack } from './harness/servers/stack.ts';

const site = 'www.example.org';
const instance = 'events.example.org';
const agent = 'Mozilla/5.0 (X11; Linux x86_64; rv:143.0) Gecko/20100101 Firefox/143.0';
/** Each would give a visitor another address, if it were believed. */
const forged = {
  ...{ 'x-forwarded-for': '203.0.113.9', 'x-real-ip': '203.0.113.9', forwarded: 'for=203.0.113.9' },
  ...{ 'cf-connecting-ip': '203.0.113.9', 'true-client-ip': '203.0.113.9' },
};

let stack: Stack;
beforeAll(async () => {
  expect(Object.keys(recipeSettings())).toEqual([
    'MILLRACE_TRUSTED_PROXIES',
    'MILLRACE_PROXY_HOPS',
  ]);
  stack = await startStack({ env: recipeSettings() });
});
afterAll(() => stack.stop());

const servicePort = (): number => Number(new URL(stack.baseUrl).port);

/** A page's view as the script sends it; answers the event's id. */
async function view(
  send: (
    path: string,
    options: { body: string; headers: Record<string, string>; from: string },
  ) => Promise<{ status: number; text: string }>,
  from: string,
  headers: Record<string, string> = {},
): Promise<string> {
  const eventId = randomUUID();
  const event = { eventId, kind: 'page_view', occurTime: new Date(), cookieless: true };
  const { status, text } = await send(`/m?api_key=${stack.publicKey}`, {
    body: JSON.stringify({ events: [event] }),
    headers: { 'content-type': 'text/plain', 'user-agent': agent, ...headers },
    from,
  });
  expect({ status, text }).toMatchObject({ status: 200 });
  return eventId;
}

async function stored(ids: readonly string[]): Promise<StoredEvent[]> {
  const find = async () => {
    const { events } = await listActivity(stack, { pageSize: 100 });
    return ids.flatMap((id) => events.filter(({ eventId }) => eventId === id));
  };
  return eventually(find, (found) => found.length === ids.length);
}

describe.each(['nginx', 'caddy'] as const)('%s', (name) => {
  const isHere = hasProxy(name);
  let proxy: RecipeProxy;
  beforeAll(async () => {
    if (isHere) proxy = await startProxy(name, servicePort());
  });
  afterAll(() => proxy?.stop());

  it.runIf(isHere)(
    'hands a page view on from a path of the site, with the visitor’s own address',
    async () => {
      const script = await proxy.send(site, '/millrace.js');
      expect(script).toMatchObject({ status: 200, text: expect.stringContaining('data-key') });
      const bySite: Parameters<typeof view>[0] = (path, options) => proxy.send(site, path, options);
      const straight: Parameters<typeof view>[0] = (path, options) =>
        sendTo(servicePort(), 'localhost', path, options);
      const ids = [
        await view(bySite, '127.0.0.2'),
        await view(bySite, '127.0.0.2', forged),
        await view(straight, '127.0.0.2'),
        await view(straight, '127.0.0.2', forged),
        await view(bySite, '127.0.0.3'),
      ];
      const [first, ...others] = (await stored(ids)).map(({ distinctId }) => distinctId);
      expect(others.slice(0, 3)).toEqual([first, first, first]);
      expect(others[3]).not.toBe(first);
    },
  );

  it.runIf(isHere)(
    'hands no cookies of the site on, with which headers would be too long',
    async () => {
      const bySite: Parameters<typeof view>[0] = (path, options) => proxy.send(site, path, options);
      const others = { 'x-one': 'x'.repeat(7_500), 'x-two': 'x'.repeat(2_000) };
      await view(bySite, '127.0.0.2', { ...others, cookie: `session=${'c'.repeat(7_500)}` });
    },
  );

  it.runIf(isHere)(
    'hands batches on that are long, and answers that go on, at the instance’s own name',
    async () => {
      const text = { stringValue: 'x'.repeat(1_000) };
      const long = Array.from({ length: 1_000 }, () =>
        newEvent({ customProperties: { a: text, b: text, c: text } }),
      );
      const batch = '/sdk.events.v1.EventsService/BatchCreate';
      const headers = { 'content-type': 'application/json', 'x-api-key': stack.privateKey };
      const body = JSON.stringify({ events: long });
      expect(body.length).toBeGreaterThan(3_000_000);
      const answer = await proxy.send(instance, batch, { body, headers });
      expect({ status: answer.status, ...JSON.parse(answer.text) }).toEqual({
        status: 200,
        accepted: 1_000,
      });
      const watch = '/shared.activity.v1.ActivityService/Watch';
      const envelope = Buffer.from([0, 0, 0, 0, 2, ...Buffer.from('{}')]);
      const streaming = { ...headers, 'content-type': 'application/connect+json' };
      const live = await proxy.send(instance, watch, {
        body: envelope,
        headers: streaming,
        isStream: true,
      });
      expect(live.status).toBe(200);
      expect(live.text).toContain('{');
      const page = await proxy.send(instance, '/sign-in', { headers: { accept: 'text/html' } });
      expect(page).toMatchObject({ status: 200, text: expect.stringContaining('<title>Millrace') });
    },
  );
});

it.runIf(hasBrowser)(
  'Tag Manager’s tags send a page view and an event, on a page as it runs them',
  async () => {
    const tags = recipe('Google Tag Manager', 'html').join('\n').replace('{{Plan}}', 'pro');
    const html = `<!doctype html><title>Shop</title><body>${withOwn(tags)}`;
    const server = createServer((_, response) => {
      response.writeHead(200, { 'content-type': 'text/html' }).end(html);
    });
    const url = `http://localhost:${await listen(server)}/tagged`;
    const browser = await startBrowser();
    try {
      const page = await browser.newPage();
      await page.goto(url);
      const sent = () => listActivity(stack, { pageSize: 100, kinds: ['sign_up'] });
      const { events } = await eventually(sent, (found) => found.events.length > 0);
      expect(events).toMatchObject([{ customProperties: { plan: { stringValue: 'pro' } } }]);
      const views = () => listActivity(stack, { pageSize: 100, kinds: ['page_view'] });
      const ofPage = ({ autoProperties }: StoredEvent) =>
        autoProperties?.['$url']?.['stringValue'] === url;
      await eventually(views, (found) => found.events.some(ofPage));
    } finally {
      await browser.close();
      server.close();
    }
  },
);

/** A recipe's text with this instance and key. */
function withOwn(code: string): string {
  return code
    .replaceAll('https://events.example.org', stack.baseUrl)
    .replaceAll('pub_...', stack.publicKey);
}

it('what Shopify’s pixel sends is taken', async () => {
  const [code = ''] = recipe('Shopify', 'js');
  let told: ((event: object) => Promise<Response>) | undefined;
  const analytics = {
    subscribe: (name: string, run: (event: object) => Promise<Response>) => {
      if (name === 'checkout_completed') told = run;
    },
  };
  new Function('analytics', withOwn(code))(analytics);
  // As the vendor's documentation has the event.
  const checkout = { order: { id: '1234' }, totalPrice: { amount: 29.5, currencyCode: 'EUR' } };
  const response = await told?.({ timestamp: new Date().toISOString(), data: { checkout } });
  expect(await response?.json()).toEqual({ accepted: 1 });
});
