// A real browser asks what payments bring, each currency by itself, and compares users with those of the period before.
// By mouse, by keyboard and on a phone.

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
const todayMs = Math.floor(Date.now() / dayMs) * dayMs;
const dayAt = (days: number) => new Date(todayMs + days * dayMs).toISOString().slice(0, 10);

function event(
  distinctId: string,
  days: number,
  kind: string,
  properties: Record<string, unknown> = {},
) {
  const occurTime = new Date(todayMs + days * dayMs).toISOString();
  return newEvent({ distinctId, kind, occurTime, customProperties: properties });
}

const paid = (distinctId: string, days: number, amount: number, currency: string) =>
  event(distinctId, days, 'purchase', {
    amount: { doubleValue: amount },
    currency: { stringValue: currency },
  });

const known = [
  paid('ada', -2, 0.1, 'EUR'),
  paid('bob', -2, 0.2, 'EUR'),
  paid('bob', -1, 12.5, 'USD'),
  event('eve', -2, 'page_view'),
  // The period before.
  event('ada', -5, 'page_view'),
  event('ada', -4, 'page_view'),
  event('eve', -5, 'page_view'),
];

describe.runIf(hasBrowser)('questions of payments and of two periods', () => {
  const app = useWebApp();
  let reader: Reader & { page: Page };

  beforeAll(async () => {
    const sent = await batchCreate(app.stack, known, { key: app.stack.privateKey });
    expect(sent.status).toBe(200);
    await eventually(
      () => listActivity(app.stack, {}),
      (list) => list.events.length === known.length,
    );
    await untilCounted(app.stack);
    reader = await app.signedIn('/account');
  });

  async function open(form: string): Promise<Page> {
    const { page } = reader;
    const range = `from=${dayAt(-2)}&to=${dayAt(0)}&by=day`;
    await page.goto(`${app.stack.baseUrl}/p/${app.stack.projectId}/insights/${form}?${range}`);
    return page;
  }

  const table = async (page: Page): Promise<string[]> => {
    const details = page.locator('details.data').last();
    await details.evaluate((one) => one.setAttribute('open', ''));
    return details
      .locator('tr')
      .evaluateAll((rows) =>
        rows.map((row) => [...row.children].map((cell) => cell.textContent).join(' | ')),
      );
  };

  it('have a line and a column for each currency, in whole decimals', async () => {
    const page = await open('revenue');
    await page.getByText('Currencies are not added up').waitFor({ timeout });
    await expect
      .poll(() => table(page), { timeout })
      .toEqual([
        'Time | EUR | USD',
        expect.stringMatching(/ \| 0\.3 \| 0$/),
        expect.stringMatching(/ \| 0 \| 12\.5$/),
        expect.stringMatching(/ \| 0 \| 0$/),
      ]);
    expect(await axe(page)).toEqual([]);
    await page.getByLabel('Series 1: value').selectOption({ label: 'Revenue per user' });
    await expect.poll(async () => (await table(page))[1], { timeout }).toMatch(/ \| 0\.1 \| 0$/);
    await page.getByLabel('Cumulative').check();
    await expect.poll(async () => (await table(page))[3], { timeout }).toMatch(/\| 0\.1 \| 4\.16/);
    expect(new URL(page.url()).searchParams.get('q')).toContain('"cumulative":true');
  });

  it('list who paid in a currency, by keyboard', async () => {
    const page = await open('revenue');
    const chart = page.getByRole('img', { name: /^Revenue/ });
    await chart.press('Home');
    await page.locator('.tip b', { hasText: '0.3' }).waitFor({ timeout });
    await chart.press('Enter');
    const drawer = page.getByRole('dialog');
    const persons = async () => (await drawer.getByRole('listitem').allTextContents()).toSorted();
    await expect.poll(persons, { timeout }).toEqual(['ada', 'bob']);
    await drawer.getByLabel('Number').selectOption({ label: 'USD' });
    await drawer.getByText('Nobody who can be listed').waitFor();
    expect(await axe(page)).toEqual([]);
  });

  it('show those who stay beside the period before, on a phone too', async () => {
    const page = await open('stickiness');
    await page.getByLabel('Compare with').selectOption({ label: 'Previous period' });
    await page.getByRole('button', { name: 'Users, before' }).waitFor();
    await expect
      .poll(() => table(page), { timeout })
      .toContainEqual('Active days | Users | Users before | Users, change | Share');
    await open('retention');
    await page.getByLabel('Compare with').selectOption({ label: 'Previous period' });
    const means = page.getByRole('row', { name: /^Mean before/ });
    await expect
      .poll(() => means.locator('td').allTextContents(), { timeout })
      .toEqual(['2', '100%', '50%', '0%']);
    await page.setViewportSize({ width: 360, height: 740 });
    await open('lifecycle');
    await page.getByRole('button', { name: 'Change insight' }).click();
    await page.getByLabel('Compare with').selectOption({ label: 'Previous period' });
    await expect.poll(async () => (await table(page))[0], { timeout }).toContain('New before');
    await page.getByRole('button', { name: 'Show the answer' }).click();
    expect(await axe(page)).toEqual([]);
    const width = await page.evaluate<number>('document.documentElement.scrollWidth');
    expect(width).toBeLessThanOrEqual(360);
    expect(reader.faults).toEqual([]);
  });
});
