// A reader chooses how funnels, retention and paths are drawn: by mouse, by keyboard and on a phone, in the address and
// on a board.

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
import { useWebApp } from '../harness/web/use-web-app.ts';
import { patienceMs, type Reader } from '../harness/web/web-app.ts';

const timeout = patienceMs;
const dayMs = 86_400_000;
const startMs = Math.floor(Date.now() / dayMs) * dayMs;
const dayAt = (days: number) => new Date(startMs + days * dayMs).toISOString().slice(0, 10);
/** As pages write it: 5 Mar 2026. */
const nameOfDay = (days: number) =>
  new Date(startMs + days * dayMs).toUTCString().slice(5, 16).replace(/^0/, '');

/** Ann and Bob join three days ago and Cat yesterday; Ann and Cat come a day later, and Ann alone buys. */
function knownEvents(): object[] {
  const visit = String(newEvent().sessionId);
  const event = (distinctId: string, kind: string, days: number, minute = 0) =>
    newEvent({
      ...{ distinctId, kind },
      ...(days === -3 && distinctId === 'ann' && { sessionId: visit }),
      occurTime: new Date(startMs + days * dayMs + minute * 60_000).toISOString(),
      customProperties: { plan: { stringValue: distinctId === 'ann' ? 'pro' : 'free' } },
    });
  return [
    event('ann', 'joined', -3),
    event('ann', 'bought', -3, 5),
    event('bob', 'joined', -3),
    event('cat', 'joined', -1),
    event('ann', 'read', -2),
    event('cat', 'read', 0),
  ];
}

const funnel = {
  insightType: 3,
  events: [{ event: { kind: 'joined' } }, { event: { kind: 'bought' } }],
};
const overTime = { ...funnel, funnel: { overTime: true } };
const retention = { insightType: 4, events: [{ event: { kind: 'joined' } }, { event: {} }] };
const paths = { insightType: 5, userFlow: { nodeKind: 1 } };

