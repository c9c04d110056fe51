// A real browser asks what peers have under names of their own: formulas, several kinds, percentiles, users of several
// days and of every touch, moving averages, users by the number of their events, cohorts of the first event ever, and a
// funnel with a step that may be skipped. By mouse, by keyboard and on a phone; the figures are of known events.

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
/** Days that are over. */
const firstMs = Math.floor(Date.now() / dayMs) * dayMs - 5 * dayMs;
const dayAt = (day: number) => new Date(firstMs + day * dayMs).toISOString().slice(0, 10);
const range = `from=${dayAt(1)}&to=${dayAt(3)}&by=day`;

/** Ada looks four times, once before the range, and buys with a coupon; Bob looks twice and buys without one. */
function knownEvents(): object[] {
  const event = (distinctId: string, kind: string, day: number, minute = 0, properties = {}) =>
    newEvent({
      ...{ distinctId, kind, customProperties: properties },
      occurTime: new Date(firstMs + day * dayMs + minute * 60_000).toISOString(),
    });
  const at = (page: string) => ({ page: { stringValue: page } });
  const paid = (amount: number) => ({ amount: { doubleValue: amount } });
  return [
    event('ada', 'page_view', 0),
    event('ada', 'page_view', 1, 0, at('home')),
    event('ada', 'page_view', 1, 1, at('price')),
    event('ada', 'page_view', 3),
    event('ada', 'coupon', 1, 5),
    event('ada', 'bought', 1, 9, paid(10)),
    event('bob', 'page_view', 2),
    event('bob', 'page_view', 2, 1),
    event('bob', 'bought', 2, 9, paid(30)),
  ];
}

