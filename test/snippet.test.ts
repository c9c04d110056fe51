// The browser's script on pages of another site, in Chromium, under a strict policy, against the real service: whatever
// happens to the page, the network or the service, each event is stored once, and none waits for a preflight.

import { randomUUID } from 'node:crypto';
import { get } from 'node:http';
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { hasBrowser, startBrowser } from './harness/clients/browser.ts';
import {
  call,
  eventually,
  listActivity,
  rows,
  type StoredEvent,
} from './harness/clients/client.ts';
import { type Gate, startGate } from './harness/servers/gate.ts';
import { type Stack, startStack } from './harness/servers/stack.ts';
import { kinds, type ScriptSite, startScriptSite, storedPages } from './harness/web/script-site.ts';

const maxPackedBytes = 3_392;

let stack: Stack;
let gate: Gate;
beforeAll(async () => {
  stack = await startStack();
  gate = await startGate(stack.baseUrl);
});
afterAll(async () => {
  await gate?.stop();
  await stack?.stop();
});

it('is small', async () => {
  const packed = await new Promise<number>((resolve, reject) => {
    const headers = { 'accept-encoding': 'gzip' };
    get(`${stack.baseUrl}/millrace.js`, { headers }, async (answer) => {
      let bytes = 0;
      for await (const chunk of answer) bytes += chunk.length;
      expect(answer.headers['content-encoding']).toBe('gzip');
      resolve(bytes);
    }).once('error', reject);
  });
  expect(packed).toBeGreaterThan(1_000);
  expect(packed).toBeLessThanOrEqual(maxPackedBytes);
});