describe.runIf(hasBrowser)('a drawing', () => {
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

  async function ask(form: string, spec: object, more = ''): Promise<Page> {
    const { page } = reader;
    const { baseUrl, projectId } = app.stack;
    const query = `from=${dayAt(-3)}&to=${dayAt(0)}&by=day&q=${encodeURIComponent(JSON.stringify(spec))}`;
    await page.goto(`${baseUrl}/p/${projectId}/insights/${form}?${query}${more}`);
    return page;
  }
  const drawnAs = (page: Page) => page.getByLabel('Drawn as');
  const drawingOf = (page: Page) => new URL(page.url()).searchParams.get('drawing');
  const namesOf = (page: Page) => drawnAs(page).locator('option').allTextContents();

  it('of a funnel has columns, kept with the tile of a board', async () => {
    const page = await ask('funnel', funnel, '&drawing=nonsense');
    const users = (list: string) => () => page.locator(`${list} .funnel-bar b`).allTextContents();
    await expect.poll(users('.funnel'), { timeout }).toEqual(['3', '1']);
    expect(await namesOf(page)).toEqual(['Bars', 'Columns', 'Table only']);
    await drawnAs(page).press('ArrowDown');
    await expect.poll(users('.funnel-columns'), { timeout }).toEqual(['3', '1']);
    expect(drawingOf(page)).toBe('columns');
    const heights = () =>
      page
        .locator('.funnel-column i:last-child')
        .evaluateAll((bars) => bars.map((bar) => bar.getAttribute('style')));
    expect(await heights()).toEqual(['height: 100%;', 'height: 33.3333%;']);
    expect(await axe(page)).toEqual([]);
    await page.getByRole('button', { name: 'Save to a board' }).press('Enter');
    await page.getByLabel('Name of the board').fill('Joining');
    const save = page.getByRole('button', { name: 'Save', exact: true });
    // A key is lost on a button that is not on yet.
    await expect.poll(() => save.isEnabled(), { timeout }).toBe(true);
    await save.press('Enter');
    await page.waitForURL('**/boards/**');
    const tile = page.getByRole('article', { name: /^Funnel/ });
    await tile.locator('.funnel-columns').waitFor();
    expect(await tile.getByRole('link').first().getAttribute('href')).toContain('drawing=columns');
    expect(reader.faults).toEqual([]);
  });

  it('of a funnel over time is the course and its steps, or its steps alone', async () => {
    const page = await ask('funnel', overTime);
    const chart = page.getByRole('img', { name: /over time/ });
    await chart.locator('.plot-line').first().waitFor({ state: 'attached' });
    expect(await namesOf(page)).toEqual(['Over time', 'Bars', 'Columns', 'Table only']);
    await page.locator('.funnel').waitFor();
    await drawnAs(page).selectOption({ label: 'Bars' });
    await chart.waitFor({ state: 'detached' });
    await page.locator('.funnel').waitFor();
    await drawnAs(page).selectOption({ label: 'Table only' });
    await page.getByRole('region', { name: /over time: table$/ }).waitFor();
    expect(await page.locator('.answer table:visible').count()).toBe(2);
    expect(reader.faults).toEqual([]);
  });

  it('of retention has lines, dashed where a cohort is not over, as a picture too', async () => {
    const page = await ask('retention', retention);
    await page.getByRole('region', { name: 'Retention', exact: true }).waitFor();
    expect(await namesOf(page)).toEqual(['Cohort table', 'Lines', 'Table only']);
    await drawnAs(page).press('ArrowDown');
    const chart = page.getByRole('img', { name: /^Retention/ });
    await chart.locator('.plot-line').first().waitFor({ state: 'attached' });
    expect(drawingOf(page)).toBe('line');
    const legend = page.locator('.answer .legend-item');
    expect(await legend.allTextContents()).toEqual(['Mean', nameOfDay(-3), nameOfDay(-1)]);
    // Of the mean nothing is open, of both cohorts what today is.
    const dashed = chart.locator('.plot-line[data-open=true]');
    await expect
      .poll(() => dashed.evaluateAll((lines) => lines.map((line) => line.getAttribute('d') !== '')))
      .toEqual([false, true, true]);
    await chart.press('Home');
    await chart.press('ArrowRight');
    const tip = page.locator('.tip');
    await tip.getByText('day 1', { exact: true }).waitFor();
    await expect
      .poll(() => tip.getByRole('listitem', { includeHidden: true }).allTextContents())
      .toEqual(['Mean50%', `${nameOfDay(-3)}50%`, `${nameOfDay(-1)} (not over)100%`]);
    expect(await axe(page)).toEqual([]);
    await chart.press('Enter');
    const drawer = page.getByRole('dialog', { name: 'day 1' });
    await drawer.getByRole('link', { name: 'ann' }).waitFor();
    await drawer.getByLabel('Number').selectOption({ label: nameOfDay(-1) });
    await drawer.getByRole('link', { name: 'cat' }).waitFor();
    await drawer.press('Escape');
    await drawer.waitFor({ state: 'detached' });
    const saved = page.waitForEvent('download');
    await page.getByRole('button', { name: 'PNG' }).press('Enter');
    const picture = readFileSync(await (await saved).path());
    expect(picture.subarray(1, 4).toString()).toBe('PNG');
    expect(reader.faults).toEqual([]);
  });

  it('of retention in groups is a line for each of them', async () => {
    const split = { ...retention, breakdowns: [{ property: 'plan' }] };
    const page = await ask('retention', split, '&drawing=line');
    const chart = page.getByRole('img', { name: /^Retention/ });
    await chart.locator('.plot-line').first().waitFor({ state: 'attached' });
    const legend = page.locator('.answer .legend-item');
    expect(await legend.allTextContents()).toEqual(['free', 'pro']);
    await page.getByText('Table', { exact: true }).press('Enter');
    const row = page.getByRole('row', { name: /^free/ }).getByRole('cell');
    expect(await row.allTextContents()).toEqual(['free', '2', '100%', '0%', '0%', '']);
    await drawnAs(page).selectOption({ label: 'Cohort table' });
    await page.getByLabel('Group', { exact: true }).selectOption({ label: 'pro' });
    const cohorts = page.getByRole('region', { name: 'Retention', exact: true });
    const first = cohorts.getByRole('row', { name: nameOfDay(-3) }).getByRole('cell');
    await expect.poll(() => first.first().textContent(), { timeout }).toBe('1');
    expect(reader.faults).toEqual([]);
  });

  it('of paths is a table, on a phone as well', async () => {
    const { page } = reader;
    await page.setViewportSize({ width: 360, height: 740 });
    await ask('user-flow', paths);
    const diagram = page.locator('.flow svg');
    await diagram.waitFor();
    expect(await namesOf(page)).toEqual(['Flow diagram', 'Table only']);
    await drawnAs(page).press('ArrowDown');
    await page.getByRole('region', { name: 'Paths: table' }).waitFor();
    expect(await diagram.count()).toBe(0);
    expect(drawingOf(page)).toBe('table');
    await ask('funnel', funnel, '&drawing=columns');
    await page.locator('.funnel-columns').waitFor();
    const width = await page.evaluate<number>('document.documentElement.scrollWidth');
    expect(width).toBeLessThanOrEqual(360);
    expect(await axe(page)).toEqual([]);
    await page.setViewportSize({ width: 1280, height: 800 });
    expect(reader.faults).toEqual([]);
  });
});
