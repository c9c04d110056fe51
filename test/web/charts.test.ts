// Charts in a real browser. They say what a point is, their legend switches lines, and a range is chosen in them. A
// reader saves them as pictures, and chooses how a question and its tile are drawn.

import { readFileSync } from 'node:fs';
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
import { untilFocused, untilSettled } from '../harness/web/keyboard.ts';
import { useWebApp } from '../harness/web/use-web-app.ts';
import { patienceMs, type Reader } from '../harness/web/web-app.ts';

const timeout = patienceMs;
const dayMs = 86_400_000;
const startMs = Math.floor(Date.now() / dayMs) * dayMs;
const dayAt = (days: number) => new Date(startMs + days * dayMs).toISOString().slice(0, 10);
/** As pages write it: 5 Mar 2026. */
const nameOfDay = (days: number) =>
  new Date(startMs + days * dayMs).toUTCString().slice(5, 16).replace(/^0/, '');
const thisRange = `from=${dayAt(-2)}&to=${dayAt(0)}`;

/** Today three of plan pro and one of plan free; two days ago two of pro; three days before today two. */
function knownEvents(): object[] {
  const signup = (days: number, plan: string) =>
    newEvent({
      kind: 'signup',
      occurTime: new Date(startMs + days * dayMs).toISOString(),
      customProperties: { plan: { stringValue: plan } },
    });
  const now = [...Array(3).fill('pro'), 'free'].map((plan) => signup(0, plan));
  return [...now, signup(-2, 'pro'), signup(-2, 'pro'), signup(-3, 'pro'), signup(-3, 'pro')];
}

const trend = {
  insightType: 1,
  events: [{ event: { kind: 'signup' }, aggregation: 1 }],
  compare: 1,
};
const byPlan = { ...trend, compare: 0, breakdowns: [{ property: 'plan' }] };

/** Counts, in the page, the pixels of a picture that have the colour of the chart's line. */
const pixelsOf = (base64: string): string => `(async () => {
  const image = new Image();
  image.src = 'data:image/png;base64,${base64}';
  await image.decode();
  const canvas = new OffscreenCanvas(image.width, image.height);
  const paint = canvas.getContext('2d', { willReadFrequently: true });
  paint.fillStyle = getComputedStyle(document.querySelector('.plot-line')).stroke;
  paint.fillRect(0, 0, 1, 1);
  const line = paint.getImageData(0, 0, 1, 1).data;
  paint.drawImage(image, 0, 0);
  // What the legend marks is below the drawing.
  const { data } = paint.getImageData(0, 0, image.width, image.height - 120);
  let found = 0;
  for (let at = 0; at < data.length; at += 4)
    if ([0, 1, 2].every((part) => Math.abs(data[at + part] - line[part]) < 3)) found += 1;
  return found;
})()`;

