// View all of a ranking in a real browser, where one answer does not have all of its values: pages behind the greatest
// hundred, and a search that reaches every value by its text or by its name.

import type { Page } from 'playwright-core';
import { beforeAll, describe, expect, it } from 'vitest';
import { hasBrowser } from '../harness/clients/browser.ts';
import {
  batchCreate,
  eventually,
  listActivity,
  newEvent,
  untilCounted,
} from '../harness/clients/client.ts';
import { axe } from '../harness/web/accessibility.ts';
import { useWebApp } from '../harness/web/use-web-app.ts';
import { patienceMs, type Reader } from '../harness/web/web-app.ts';

const timeout = patienceMs;
const dayMs = 86_400_000;
const startMs = Math.floor(Date.now() / dayMs) * dayMs;
const dayAt = (days: number) => new Date(startMs + days * dayMs).toISOString().slice(0, 10);

function view(distinctId: string, properties: Record<string, string>, sessionId: string) {
  return newEvent({
    ...{ distinctId, sessionId, kind: 'page_view' },
    occurTime: new Date(startMs).toISOString(),
    autoProperties: Object.fromEntries(
      Object.entries(properties).map(([name, stringValue]) => [name, { stringValue }]),
    ),
  });
}

const visit = (): string => String(newEvent().sessionId);
const reading = visit();
const numbers = (count: number) => Array.from({ length: count }, (_, index) => index + 1);

/** 120 pages with two views each, and one with a single view: none of the greatest hundred. */
const pages = [
  ...numbers(120).flatMap((page) => [`/item-${page}`, `/item-${page}`]),
  '/rare/%C5%8Dkami',
].map(($pathname) => view('ada', { $pathname }, reading));
/** 105 hosts with two visits each, and a host of Pinterest with one. */
const visits = [
  ...numbers(105).flatMap((host) => [`site-${host}.example`, `site-${host}.example`]),
  'pin.it',
].map(($referrerDomain) => view('bob', { $referrerDomain, $pathname: '/item-1' }, visit()));

describe.runIf(hasBrowser)('all rows of a ranking', () => {
  const app = useWebApp();
  let reader: Reader & { page: Page };

  beforeAll(async () => {
    const sent = [...pages, ...visits];
    const { status } = await batchCreate(app.stack, sent, { key: app.stack.privateKey });
    expect(status).toBe(200);
    await eventually(
      () => listActivity(app.stack, { pageSize: 1_000 }),
      (list) => list.events.length === sent.length,
    );
    await untilCounted(app.stack);
    reader = await app.signedIn('/account');
  });

  async function openAll(card: string, more = '') {
    const { page } = reader;
    const range = `from=${dayAt(-1)}&to=${dayAt(1)}`;
    await page.goto(`${app.stack.baseUrl}/p/${app.stack.projectId}?${range}${more}`);
    const region = page.getByRole('region', { name: card, exact: true });
    await region.getByRole('button', { name: 'View all' }).click();
    const dialog = page.getByRole('dialog', { name: card });
    const rows = async () => {
      const texts = await dialog.getByRole('listitem').allInnerTexts();
      return texts.map((row) => row.split('\n'));
    };
    return { page, dialog, rows };
  }

  it('are read page by page to the last one', async () => {
    const { page, dialog, rows } = await openAll('Pages');
    await dialog.getByText('1 to 15 of 121 rows.').waitFor();
    await expect.poll(async () => (await rows())[0], { timeout }).toEqual(['/item-1', '2', '213']);
    const next = dialog.getByRole('button', { name: 'Next' });
    for (const from of [16, 31, 46, 61, 76, 91, 106, 121]) {
      await next.press('Enter');
      const to = Math.min(from + 14, 121);
      await dialog.getByText(`${from} to ${to} of 121 rows.`).waitFor();
    }
    await expect.poll(rows, { timeout }).toEqual([['/rare/ōkami', '1', '1']]);
    expect(await next.isDisabled()).toBe(true);
    expect(await axe(page)).toEqual([]);
    expect(reader.faults).toEqual([]);
  });

  it('are all found by a search, with the shares of the whole', async () => {
    const { dialog, rows } = await openAll('Pages');
    await dialog.getByText('1 to 15 of 121 rows.').waitFor();
    const search = dialog.getByLabel('Search');
    await search.fill('ōkami');
    await dialog.getByText('1 to 1 of 1 row.').waitFor();
    await expect.poll(rows, { timeout }).toEqual([['/rare/ōkami', '1', '1']]);
    const share = () => dialog.locator('li b').first().getAttribute('title');
    await expect.poll(share, { timeout }).toBe('0.2% of all');
    await search.fill('item-');
    await dialog.getByText('1 to 15 of 120 rows.').waitFor();
    await search.fill('no such page');
    await dialog.getByText('Nothing found.').waitFor();
    await search.fill('rare');
    await dialog.getByRole('button', { name: /rare/ }).click();
    await dialog.waitFor({ state: 'detached' });
    const visitors = () => reader.page.locator('[data-tile=visitors] b').allTextContents();
    await expect.poll(visitors, { timeout }).toEqual(['1']);
    expect(reader.faults).toEqual([]);
  });

  it('of visits keep their numbers under a search, by names of sites too', async () => {
    const { dialog, rows } = await openAll('Sources');
    await dialog.getByText('1 to 15 of 107 rows.').waitFor();
    await dialog.getByLabel('Search').fill('pinterest');
    await expect.poll(rows, { timeout }).toEqual([['Pinterest pin.it', '100%', '1']]);
    await dialog.getByLabel('Search').fill('site-105');
    await expect.poll(rows, { timeout }).toEqual([['site-105.example', '100%', '2']]);
    const filtered = await openAll(
      'Sources',
      `&filters=${encodeURIComponent('[["$pathname",1,0,"/item-1"]]')}`,
    );
    await filtered.dialog.getByLabel('Search').fill('pinterest');
    await expect.poll(filtered.rows, { timeout }).toHaveLength(1);
    expect((await filtered.rows())[0]?.at(-1)).toBe('1');
    expect(reader.faults).toEqual([]);
  });
});
