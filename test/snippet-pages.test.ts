// The browser's script on pages of another site, in Chromium, against the real service: what it takes for a page, what
// it tells of it, and what it does about wrong clocks, ids that are none, and more unsent than a beacon takes.

import { randomUUID } from 'node:crypto';
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { clickIds } from '../proto/wire/click-ids.ts';
import { hasBrowser, startBrowser } from './harness/clients/browser.ts';
import { eventually } from './harness/clients/client.ts';
import { type Stack, startStack } from './harness/servers/stack.ts';
import { kinds, type ScriptSite, startScriptSite, storedPages } from './harness/web/script-site.ts';

describe.runIf(hasBrowser)('the script on a page', () => {
  let stack: Stack;
  let browser: Browser;
  let site: ScriptSite;
  const visit: ScriptSite['visit'] = (path, init) => site.visit(path, init);
  const stored = (start: string, count: number) => storedPages(stack.clickhouseUrl, start, count);

  beforeAll(async () => {
    stack = await startStack();
    browser = await startBrowser();
    site = await startScriptSite({
      ...{ browser, key: stack.publicKey, scriptUrl: stack.baseUrl, eventsUrl: stack.baseUrl },
      attributes: {
        granted: 'data-consent="granted"',
        front: 'data-exclude="/,/early.js"',
        hash: 'data-hash data-exclude="/hash/*#/secret"',
      },
    });
  });
  afterAll(async () => {
    await browser?.close();
    await site?.stop();
    await stack?.stop();
  });

  it.concurrent('sends what is unsent when the page is left at once, more than a beacon takes', async () => {
    const fill = (bytes: number, text: string) =>
      `Object.fromEntries(Array.from({ length: ${bytes / 1_000} },
        (_, n) => ['text' + n, '${text}'.repeat(${1_000 / Buffer.byteLength(text)})]))`;
    const path = `/cookieless/${randomUUID()}`;
    for (const [name, events, bytes, text] of [
      ['many', 30, 3_000, 'x'],
      ['wide', 30, 3_000, '文字é'],
      ['large', 1, 90_000, 'x'],
      ['single', 4, 40_000, 'x'],
    ] as const) {
      const { page } = await visit(`${path}/${name}`);
      await stored(`${path}/${name}`, 1);
      await page.evaluate(`for (let n = 0; n < ${events}; n++) millrace.track('last', ${fill(bytes, text)});
        location.href = '/bare'`);
      expect(kinds(await stored(`${path}/${name}`, events + 1))).toHaveLength(events + 1);
    }
  });

  it.concurrent('halves what no beacon takes, fetches the rest while it is hidden, and tells what is lost', async () => {
    const path = `/cookieless/${randomUUID()}`;
    // Nothing is sent before the page is hidden, however late that is.
    const init = 'window.ownFetch = fetch; window.setTimeout = () => 1';
    const { page, said } = await visit(path, init);
    const sizes = await page.evaluate(`const own = navigator.sendBeacon.bind(navigator);
      const sizes = [];
      navigator.sendBeacon = (url, body) => {
        const isTaken = body.length < 10_000 && own(url, body);
        sizes.push((isTaken ? '' : '-') + JSON.parse(body).events.length);
        return isTaken;
      };
      const thousand = 'x'.repeat(1_000);
      for (let n = 0; n < 7; n++) millrace.track('n' + n, { a: thousand, b: thousand });
      millrace.track('huge', Object.fromEntries(Array(12).fill(0).map((_, n) => ['t' + n, thousand])));
      window.fetch = (...call) => {
        window.fetch = () => Promise.reject(Error());
        return ownFetch(...call);
      };
      dispatchEvent(new Event('visibilitychange'));
      dispatchEvent(new Event('visibilitychange'));
      sizes.join()`);
    expect(sizes).toBe('-9,4,-5,2,-3,1,-2,1,-1,-1');
    expect(kinds(await stored(path, 9))).toContain('huge');
    expect(said).toEqual(['millrace: left before all was sent']);
  });

  const clockOff = (ms: number): string => `{
    const own = Date;
    window.clockOff = ${ms};
    window.Date = class extends own {
      constructor(...given) { given.length > 0 ? super(...given) : super(own.now() + clockOff); }
      static now() { return own.now() + clockOff; }
    };
  }`;

  it.concurrent.each([
    ['a day slow', -25 * 3_600_000],
    ['a day fast', 25 * 3_600_000],
    ['five minutes fast', 300_000],
    ['of 1970', Date.UTC(1970, 0, 2) - Date.now()],
  ])('counts each event now where the device has a clock %s', async (_, ms) => {
    const path = `/cookieless/${randomUUID()}`;
    const sentMs = Date.now();
    const { page, said } = await visit(path, clockOff(ms));
    await page.evaluate("millrace.track('last')");
    await page.goto('about:blank');
    const events = await stored(path, 2);
    for (const { timeMs } of events) {
      expect(timeMs).toBeGreaterThan(sentMs - 60_000);
      expect(timeMs).toBeLessThan(Date.now() + 60_000);
    }
    expect(events[0]?.distinctId).toMatch(/^cookieless-/);
    expect(said).toEqual([]);
  });

  it.concurrent('tells once what the service drops', async () => {
    const { page, said } = await visit(`/cookieless/${randomUUID()}`, clockOff(30 * 3_600_000));
    // The clock is set right between the event and its sending.
    await page.evaluate('clockOff = 0; millrace.flush()');
    await eventually(
      async () => said,
      ({ length }) => length > 0,
    );
    expect(said).toEqual(['millrace: events dropped: day_out_of_range']);
  });

  it.concurrent.each([
    ['cookieless', '1'],
    ['granted', 'secret'],
  ])('sends the click ids that $channel reads, with consent %s as %s', async (kind, value) => {
    const path = `/${kind}/${randomUUID()}`;
    const { page } = await visit(`${path}/none?gclid=`);
    for (const name of clickIds) {
      const query = `fbclid=f&${name}=secret&email=a`;
      await page.evaluate(`history.pushState({}, '', '${path}/${name}?${query}')`);
    }
    const [none, ...events] = (
      await stored(`${path}/`, clickIds.length + (kind === 'granted' ? 2 : 1))
    ).filter((event) => event.kind === 'page_view');
    expect(none?.channel).toBe('direct');
    expect(events.map(({ url }) => url)).toEqual(
      clickIds.map((name) => `${site.url}${path}/${name}?${name}=${value}`),
    );
    expect(new Set(events.map(({ channel }) => channel))).toEqual(
      new Set(['paid search', 'display', 'paid social']),
    );
  });

  it.concurrent('takes no placeholder for an id, and says so', async () => {
    const path = `/granted/${randomUUID()}`;
    const { page, said } = await visit(path);
    const wrong = ['undefined', 'null', 'NaN', '{}', '[]', '() => 1', 'false', "'null'", "' '"];
    for (const id of [...wrong, "'Anonymous'", "'[object Object]'", 'Promise.resolve(1)']) {
      await page.evaluate(`millrace.identify(${id}, { plan: 'pro' })`);
    }
    await page.evaluate("millrace.track('after'); millrace.flush()");
    const events = await stored(path, 3);
    for (const { distinctId } of events) expect(distinctId).toMatch(/^anon-/);
    expect(said[0]).toBe('millrace: identify needs an id, not undefined');
    expect(said.length).toBeGreaterThanOrEqual(wrong.length - 1);
  });

  it.concurrent('sees routes in fragments, and nothing that follows them', async () => {
    const path = `/hash/${randomUUID()}`;
    const { page } = await visit(`${path}#/one?token=secret`);
    await page.evaluate("location.hash = '#/two&token=secret'");
    await page.evaluate("location.hash = '#/secret'; millrace.track('hidden')");
    await page.evaluate("history.pushState({}, '', '#three=secret')");
    await page.evaluate("location.hash = '#three'");
    const events = await stored(path, 3);
    const routes = ['#/one', '#/two', '#three'].map((route) => path + route);
    expect(events.map(({ pathname }) => pathname)).toEqual(routes);
    expect(events.map(({ url }) => url)).toEqual(routes.map((route) => site.url + route));
    expect(events.map(({ referrer }) => referrer)).toEqual(['', site.url + routes[0], '']);
  });

  it.concurrent.each([
    ['with the Navigation API', ''],
    ['without it', 'delete window.navigation'],
  ])('sees each page of an application, %s', async (_, init) => {
    const path = `/cookieless/${randomUUID()}`;
    const { page } = await visit(`${path}/one`, init);
    await page.evaluate(`if (window.navigation) {
      navigation.addEventListener('navigate', (event) => event.canIntercept && event.intercept());
      navigation.navigate('${path}/two');
    } else history.pushState({}, '', '${path}/two')`);
    await page.evaluate(`history.replaceState({}, '', '${path}/three')`);
    await page.evaluate("location.hash = 'part'");
    await page.goBack();
    await page.goBack();
    const events = await stored(path, 4);
    const visited = ['one', 'two', 'three', 'one'].map((name) => `${path}/${name}`);
    expect(events.map(({ pathname }) => pathname)).toEqual(visited);
  });

  it.concurrent('excludes paths of its own site alone', async () => {
    const path = `/front/${randomUUID()}`;
    const { page } = await visit('/front');
    await page.goto(site.url + path, { referer: 'https://www.google.com/' });
    await page.click('#out');
    const events = await stored(path, 2);
    expect(events.map(({ referrer }) => referrer)).toEqual(
      Array(2).fill('https://www.google.com/'),
    );
    expect(events[0]?.channel).toBe('organic search');
    const click = events.find(({ kind }) => kind === 'outbound_click');
    expect(click?.strings['url']).toBe(`${site.elsewhere}?utm_source=shop`);
  });

  it.concurrent('tells of a page its title, its language and the class of its viewport', async () => {
    const path = `/cookieless/${randomUUID()}`;
    const { page } = await visit(path);
    await page.setViewportSize({ width: 400, height: 800 });
    await page.evaluate("document.title = 'Zürich'; millrace.page(); millrace.track('other')");
    await page.evaluate('millrace.flush()');
    const events = await stored(path, 3);
    const [first, second] = events.filter(({ kind }) => kind === 'page_view');
    const other = events.find(({ kind }) => kind === 'other');
    const told = { $title: 'shop', $language: 'en-US', $viewport: 'large' };
    expect(first?.strings).toMatchObject(told);
    expect(second?.strings).toMatchObject({ ...told, $title: 'Zürich', $viewport: 'small' });
    expect(other?.strings).not.toHaveProperty('$title');
  });

  it.concurrent('runs as a module, and says what is missing where its element tells nothing', async () => {
    const path = `/module/${randomUUID()}`;
    await visit(path);
    expect(kinds(await stored(path, 1))).toEqual(['page_view']);
    for (const kind of ['bare', 'tags']) {
      const { page, said } = await visit(`/${kind}/${randomUUID()}`);
      const sent: string[] = [];
      page.on('request', (request) => sent.push(request.url()));
      const isThere = () => page.evaluate("typeof window.millrace?.track === 'function'");
      await eventually(isThere, (there) => there === true);
      await page.evaluate("millrace.track('nobody'); millrace.identify('ada'); millrace.flush()");
      expect(said[0]).toBe('millrace: no data-key');
      expect(sent).toEqual([]);
    }
  });

  it('met no policy and no error', () => {
    expect(site.violations).toEqual([]);
  });
});