describe.runIf(hasBrowser)('the script on a page', () => {
  let browser: Browser;
  let site: ScriptSite;
  let elsewhere: string;
  /** Attributes of the script's element, by the first part of a page's path. */
  const attributes = {
    granted: 'data-consent="granted"',
    denied: 'data-consent="denied" data-remember',
    narrow:
      'data-consent="granted" data-auto="pages" data-exclude="/narrow/secret*" data-query="ref,p*"',
  };
  const visit: ScriptSite['visit'] = (path) => site.visit(path);

  beforeAll(async () => {
    browser = await startBrowser();
    site = await startScriptSite({
      ...{ browser, attributes, key: stack.publicKey },
      ...{ scriptUrl: stack.baseUrl, eventsUrl: gate.url },
    });
    ({ elsewhere } = site);
  });
  afterAll(async () => {
    await browser?.close();
    await site?.stop();
  });

  const stored = (start: string, count: number) => storedPages(stack.clickhouseUrl, start, count);

  // Most scenarios wait, so they wait together; expect.poll would need the one test that runs.
  it.concurrent('sends calls from before it was there, in one visit of one visitor', async () => {
    const path = `/granted/${randomUUID()}`;
    await visit(path);
    const events = await stored(path, 2);
    expect(kinds(events)).toEqual(['early', 'page_view']);
    expect(events[0]?.distinctId).toMatch(/^anon-[0-9a-f-]{36}$/);
    expect(new Set(events.map(({ distinctId }) => distinctId)).size).toBe(1);
    expect(new Set(events.map(({ sessionId }) => sessionId)).size).toBe(1);
  });

  it.concurrent('sees the pages of a one-page application and campaigns, and tells no more of addresses', async () => {
    const path = `/cookieless/${randomUUID()}`;
    const { page } = await visit(`${path}/one?utm_source=news&utm_medium=email&token=1#part`);
    await page.evaluate(`history.pushState({}, '', '${path}/two?q=secret')`);
    await page.evaluate(`history.replaceState({}, '', '${path}/two?q=other#part')`);
    await page.goBack();
    const events = await stored(path, 3);
    const [first, second] = [
      `${site.url}${path}/one?utm_source=news&utm_medium=email`,
      `${site.url}${path}/two`,
    ];
    expect(events.map(({ url }) => url)).toEqual([first, second, first]);
    expect(events.map(({ referrer }) => referrer)).toEqual(['', first, second]);
    expect(events[0]?.channel).toBe('email');
    expect(events[0]?.distinctId).toMatch(/^cookieless-/);
    expect(await page.evaluate('JSON.stringify(localStorage)')).toBe('{}');
  });

  it.concurrent('sees a click that leads away, while the page is left', async () => {
    const path = `/cookieless/${randomUUID()}`;
    const { page } = await visit(path);
    await page.click('#out');
    await page.waitForURL(`${elsewhere}**`);
    const events = await stored(path, 2);
    expect(kinds(events)).toEqual(['outbound_click', 'page_view']);
    const click = events.find(({ kind }) => kind === 'outbound_click');
    expect(click?.strings['url']).toBe(`${elsewhere}?utm_source=shop`);
  });

  it.concurrent('sees downloads, and what an attribute names', async () => {
    const path = `/cookieless/${randomUUID()}`;
    const { page } = await visit(path);
    await page.click('#inner');
    await page.evaluate("addEventListener('click', (event) => event.preventDefault())");
    await page.click('#file');
    const [, bought, download] = await stored(path, 3);
    expect([bought?.kind, bought?.strings['plan']]).toEqual(['bought', 'pro']);
    const url = `${site.url}/files/price.PDF`;
    expect([download?.kind, download?.strings['url']]).toEqual(['file_downloaded', url]);
  });

  it.concurrent('joins what a visitor did before and after identify', async () => {
    const path = `/granted/${randomUUID()}`;
    const externalId = randomUUID();
    const { page } = await visit(path);
    await page.evaluate(
      `millrace.identify('${externalId}', { plan: 'pro' }); millrace.track('after')`,
    );
    const events = await stored(path, 3);
    const after = events.find(({ kind }) => kind === 'after');
    expect(after?.distinctId).toBe(externalId);
    const get = { externalId };
    const ask = () =>
      call(
        stack.baseUrl,
        '/shared.profiles.v1.ProfilesService/GetByExternalId',
        stack.privateKey,
        get,
      );
    const answer = await eventually(ask, ({ body }) =>
      JSON.stringify(body).includes('"totalEvents":"3"'),
    );
    expect(answer.body).toMatchObject({ profile: { externalId, properties: { plan: 'pro' } } });
    const identifies = () => gate.requests.filter((line) => line.includes('/m/i?')).length;
    expect(identifies()).toBe(1);
    await page.evaluate(`millrace.identify('${externalId}')`);
    await page.evaluate("millrace.reset(); millrace.track('somebody'); millrace.flush()");
    const [somebody] = (await stored(path, 4)).slice(-1);
    expect(somebody?.distinctId).toMatch(/^anon-/);
    expect(somebody?.distinctId).not.toBe(events[0]?.distinctId);
    // The second identify had nothing to say.
    expect(identifies()).toBe(1);
  });

  it.concurrent('sends what is left when the page goes, once', async () => {
    const path = `/cookieless/${randomUUID()}`;
    const { page } = await visit(path);
    await page.evaluate("for (let n = 0; n < 15; n++) millrace.track('last', { n })");
    await page.goto('about:blank');
    expect(kinds(await stored(path, 16)).slice(0, 15)).toEqual(Array(15).fill('last'));
  });

  it.concurrent('sends each type as it is, and texts as long as they may be', async () => {
    const path = `/granted/${randomUUID()}`;
    const { page } = await visit(path);
    await page.evaluate(`millrace.track('typed', {
      text: 'é'.repeat(1100), emoji: '😀'.repeat(1100), half: 'a\\ud83d', int: 42, negative: -1,
      double: 0.5, large: 2 ** 60, yes: true, no: false, time: new Date(0), list: [1, 'a'],
      none: null, nan: NaN, absent: undefined, wrong: new Date(NaN), run: () => 1, big: 5n,
      circle: (() => { const one = {}; one.one = one; return one })(), $title: 'Shop',
    })`);
    await stored(path, 3);
    const { events } = await listActivity(stack, { kinds: ['typed'] });
    const typed: StoredEvent | undefined = events.find(({ autoProperties }) =>
      String(autoProperties?.['$url']?.['stringValue']).endsWith(path),
    );
    expect(typed?.customProperties).toEqual({
      text: { stringValue: 'é'.repeat(1_024) },
      emoji: { stringValue: '😀'.repeat(1_024) },
      half: { stringValue: 'a?' },
      int: { intValue: '42' },
      negative: { intValue: '-1' },
      double: { doubleValue: 0.5 },
      large: { doubleValue: 2 ** 60 },
      yes: { boolValue: true },
      no: { boolValue: false },
      time: { timestampValue: '1970-01-01T00:00:00Z' },
      list: { stringValue: '[1,"a"]' },
    });
    expect(typed?.autoProperties?.['$title']).toEqual({ stringValue: 'Shop' });
  });

  it.concurrent('drops the event that is refused, tells its rule once, and sends the others', async () => {
    const path = `/cookieless/${randomUUID()}`;
    const { page, said } = await visit(path);
    await page.evaluate(
      "millrace.track('good'); millrace.track('no kind!'); millrace.track('good', { n: 2 })",
    );
    expect(kinds(await stored(path, 3))).toEqual(['good', 'good', 'page_view']);
    const [first = ''] = await eventually(
      async () => said,
      ({ length }) => length > 0,
    );
    expect(first).toMatch(/events\[\d\]\.kind/);
    expect(said).toHaveLength(1);
  });

  it.concurrent('sends nothing where the visitor declined, and remembers it; later consent counts', async () => {
    const path = `/denied/${randomUUID()}`;
    const requests: string[] = [];
    const { page } = await visit(path);
    const keys = () =>
      page.evaluate('Object.keys(localStorage).map((key) => key.split(".").pop()).join()');
    page.on('request', (request) => requests.push(request.url()));
    await page.evaluate("millrace.track('denied'); millrace.flush()");
    expect([await keys(), requests]).toEqual(['', []]);
    await page.evaluate("millrace.consent('granted')");
    expect(kinds(await stored(path, 1))).toEqual(['page_view']);
    await page.reload();
    expect(await page.evaluate('millrace.consent()')).toBe('granted');
    await stored(path, 2);
    await page.evaluate("millrace.track('late'); millrace.consent('denied'); millrace.flush()");
    expect(await keys()).toBe('c');
    await page.reload();
    expect(await page.evaluate('millrace.consent()')).toBe('denied');
    expect(await stored(path, 2)).toHaveLength(2);
  });

  it.concurrent('knows nobody without consent, says so once, and obeys Global Privacy Control', async () => {
    const path = `/cookieless/${randomUUID()}`;
    const { page, context, said, openTab } = await visit(path);
    await page.evaluate("millrace.identify('ada'); millrace.identify('ada')");
    await eventually(
      async () => said,
      ({ length }) => length > 0,
    );
    expect(said).toEqual(['millrace: identify needs consent']);
    await context.addInitScript('navigator.globalPrivacyControl = true');
    const other = await openTab(`/granted${path}`);
    expect(await other.evaluate("millrace.consent('granted')")).toBe('cookieless');
    expect(await other.evaluate('JSON.stringify(localStorage)')).toBe('{}');
    const events = await stored(`/granted${path}`, 2);
    expect(events[0]?.distinctId).toMatch(/^cookieless-/);
  });

  it.concurrent('leaves out what its attributes and the page say', async () => {
    const path = `/narrow/${randomUUID()}`;
    const { page } = await visit(`/narrow/secret/plan`);
    await page.evaluate("millrace.track('hidden')");
    await page.evaluate(`millrace.before((event) => {
      event.properties.added = 1;
      return event.kind !== 'unwanted';
    })`);
    await page.evaluate(`history.pushState({}, '', '${path}?ref=a&page=2&q=3')`);
    await page.evaluate("millrace.track('unwanted'); millrace.track('wanted')");
    await page.evaluate("addEventListener('click', (event) => event.preventDefault())");
    await page.click('#out');
    const events = await stored(path, 2);
    expect(kinds(events)).toEqual(['page_view', 'wanted']);
    expect(events[0]).toMatchObject({ url: `${site.url}${path}?ref=a&page=2`, referrer: '' });
    expect(await stored('/narrow/secret', 0)).toEqual([]);
  });

  it.concurrent('waits until a prepared page is seen, and sees a page again that comes back', async () => {
    const path = `/cookieless/${randomUUID()}`;
    const { context, openTab } = await visit('/narrow/secret');
    await context.addInitScript(
      "Object.defineProperty(document, 'prerendering', { get: () => !window.isSeen })",
    );
    const page = await openTab(path);
    await page.evaluate("history.pushState({}, '', '#'); millrace.track('by_hand')");
    await page.evaluate(
      "window.isSeen = true; document.dispatchEvent(new Event('prerenderingchange'))",
    );
    await page.evaluate(
      "dispatchEvent(new PageTransitionEvent('pageshow', { persisted: true })); millrace.flush()",
    );
    expect(kinds(await stored(path, 3))).toEqual(['by_hand', 'page_view', 'page_view']);
  });

  // Alone, because it closes the gate.
  it('keeps events while the service is down, over navigations and between tabs', async () => {
    const path = `/granted/${randomUUID()}`;
    const { page, openTab } = await visit(`${path}/one`);
    const other = await openTab(`${path}/two`);
    await stored(path, 4);
    gate.close();
    const turned = gate.turnedAway();
    await page.evaluate("for (const n of [1, 2, 3]) millrace.track('kept', { n })");
    await other.evaluate("millrace.track('kept')");
    await other.close();
    await page.goto(`${site.url}${path}/three`);
    await expect.poll(() => gate.turnedAway() - turned).toBeGreaterThan(2);
    gate.open();
    const events = await stored(path, 10);
    expect(kinds(events).slice(3, 7)).toEqual(['kept', 'kept', 'kept', 'kept']);
    await expect
      .poll(() => page.evaluate('Object.entries(localStorage).join()'))
      .toMatch(/\.q,\[\]/);
    expect(await stored(path, 10)).toHaveLength(10);
  });

  it('met no policy, no error and no preflight, and stored nothing twice', async () => {
    expect(site.violations).toEqual([]);
    expect(gate.requests.length).toBeGreaterThan(15);
    expect(gate.requests.filter((line) => !/^POST \/m(?:\/i)?\?/.test(line))).toEqual([]);
    const query = 'SELECT count() - uniqExact(event_id) AS again, count() AS events FROM events';
    const [counts] = await rows<{ again: number; events: number }>(stack.clickhouseUrl, query);
    expect(counts?.again).toBe(0);
    expect(counts?.events).toBeGreaterThan(40);
  });
});