describe.runIf(hasBrowser)('a chart', () => {
  const app = useWebApp();
  let reader: Reader & { page: Page };

  beforeAll(async () => {
    const sent = knownEvents();
    const { status } = await batchCreate(app.stack, sent, { key: app.stack.privateKey });
    expect(status).toBe(200);
    await eventually(
      () => listActivity(app.stack, {}),
      ({ events }) => events.length === sent.length,
    );
    await untilCounted(app.stack);
    reader = await app.signedIn('/account');
  });

  async function ask(spec: object, more = ''): Promise<Page> {
    const { page } = reader;
    const { baseUrl, projectId } = app.stack;
    const q = encodeURIComponent(JSON.stringify(spec));
    await page.goto(`${baseUrl}/p/${projectId}/insights/trends?${thisRange}${more}&q=${q}`);
    return page;
  }

  const chartOf = (page: Page) => page.getByRole('img', { name: /^Trends/ });
  const rangeOf = (page: Page) => {
    const { searchParams } = new URL(page.url());
    return [searchParams.get('from'), searchParams.get('to')];
  };

  it('says at a point what it is, what it was before, and by how much it changed', async () => {
    const page = await ask(trend);
    const chart = chartOf(page);
    await chart.locator('svg .plot-line').first().waitFor({ state: 'attached' });
    // Today is not over.
    await expect
      .poll(() => chart.locator('.plot-line[data-open=true]').first().getAttribute('d'))
      .toMatch(/^M.+L/);
    await chart.press('End');
    const tip = page.locator('.tip');
    await tip.getByText(`${nameOfDay(0)} (not over)`).waitFor();
    await tip.getByText(`before: ${nameOfDay(-3)}`).waitFor();
    await expect
      .poll(() => tip.getByRole('listitem', { includeHidden: true }).allTextContents())
      .toEqual(['Signup42 before +100%']);
    expect(await axe(page)).toEqual([]);
    const before = page.getByRole('button', { name: 'Signup, before' });
    const dotted = chart.locator('g[data-mark=true]');
    expect(await dotted.count()).toBe(1);
    await before.press('Enter');
    await dotted.waitFor({ state: 'detached' });
    expect(await before.getAttribute('aria-pressed')).toBe('false');
    await before.press('Enter');
    await dotted.waitFor({ state: 'attached' });
    expect(reader.faults).toEqual([]);
  });

  it('is taken away as a picture, in its colours', async () => {
    const page = await ask(trend);
    const chart = chartOf(page);
    const line = chart.locator('.plot-line').first();
    await line.waitFor({ state: 'attached' });
    const saved = page.waitForEvent('download');
    await page.getByRole('button', { name: 'PNG' }).press('Enter');
    const file = await saved;
    expect(file.suggestedFilename()).toMatch(/^Trends.*\.png$/);
    const picture = readFileSync(await file.path());
    expect(picture.subarray(1, 4).toString()).toBe('PNG');
    // The header's width: two pixels for each of the page's, and a margin.
    const box = await chart.locator('svg').boundingBox();
    expect(picture.readUInt32BE(16)).toBe(Math.round(((box?.width ?? 0) + 32) * 2));
    expect(await page.evaluate(pixelsOf(picture.toString('base64')))).toBeGreaterThan(50);
    expect(reader.faults).toEqual([]);
  });

  it('sets the range of the page by the keyboard and by dragging', async () => {
    const page = await ask(trend);
    const chart = chartOf(page);
    await chart.press('End');
    await chart.press('Shift+ArrowLeft');
    await page
      .locator('.tip')
      .getByText(`${nameOfDay(-1)} to ${nameOfDay(0)}`)
      .waitFor();
    await chart.press('Enter');
    await expect.poll(() => rangeOf(page), { timeout }).toEqual([dayAt(-1), dayAt(0)]);
    await page.goBack();
    await expect.poll(() => rangeOf(page), { timeout }).toEqual([dayAt(-2), dayAt(0)]);
    // The chart of the zoomed range is there until that of the whole one has come.
    const firstDay = new RegExp(`^${new Date(startMs - 2 * dayMs).getUTCDate()} `);
    await chart.locator('.plot-text', { hasText: firstDay }).waitFor({ state: 'attached' });
    const box = await chart.locator('svg').boundingBox();
    if (!box) throw new Error('no chart is drawn');
    const middle = box.y + box.height / 2;
    await page.mouse.move(box.x + box.width / 2, middle);
    await page.mouse.down();
    await page.mouse.move(box.x + 20, middle, { steps: 4 });
    await chart.locator('.plot-selection').waitFor({ state: 'attached' });
    await page.mouse.up();
    await expect.poll(() => rangeOf(page), { timeout }).toEqual([dayAt(-2), dayAt(-1)]);
    expect(reader.faults).toEqual([]);
  });

  it('keeps its range from page to page, over those without one', async () => {
    const page = await ask(trend);
    const main = page.getByRole('navigation', { name: 'Main' });
    const go = async (name: string, path: string): Promise<void> => {
      await main.getByRole('link', { name, exact: true }).click();
      await page.waitForURL((url) => url.pathname.endsWith(path));
    };
    await go('Segments', '/segments');
    expect(rangeOf(page)).toEqual([null, null]);
    await go('Events', '/events');
    expect(rangeOf(page)).toEqual([dayAt(-2), dayAt(0)]);
    await page.getByRole('button', { name: /^Time range: / }).click();
    await page.getByRole('menuitemradio', { name: 'Last 30 days' }).click();
    await go('Overview', `/p/${app.stack.projectId}`);
    await page.getByRole('button', { name: 'Time range: Last 30 days' }).waitFor();
    await page.getByRole('heading', { level: 1 }).click();
    await page.keyboard.press('g');
    await page.keyboard.press('v');
    await page.waitForURL('**/visits?range=30d');
    // A page that shows the usual range is left with that one.
    await page.goto(`${app.stack.baseUrl}/p/${app.stack.projectId}/visits`);
    await go('Events', '/events');
    expect(new URL(page.url()).search).toBe('');
    expect(reader.faults).toEqual([]);
  });

  it('is drawn as its reader chooses, in the address and on a board', async () => {
    const page = await ask(byPlan);
    const drawn = page.getByLabel('Drawn as');
    await drawn.selectOption({ label: 'Stacked bars' });
    await page.waitForURL((url) => url.searchParams.get('drawing') === 'stacked');
    // Of today, which is not over, each part is hatched.
    const hatched = page.locator('.plot-bar[data-open=true]');
    await expect.poll(() => hatched.count(), { timeout }).toBe(2);
    await drawn.selectOption({ label: 'Pie' });
    const slices = () => page.locator('.pie li').allTextContents();
    await expect.poll(slices, { timeout }).toEqual(['pro83%5', 'free17%1']);
    expect(await axe(page)).toEqual([]);
    await page.getByRole('button', { name: 'Save to a board' }).click();
    await page.getByLabel('Name of the board').fill('Plans');
    await page.getByRole('button', { name: 'Save', exact: true }).click();
    await page.waitForURL('**/boards/**');
    const tile = page.getByRole('article', { name: /^Trends/ });
    await tile.locator('.pie').waitFor();
    const link = await tile.getByRole('link').first().getAttribute('href');
    expect(link).toContain('drawing=pie');
    expect(reader.faults).toEqual([]);
  });

  it('stands before its question on a phone, whose fields are in a drawer', async () => {
    const page = await ask(trend);
    await page.setViewportSize({ width: 360, height: 740 });
    const change = page.getByRole('button', { name: 'Change insight' });
    await change.waitFor();
    await expect.poll(async () => (await chartOf(page).boundingBox())?.y).toBeLessThan(600);
    await change.press('Enter');
    const drawer = page.getByRole('dialog', { name: 'Insight' });
    await untilFocused(page, drawer.getByRole('heading', { name: 'Insight' }));
    await drawer.getByRole('combobox', { name: 'Event' }).press('ArrowDown');
    await drawer.getByRole('option', { name: /signup.*8 events/ }).waitFor();
    const split = drawer.getByRole('button', { name: /^Split by( \(in use\))?$/ });
    expect(await split.getAttribute('aria-expanded')).toBe('false');
    await split.press('Enter');
    await drawer.getByRole('button', { name: 'Split by a property' }).press('Enter');
    const property = drawer.getByRole('combobox', { name: 'Property 1' });
    await untilFocused(page, property);
    await split.press('Enter');
    await split.press('Enter');
    await property.waitFor();
    await untilSettled(page);
    await untilFocused(page, split);
    await drawer.getByRole('button', { name: 'Remove property 1' }).press('Enter');
    expect(await axe(page)).toEqual([]);
    await drawer.getByRole('button', { name: 'Show the answer' }).press('Enter');
    await untilFocused(page, change);
    await page.setViewportSize({ width: 1280, height: 800 });
    await page.getByRole('combobox', { name: 'Event' }).press('ArrowDown');
    const names = page.getByRole('option').locator('.clip');
    await names.first().waitFor();
    const cut = `[...document.querySelectorAll('[role=option] .clip')]
      .filter((one) => one.scrollWidth > one.clientWidth).map((one) => one.textContent)`;
    expect(await page.evaluate(cut)).toEqual([]);
    expect(reader.faults).toEqual([]);
  });

  it('of every form is one step from the palette', async () => {
    const page = await ask(trend);
    await chartOf(page).waitFor();
    await page.locator('main h1').press('Control+k');
    const search = page.getByRole('combobox', { name: 'Search or jump to' });
    await untilFocused(page, search);
    await search.fill('funnel');
    await page.getByRole('option', { name: 'Funnel Insight' }).waitFor();
    await search.press('Enter');
    await page.getByRole('heading', { level: 1, name: 'Funnel' }).waitFor();
  });

  it('has what is on a page, by the words of other products', async () => {
    const page = await ask(trend);
    await chartOf(page).waitFor();
    await page.locator('main h1').press('Control+k');
    const search = page.getByRole('combobox', { name: 'Search or jump to' });
    await untilFocused(page, search);
    await search.fill('data retention');
    await page.getByRole('option', { name: /^How long events are kept/ }).waitFor();
    await search.fill('invite');
    await page.getByRole('option', { name: /^Members and invitations/ }).waitFor();
    await search.fill('migrate');
    await page.getByRole('option', { name: /^Import history/, selected: true }).waitFor();
    await search.press('Enter');
    await page.getByRole('heading', { level: 1, name: 'Import' }).waitFor();
  });
});
