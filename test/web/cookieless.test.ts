// The default script on a page, in a real browser, and what the app shows of its visitors, who are cookieless: their
// visits with the events, and questions about users that are not empty.

import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { hasBrowser, startBrowser } from '../harness/clients/browser.ts';
import {
  batchCreate,
  eventually,
  listActivity,
  newEvent,
  untilCounted,
} from '../harness/clients/client.ts';
import { axe } from '../harness/web/accessibility.ts';
import { untilFocused } from '../harness/web/keyboard.ts';
import { type ScriptSite, startScriptSite } from '../harness/web/script-site.ts';
import { useWebApp } from '../harness/web/use-web-app.ts';
import { patienceMs, type Reader } from '../harness/web/web-app.ts';

const timeout = patienceMs;
const firefox = 'Mozilla/5.0 (X11; Linux x86_64; rv:143.0) Gecko/20100101 Firefox/143.0';
const counted = 'Cookieless visitors are counted';

describe.runIf(hasBrowser)('a project with the default script', () => {
  const app = useWebApp();
  let browser: Browser;
  let site: ScriptSite;
  let reader: Reader & { page: Page };

  beforeAll(async () => {
    browser = await startBrowser();
    const { baseUrl, publicKey } = app.stack;
    const urls = { scriptUrl: baseUrl, eventsUrl: baseUrl };
    site = await startScriptSite({
      ...{ browser, ...urls, key: publicKey, attributes: {}, userAgent: firefox },
    });
    reader = await app.signedIn('/account');
  });
  afterAll(async () => {
    await browser?.close();
    await site?.stop();
  });

  async function go(path: string): Promise<Page> {
    const { page } = reader;
    await page.goto(`${app.stack.baseUrl}/p/${app.stack.projectId}${path}`);
    return page;
  }

  const table = (page: Page) => page.getByRole('grid', { name: 'Visits, newest first' });
  const cells = async (page: Page): Promise<string[][]> => {
    const found = await table(page).locator('.table-row').all();
    return Promise.all(found.map((row) => row.getByRole('gridcell').allTextContents()));
  };

  it('says that nobody was there before its first visitor', async () => {
    await (await go('/profiles')).getByRole('heading', { name: 'Nobody yet' }).waitFor();
    const page = await go('/visits');
    await page.getByRole('heading', { name: 'No visits in this range' }).waitFor();
    await go('/insights/funnel');
    await page.getByText('Nobody took the first step').waitFor();
    expect(await page.getByLabel('Count cookieless visitors as users').isChecked()).toBe(false);
    expect(await page.getByText(counted).count()).toBe(0);
    expect(reader.faults).toEqual([]);
  });

  it('lists the visit of a cookieless visitor, with its events in order', async () => {
    const { page: shop, openTab } = await site.visit('/shop/first');
    const stored = (count: number) =>
      eventually(
        () => listActivity(app.stack, { kinds: ['page_view'] }),
        ({ events }) => events.length === count,
      );
    await stored(1);
    await openTab('/shop/second');
    await stored(2);
    await shop.close();
    await untilCounted(app.stack);

    const profiles = await go('/profiles');
    await profiles.getByRole('heading', { name: 'Cookieless visitors only' }).waitFor();
    expect(await axe(profiles)).toEqual([]);
    await profiles.getByRole('link', { name: 'See their visits' }).click();
    const { page } = reader;
    await table(page).locator('.table-row').first().waitFor({ timeout });
    const [[, , , entry, exit, , , device, who] = [], ...others] = await cells(page);
    expect([entry, exit, who]).toEqual(['/shop/first', '/shop/second', 'Cookieless']);
    expect(device).toMatch(/^Firefox, Linux/);
    expect(others).toEqual([]);

    await table(page).press('Enter');
    const drawer = page.getByRole('dialog', { name: 'Visit' });
    const steps = drawer.locator('.steps li');
    await expect.poll(() => steps.count(), { timeout }).toBeGreaterThanOrEqual(2);
    const views = await steps.filter({ hasText: 'Page view' }).locator('.clip').allTextContents();
    expect(views).toEqual(['/shop/first', '/shop/second']);
    expect(await axe(page)).toEqual([]);
    await drawer.getByRole('link', { name: 'Events with their properties' }).click();
    await page.getByText(/^\d events: all of them\./).waitFor();
    expect(reader.faults).toEqual([]);
  });

  it('counts its visitors in questions about users, says so, and leaves them out when asked', async () => {
    const funnel = await go('/insights/funnel');
    const answer = funnel.getByRole('region', { name: 'Answer' });
    await answer.getByText(counted).waitFor();
    const box = funnel.getByLabel('Count cookieless visitors as users');
    expect(await box.isChecked()).toBe(true);
    expect(await answer.getByText('Nobody took the first step').count()).toBe(0);
    await answer.getByRole('button', { name: 'Leave them out' }).click();
    await answer.getByText('Nobody took the first step').waitFor();
    expect(await box.isChecked()).toBe(false);
    await answer.getByRole('button', { name: 'Count them' }).click();
    await answer.getByText('Nobody took the first step').waitFor({ state: 'detached' });
    for (const form of ['retention', 'lifecycle', 'stickiness']) {
      const page = await go(`/insights/${form}`);
      await page.getByText(counted).waitFor();
      expect(await page.getByText(/Nobody began|Not counted/).count()).toBe(0);
    }
    // Everybody's visits count in any case.
    await (await go('/insights/sessions')).getByText('Complete until').waitFor();
    expect(await funnel.getByText(counted).count()).toBe(0);
    expect(reader.faults).toEqual([]);
  });

  it('counts them on the overview and in the first question of a new tile', async () => {
    const page = await go('');
    const visitors = page.locator('.overview:not([aria-busy=true]) .figure-tile b').first();
    const shown = (text: string) =>
      expect.poll(() => visitors.textContent(), { timeout }).toBe(text);
    await shown('1');
    const chart = page.getByRole('region', { name: /^Chart/ });
    await chart.getByText(counted).waitFor();
    await chart.getByRole('button', { name: 'Leave them out' }).click();
    await shown('0');
    await chart.getByRole('button', { name: 'Count them' }).click();
    await shown('1');

    await go('/boards');
    await page.getByRole('button', { name: 'New board' }).click();
    await untilFocused(page, page.getByRole('dialog').getByRole('textbox'));
    await page.keyboard.type('Shop');
    await page.keyboard.press('Enter');
    await page.getByRole('button', { name: 'Add insight' }).click();
    const box = page.getByLabel('Count cookieless visitors as users');
    await expect.poll(() => box.isChecked(), { timeout }).toBe(true);
    expect(reader.faults).toEqual([]);
  });

  it('lists a person’s visit once however often it is sent, and leads to the profile', async () => {
    const event = newEvent({ distinctId: 'ada' });
    for (let times = 0; times < 3; times++) {
      const headers = { 'user-agent': firefox };
      expect((await batchCreate(app.stack, [event], { headers })).status).toBe(200);
    }
    await eventually(
      () => listActivity(app.stack, { distinctId: 'ada' }),
      ({ events }) => events.length === 1,
    );
    // An event may be listed a moment before the views of its insert, of which visits are read.
    await untilCounted(app.stack);
    const page = await go('/visits');
    // Nobody has named this person: the id that was sent stands in the tooltip.
    const row = table(page).locator('.table-row', { has: page.getByTitle('ada', { exact: true }) });
    await expect.poll(() => row.count(), { timeout }).toBe(1);
    const [, , events] = await row.getByRole('gridcell').allTextContents();
    expect(events).toBe('1');
    await row.click();
    const visit = page.getByRole('dialog', { name: 'Visit' });
    await visit.getByRole('link', { name: /^Visitor [0-9a-f]{8}$/ }).click();
    await page.getByRole('heading', { level: 2, name: 'Traits' }).waitFor();
    expect(reader.faults).toEqual([]);
  });
});