describe.runIf(hasBrowser)('a question of the trade', () => {
  const app = useWebApp();
  let reader: Reader & { page: Page };

  beforeAll(async () => {
    const sent = await batchCreate(app.stack, knownEvents(), { key: app.stack.privateKey });
    expect(sent.status).toBe(200);
    await eventually(
      () => listActivity(app.stack, {}),
      (list) => list.events.length === 9,
    );
    await untilCounted(app.stack);
    reader = await app.signedIn('/account');
  });

  async function open(form: string, spec?: object): Promise<Page> {
    const { page } = reader;
    const { baseUrl, projectId } = app.stack;
    const asked = spec ? `&q=${encodeURIComponent(JSON.stringify(spec))}` : '';
    await page.goto(`${baseUrl}/p/${projectId}/insights/${form}?${range}${asked}`);
    return page;
  }

  /** The cell with that place in each row of a table, folded or not. */
  const cells = (page: Page, table: string, place: number) => () =>
    page
      .locator(`[aria-label="${table}: table"] tbody tr > :nth-child(${place})`)
      .allTextContents();

  it('has a formula of series, one of them of several kinds, by keyboard', async () => {
    const page = await open('trends', { insightType: 1, events: [{ event: { kind: 'bought' } }] });
    await expect.poll(cells(page, 'Trends', 2), { timeout }).toEqual(['1', '1', '0']);
    await page.getByRole('button', { name: 'Or another event' }).press('Enter');
    await page.getByRole('combobox', { name: 'Or event 2' }).fill('coupon');
    await page.getByRole('combobox', { name: 'Or event 2' }).press('Enter');
    await expect.poll(cells(page, 'Trends', 2), { timeout }).toEqual(['2', '1', '0']);
    await page.getByRole('button', { name: 'Add a series' }).press('Enter');
    const added = page.getByRole('group', { name: 'Series 2' });
    await added.getByRole('combobox', { name: 'Event' }).fill('page_view');
    await added.getByRole('combobox', { name: 'Event' }).press('Enter');
    await expect.poll(cells(page, 'Trends', 3), { timeout }).toEqual(['2', '2', '1']);
    await page.getByRole('button', { name: 'Add a formula' }).press('Enter');
    await page.getByLabel('Formula 1', { exact: true }).fill('A / B * 100');
    await expect.poll(cells(page, 'Trends', 4), { timeout }).toEqual(['100', '50', '0']);
    expect(await axe(page)).toEqual([]);
  });

  it('has percentiles, and the users of the days until each', async () => {
    const page = await open('trends', { insightType: 1, events: [{ event: { kind: 'bought' } }] });
    const value = page.getByLabel('Series 1: value');
    await value.selectOption({ label: '95th percentile of a property' });
    await page.getByRole('combobox', { name: 'Property' }).fill('amount');
    await page.getByRole('combobox', { name: 'Property' }).press('Enter');
    await expect.poll(cells(page, 'Trends', 2), { timeout }).toEqual(['10', '30', '0']);
    await value.selectOption({ label: 'Number of users' });
    await expect.poll(cells(page, 'Trends', 2), { timeout }).toEqual(['1', '1', '0']);
    await page
      .getByLabel('Series 1: users of')
      .selectOption({ label: 'The 7 days until each day' });
    await expect.poll(cells(page, 'Trends', 2), { timeout }).toEqual(['1', '2', '2']);
    await page.getByLabel('Series 1: users of').selectOption({ label: 'Each point alone' });
    await page.getByLabel('Cumulative').check();
    await expect.poll(cells(page, 'Trends', 2), { timeout }).toEqual(['1', '2', '2']);
  });

  it('counts users in the group that they touched first, or in each', async () => {
    const page = await open('segmentation', {
      ...{ insightType: 2, breakdowns: [{ property: 'page' }] },
      events: [{ event: { kind: 'page_view' }, aggregation: 2 }],
    });
    await expect.poll(cells(page, 'Segmentation', 2), { timeout }).toEqual(['1', '1']);
    await page.getByLabel('A user counts in').selectOption({ label: 'Each group of theirs' });
    await expect.poll(cells(page, 'Segmentation', 2), { timeout }).toEqual(['2', '1', '1']);
    expect(await axe(page)).toEqual([]);
  });

  it('has cohorts of the first event ever, and days of each user', async () => {
    const events = [{ event: { kind: 'page_view' } }];
    const page = await open('retention', { insightType: 4, events });
    const table = page.getByRole('region', { name: 'Retention', exact: true });
    const means = () => table.getByRole('row', { name: /^Mean/ }).locator('td').allTextContents();
    await expect.poll(means, { timeout }).toEqual(['2', '100%', '0%', '100%']);
    await page.getByLabel('Days are 24 hours from each user’s own start').check();
    // Ada came again two days later, to the minute.
    await expect
      .poll(() => new URL(page.url()).searchParams.get('q'))
      .toContain('"rolling24h":true');
    await expect.poll(means, { timeout }).toEqual(['2', '100%', '0%', '100%']);
    await page.getByLabel('Users begin').selectOption({ label: 'By their first event ever' });
    // Ada came before the range.
    await expect.poll(means, { timeout }).toEqual(['1', '100%', '0%', '–']);
    expect(await axe(page)).toEqual([]);
  });

  it('averages a trend, and says so in its name', async () => {
    const page = await open('trends');
    await expect.poll(cells(page, 'Trends', 2), { timeout }).toEqual(['2', '2', '1']);
    const average = page.getByLabel('Moving average');
    // No letters: a list that is busy takes those of a slow hand for another word.
    await average.press('ArrowDown');
    await expect.poll(() => average.locator('option:checked').textContent()).toBe('Of 3 points');
    // The day before the range had one view, and the one before that none.
    await expect.poll(cells(page, 'Trends', 2), { timeout }).toEqual(['1', `${5 / 3}`, `${5 / 3}`]);
    await page.getByText('Page view, average of 3').first().waitFor();
    expect(new URL(page.url()).searchParams.get('q')).toContain('"movingAverage":3');
    await page.getByLabel('Cumulative').check();
    await expect.poll(cells(page, 'Trends', 2), { timeout }).toEqual(['2', '4', '5']);
    await expect.poll(() => average.count()).toBe(0);
  });

  it('counts users by their events, and lists those of a bar by keyboard', async () => {
    const page = await open('stickiness');
    await page
      .getByLabel('By', { exact: true })
      .selectOption({ label: 'The number of their events' });
    await page.getByLabel('Points from').fill('1, 3');
    await expect.poll(cells(page, 'Stickiness', 1), { timeout }).toEqual(['1 to 2', '3 or more']);
    await expect.poll(cells(page, 'Stickiness', 2), { timeout }).toEqual(['1', '1']);
    const chart = page.getByRole('img', { name: /^Stickiness/ });
    await chart.press('End');
    await chart.press('Enter');
    await page.getByRole('link', { name: 'ada' }).waitFor({ timeout });
    expect(await page.getByRole('link', { name: 'bob' }).count()).toBe(0);
    await page.keyboard.press('Escape');
    expect(await axe(page)).toEqual([]);
  });

  it('has a funnel whose step may be skipped, on a phone', async () => {
    const { page } = reader;
    await page.setViewportSize({ width: 390, height: 844 });
    const events = ['page_view', 'coupon', 'bought'].map((kind) => ({ event: { kind } }));
    await open('funnel', { insightType: 3, events });
    const users = () => page.locator('.funnel .funnel-bar b').allTextContents();
    await expect.poll(users, { timeout }).toEqual(['2', '1', '1']);
    await page.getByRole('button', { name: 'Change insight' }).click();
    await page.getByText('Order, exclusions, over time').click();
    await page.getByLabel('Step 2 may be skipped').check();
    await expect.poll(users, { timeout }).toEqual(['2', '1', '2']);
    await page.locator('.funnel').getByText('may be skipped').waitFor();
    // Nobody stops at a step that may be skipped.
    await expect.poll(() => page.getByText(/left here/).allTextContents()).toEqual(['0 left here']);
    // The last of three steps cannot be one of two.
    await page.getByRole('button', { name: 'Remove step 3' }).click();
    await expect.poll(users, { timeout }).toEqual(['2', '1']);
    expect(reader.faults).toEqual([]);
  });
});
