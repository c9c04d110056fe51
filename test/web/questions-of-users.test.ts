// A real browser asks what users do over time: who comes back, in groups, and by which ways. By mouse, by keyboard and
// on a phone.

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

/** Ada came three days ago and yesterday, Bob yesterday and today; each reads and one buys. */
function knownEvents(): object[] {
  const event = (distinctId: string, days: number, kind: string, seconds = 0) =>
    newEvent({
      ...{
        distinctId,
        kind,
        occurTime: new Date(todayMs + days * dayMs + seconds * 1_000).toISOString(),
      },
      customProperties: { plan: { stringValue: distinctId === 'ada' ? 'pro' : 'free' } },
    });
  return [
    event('ada', -3, 'page_view'),
    event('ada', -1, 'page_view'),
    event('ada', -1, 'signup', 5),
    event('ada', -1, 'purchase', 9),
    event('bob', -1, 'page_view'),
    event('bob', 0, 'page_view'),
  ];
}

describe.runIf(hasBrowser)('questions of users', () => {
  const app = useWebApp();
  let reader: Reader & { page: Page };

  beforeAll(async () => {
    const sent = await batchCreate(app.stack, knownEvents(), { key: app.stack.privateKey });
    expect(sent.status).toBe(200);
    await eventually(
      () => listActivity(app.stack, {}),
      (list) => list.events.length === 6,
    );
    await untilCounted(app.stack);
    reader = await app.signedIn('/account');
  });

  async function open(form: string): Promise<Page> {
    const { page } = reader;
    const range = `from=${dayAt(-3)}&to=${dayAt(0)}&by=day`;
    await page.goto(`${app.stack.baseUrl}/p/${app.stack.projectId}/insights/${form}?${range}`);
    return page;
  }

  it('show cohorts, of each time too, their means, and what is not over', async () => {
    const page = await open('retention');
    const table = page.getByRole('region', { name: 'Retention', exact: true });
    const means = () => table.getByRole('row', { name: /^Mean/ }).locator('td').allTextContents();
    await expect.poll(means, { timeout }).toEqual(['2', '100%', '0%', '100%', '–']);
    expect(await table.locator('td.open').count()).toBeGreaterThan(0);
    // A year is said once, not in each row.
    const days = (await table.locator('tbody th').allTextContents()).slice(1);
    const years = new Set([-3, -2, -1, 0].map((at) => dayAt(at).slice(0, 4)));
    expect(days).toHaveLength(4);
    expect(days.filter((day) => /\d{4}$/.test(day))).toHaveLength(years.size);
    await page.getByLabel('Users begin').press('End');
    const begin = page.getByLabel('Users begin').locator('option:checked');
    await expect.poll(() => begin.textContent()).toMatch(/^Each time/);
    await expect.poll(means, { timeout }).toEqual(['4', '100%', '0%', '100%', '–']);
    await page.getByLabel('Count who returns later, too (on or after)').check();
    await expect.poll(means, { timeout }).toEqual(['4', '–', '–', '–', '–']);
    expect(new URL(page.url()).searchParams.get('q')).toContain('"unbounded":true');
  });

  it('show each group of those who stay', async () => {
    const page = await open('stickiness');
    await page.getByLabel('Count users who were active so often or more').check();
    await page.getByRole('button', { name: 'Split by a property' }).click();
    await page.getByRole('combobox', { name: 'Property 1' }).fill('plan');
    await page.getByRole('combobox', { name: 'Property 1' }).press('Enter');
    await page.getByLabel('Group', { exact: true }).selectOption({ label: 'free' });
    await page.getByText('The range is not over').waitFor();
    expect(await axe(page)).toEqual([]);
  });

  it('show the ways to an event on a phone', async () => {
    const { page } = reader;
    await page.setViewportSize({ width: 390, height: 844 });
    await open('user-flow');
    await page.getByRole('button', { name: 'Change insight' }).click();
    await page.getByLabel('Paths of').selectOption({ label: 'Users, across their visits' });
    await page.getByLabel('End with an event').check();
    await page.getByRole('combobox', { name: 'End with' }).fill('purchase');
    await page.getByRole('combobox', { name: 'End with' }).press('Enter');
    await page.getByText('Signup to Purchase: 1 user').waitFor({ state: 'attached', timeout });
    await page.getByText('1 before').waitFor();
    expect(reader.faults).toEqual([]);
  });
});
