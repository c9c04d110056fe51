// What the browser's script tells of a page that is left, in Chromium: how long it was looked at, how far it was
// scrolled, once for each page view. The pages' clock stands still until a test moves it.

import { randomUUID } from 'node:crypto';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { hasBrowser, startBrowser } from './harness/clients/browser.ts';
import { call } from './harness/clients/client.ts';
import { type Stack, startStack } from './harness/servers/stack.ts';
import {
  kinds,
  type ScriptSite,
  type StoredPage,
  startScriptSite,
  storedPages,
} from './harness/web/script-site.ts';

const clock = 'const begunMs = Date.now(); window.at = 0; Date.now = () => begunMs + window.at;';
const unseen = "Object.defineProperty(document, 'hidden', { get: () => !window.isSeen });";

describe.runIf(hasBrowser)('the script on a page that is left', () => {
  let stack: Stack;
  let browser: Browser;
  let site: ScriptSite;
  beforeAll(async () => {
    stack = await startStack();
    browser = await startBrowser();
    site = await startScriptSite({
      ...{ browser, key: stack.publicKey, scriptUrl: stack.baseUrl, eventsUrl: stack.baseUrl },
      attributes: {
        granted: 'data-consent="granted"',
        known: 'data-consent="granted"',
        off: 'data-auto="pages,outbound,downloads"',
      },
    });
  });
  afterAll(async () => {
    await browser?.close();
    await site?.stop();
    await stack?.stop();
  });

  const stored = (start: string, count: number) =>
    storedPages(stack.clickhouseUrl, start, count, true);
  const toldOf = (events: readonly StoredPage[]) =>
    events
      .filter(({ kind }) => kind === 'page_leave')
      .map(({ pathname, ints }) => [pathname, Number(ints['engaged_ms']), Number(ints['scroll'])]);
  /** The visitor does something after so many seconds. */
  const press = async (page: Page, seconds: number) => {
    await page.evaluate(`at += ${seconds * 1_000}`);
    await page.keyboard.press('Shift');
  };
  /** The page is so many times as high as the window. */
  const stretch = (page: Page, times: number) =>
    page.evaluate(
      `document.body.style.margin = 0; document.body.style.height = '${times * 100}vh'`,
    );

  it.concurrent('says how long it was looked at and how far it was scrolled, in its visit', async () => {
    const path = `/granted/${randomUUID()}`;
    const { page } = await site.visit(path, clock);
    await stretch(page, 4);
    await press(page, 10);
    // Nobody was there for the rest.
    await press(page, 100);
    await page.evaluate('new Promise((done) => { onscroll = done; scrollTo(0, innerHeight) })');
    await page.evaluate('new Promise((done) => { onscroll = done; scrollTo(0, 0) })');
    await page.evaluate('at += 2000');
    await page.goto('about:blank');
    const events = await stored(path, 3);
    expect(kinds(events)).toEqual(['early', 'page_leave', 'page_view']);
    expect(toldOf(events)).toEqual([[path, 42_000, 50]]);
    expect(new Set(events.map(({ sessionId }) => sessionId)).size).toBe(1);
  });

  it.concurrent('of each route, once, before the view of the next', async () => {
    const path = `/cookieless/${randomUUID()}`;
    const { page } = await site.visit(`${path}/one?utm_source=news&token=1`, clock);
    await page.evaluate(`at += 1000; history.pushState({}, '', '${path}/two')`);
    await stretch(page, 2);
    await page.evaluate(`at += 2000; history.pushState({}, '', '${path}/three?x=1')`);
    await page.evaluate(`at += 3000; history.replaceState({}, '', '${path}/three?x=2')`);
    await page.evaluate('at += 4000');
    await page.goto('about:blank');
    const events = await stored(path, 6);
    expect(toldOf(events).sort()).toEqual([
      [`${path}/one`, 1_000, 100],
      [`${path}/three`, 7_000, 50],
      [`${path}/two`, 2_000, 50],
    ]);
    const left = events.find(({ kind, url }) => kind === 'page_leave' && url.includes('/one'));
    expect(left?.url).toBe(`${site.url}${path}/one?utm_source=news`);
    expect(left?.referrer).toBe('');
    expect(new Set(events.map(({ sessionId }) => sessionId)).size).toBe(1);
  });

  it.concurrent('once, where it is hidden before it is left, and anew where it comes back', async () => {
    const path = `/cookieless/${randomUUID()}`;
    const { page } = await site.visit(path, `${clock} window.isSeen = true; ${unseen}`);
    const turn = (isSeen: boolean) =>
      page.evaluate(
        `isSeen = ${isSeen}; document.dispatchEvent(new Event('visibilitychange', { bubbles: true }))`,
      );
    await page.evaluate('at += 5000');
    await turn(false);
    await page.evaluate('at += 5000');
    await turn(true);
    await page.evaluate('at += 7000; dispatchEvent(new PageTransitionEvent("pagehide"))');
    await page.evaluate(
      'at += 9000; dispatchEvent(new PageTransitionEvent("pageshow", { persisted: true }))',
    );
    await press(page, 3);
    await page.goto('about:blank');
    const events = await stored(path, 4);
    expect(toldOf(events)).toEqual([
      [path, 5_000, 100],
      [path, 3_000, 100],
    ]);
  });

  it.concurrent('counts no time in which nobody can see it', async () => {
    const path = `/cookieless/${randomUUID()}`;
    const { page, openTab } = await site.visit(`${path}/never`, clock + unseen);
    await press(page, 20);
    await page.goto('about:blank');
    const later = await openTab(`${path}/later`);
    await later.evaluate(
      "at += 20000; isSeen = true; document.dispatchEvent(new Event('visibilitychange', { bubbles: true }))",
    );
    await later.evaluate('at += 4000');
    await later.goto('about:blank');
    expect(toldOf(await stored(path, 4)).sort()).toEqual([
      [`${path}/later`, 4_000, 100],
      [`${path}/never`, 0, 100],
    ]);
  });

  it.concurrent('and a visit of one page is one, and a bounce', async () => {
    const path = `/known/${randomUUID()}`;
    const { page } = await site.visit(path, clock);
    await page.evaluate('at += 5000');
    await page.goto('about:blank');
    await stored(path, 2);
    const ask = async (metric: string) => {
      const filters = [{ property: '$pathname', operator: 'FILTER_OPERATOR_EQUALS', value: path }];
      const session = { metric: `SESSION_METRIC_${metric}`, scope: { filters } };
      const spec = { insightType: 'INSIGHT_TYPE_SEGMENTATION', session };
      const [from, to] = [-1, 1].map((day) => new Date(Date.now() + day * 86_400_000));
      const method = '/shared.insights.v1.InsightsService/Query';
      const timeRange = { from, to };
      const { body } = await call(stack.baseUrl, method, stack.privateKey, { spec, timeRange });
      return body;
    };
    const metrics = ['SESSIONS', 'BOUNCE_RATE', 'AVG_EVENTS_PER_SESSION'];
    expect(await Promise.all(metrics.map(ask))).toMatchObject(
      [1, 1, 2].map((total) => ({ segmentation: { total } })),
    );
  });

  it.concurrent('nothing so late that it would begin a visit, where nothing was seen, and where it is switched off', async () => {
    const path = `/${randomUUID()}`;
    const { page, openTab } = await site.visit(`/cookieless${path}/late`, clock);
    await page.evaluate('at += 30 * 60_000');
    await page.goto('about:blank');
    const refused = await openTab(`/cookieless${path}/kept-back`);
    await refused.evaluate(`millrace.before((event) => event.kind !== 'page_view');
      history.pushState({}, '', '/cookieless${path}/unseen')`);
    await refused.goto('about:blank');
    const off = await openTab(`/off${path}`);
    await off.evaluate("millrace.track('last')");
    await off.goto('about:blank');
    expect(kinds(await stored(`/off${path}`, 2))).toEqual(['last', 'page_view']);
    expect(kinds(await stored(`/cookieless${path}/kept-back`, 2))).toEqual([
      'page_leave',
      'page_view',
    ]);
    expect(kinds(await stored(`/cookieless${path}`, 3))).toEqual([
      'page_leave',
      'page_view',
      'page_view',
    ]);
  });
});
