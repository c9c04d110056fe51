// A visitor of their own in a real browser, on a page in which one vendor's SDK plays.

import type { Browser, BrowserContext, Page } from 'playwright-core';
import { eventually } from '../clients/client.ts';
import type { Player, Stage } from './player.ts';
import type { PlaysSite } from './plays-site.ts';

/** Some of the SDKs drop what a program that drives a browser does, by its agent or by this mark. */
const userAgent =
  'Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0.0.0 Safari/537.36';
const undriven = "Object.defineProperty(Navigator.prototype, 'webdriver', { get: () => false })";

/** For the browser: a page of a test asks no host of a vendor. */
export const onlyLoopback = [
  '--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE localhost, EXCLUDE 127.0.0.1',
];

interface BrowserStage extends Stage {
  browser: Browser;
  site: PlaysSite;
  past: string;
  /** Whether the SDK sends what is tracked as the page is left. */
  sendsLast: boolean;
}

/** Resolves once the page has played. */
export async function startBrowserPlayer(sdk: string, stage: BrowserStage): Promise<Player> {
  const { customer, gate, browser, site, past, sendsLast } = stage;
  site.addPage(sdk, { url: gate.url, key: customer.key, past });
  const context = await browser.newContext({ userAgent });
  await context.addInitScript(undriven);
  await serveVendors(context, site);
  const page = await context.newPage();
  const faults: string[] = [];
  page.on('pageerror', (error) => faults.push(String(error)));
  await page.goto(`${site.url}/${sdk}`);
  await playing(page, sdk, faults);
  return {
    ...{ sdk, customer, gate },
    async track(event) {
      await page.evaluate(
        `window.playing.then((track) => track('${event}')).then(() => {}, () => {})`,
      );
    },
    async end() {
      const views = await countOf(customer, 'page_view');
      // In one turn: the SDK has no time of its own in between.
      const left = `window.playing.then((track) => { track('last'); location.reload(); })`;
      await Promise.all([page.waitForEvent('load'), page.evaluate(left).catch(() => {})]);
      await playing(page, sdk, faults);
      await eventually(
        () => countOf(customer, 'page_view'),
        (count) => count > views,
        60_000,
      );
      if (sendsLast) await eventually(() => countOf(customer, 'last'), Boolean, 60_000);
      await page.goto('about:blank');
      await context.close();
    },
  };
}

/** In the place of hosts that the browser does not reach. */
async function serveVendors(context: BrowserContext, { vendors }: PlaysSite): Promise<void> {
  const headers = { 'access-control-allow-origin': '*', 'content-type': 'text/javascript' };
  for (const [address, body] of vendors) {
    await context.route(address, (route) => route.fulfill({ headers, body }));
  }
}

async function playing(page: Page, sdk: string, faults: readonly string[]): Promise<void> {
  await page.waitForFunction('window.playing !== undefined').catch((error: unknown) => {
    throw new Error(`${sdk}: ${String(error)} ${faults.join('\n')}`);
  });
  await page.evaluate('window.playing.then(() => {})');
}

async function countOf(customer: Player['customer'], kind: string): Promise<number> {
  return (await customer.events()).filter((event) => event['kind'] === kind).length;
}
