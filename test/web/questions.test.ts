// A real browser shows the overview and the questions of events with known figures. The tests compare what pages show,
// where links lead, and the JSON, curl and CSV that people take away.

import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { fromBinary, toBinary } from '@bufbuild/protobuf';
import type { Locator, Page } from 'playwright-core';
import { beforeAll, describe, expect, it } from 'vitest';
import { QueryResponseSchema } from '../../proto/gen/shared/insights/v1/insights_pb.js';
import { hasBrowser } from '../harness/clients/browser.ts';
import {
  batchCreate,
  call,
  eventually,
  listActivity,
  newEvent,
  untilCounted,
} from '../harness/clients/client.ts';
import { untilFocused } from '../harness/web/keyboard.ts';
import { useWebApp } from '../harness/web/use-web-app.ts';
import { patienceMs, type Reader } from '../harness/web/web-app.ts';

const timeout = patienceMs;
const dayMs = 86_400_000;
/** All events are of this day, the third of the five that the pages are asked for. */
const startMs = Math.floor(Date.now() / dayMs) * dayMs;
const dayAt = (days: number) => new Date(startMs + days * dayMs).toISOString().slice(0, 10);
const range = `from=${dayAt(-2)}&to=${dayAt(2)}`;
/** As pages write it: 5 Mar 2026. */
const nameOfDay = (days: number) =>
  new Date(startMs + days * dayMs).toUTCString().slice(5, 16).replace(/^0/, '');
const dayName = nameOfDay(0);
const today = `${dayName} (not over)`;

/** Two visits from Germany, one of them with a purchase; one from France; one cookieless; one of somebody deleted. */
function knownEvents(): object[] {
  const view = (path: string, country: string, seconds = 0) => ({
    occurTime: new Date(startMs + seconds * 1000).toISOString(),
    autoProperties: { $pathname: text(path), $country: text(country) },
  });
  const ada = { distinctId: 'ada', sessionId: newEvent().sessionId };
  const { distinctId, sessionId, ...unknown } = newEvent(view('/docs', 'FR'));
  return [
    newEvent({ ...view('/pricing', 'DE'), ...ada }),
    newEvent({ ...view('/docs', 'DE', 20), ...ada }),
    newEvent({
      ...{ ...view('/pay', 'DE', 50), ...ada, kind: 'purchase' },
      customProperties: { amount: { doubleValue: 30 } },
    }),
    newEvent({ ...view('/pricing', 'DE'), distinctId: 'bob' }),
    newEvent({ ...view('/pricing', 'FR'), distinctId: 'eve' }),
    { ...unknown, cookieless: true },
    newEvent({ ...view('/docs', 'FR'), distinctId: 'gone' }),
  ];
}

const query = '/shared.insights.v1.InsightsService/Query';
const render = '**/*.DashboardsService/Render';
const usersOfTheDay = {
  spec: {
    insightType: 'INSIGHT_TYPE_SEGMENTATION',
    events: [{ event: {}, aggregation: 'AGGREGATION_TYPE_UNIQUE_USERS' }],
  },
  timeRange: { from: `${dayAt(0)}T00:00:00Z`, to: `${dayAt(1)}T00:00:00Z` },
};

const text = (stringValue: string) => ({ stringValue });

describe.runIf(hasBrowser)('known figures', () => {
  const app = useWebApp();
  let reader: Reader & { page: Page };

  beforeAll(async () => {
    const { baseUrl, privateKey } = app.stack;
    // A country is taken from a sender with a private key alone.
    const sent = await batchCreate(app.stack, knownEvents(), { key: privateKey });
    expect(sent.status).toBe(200);
    const { events } = await eventually(
      () => listActivity(app.stack, {}),
      (list) => list.events.length === 7,
    );
    await untilCounted(app.stack);
    const id = events.find(({ distinctId }) => distinctId === 'gone')?.profileId;
    // A profile follows its events, and questions follow its deletion.
    const remove = '/shared.profiles.v1.ProfilesService/Delete';
    await eventually(
      () => call(baseUrl, remove, privateKey, { id }),
      ({ status }) => status === 200,
    );
    await eventually(
      () => call(baseUrl, query, privateKey, usersOfTheDay),
      ({ body }) => JSON.stringify(body['leftOut'] ?? []).includes('DELETED_PROFILES'),
    );
    reader = await app.signedIn('/account');
  });

  async function go(path: string): Promise<Page> {
    const { page } = reader;
    await page.goto(`${app.stack.baseUrl}/p/${app.stack.projectId}${path}?${range}`);
    return page;
  }

  it('of the overview open their rows, and say what they leave out', async () => {
    // The answer of before is shown at once; the new one comes, and is drawn, between two keys.
    let isHeld = false;
    let release = (): void => {};
    const released = new Promise<void>((resolve) => {
      release = resolve;
    });
    await reader.page.route(render, async (route) => {
      if (isHeld) await released;
      await route.continue();
    });
    const page = await go('');
    await expect
      .poll(() => figures(page), { timeout })
      .toEqual({ Visitors: '4', 'Page views': '6', Visits: '5', 'Bounce rate': '80%' });
    const chart = page.getByRole('region', { name: /^Chart/ });
    await chart.getByText('Complete until').waitFor();
    await chart.getByText('Not counted: 1 event of deleted users.').waitFor();

    await page.getByRole('button', { name: 'Page views' }).click();
    await chart.getByRole('link', { name: 'View events' }).click();
    await listed(page, 6);
    isHeld = true;
    await page.goBack();
    await chart.getByRole('img').press('End');
    await chart.getByRole('img').press('ArrowLeft');
    release();
    await page.locator('.overview[aria-busy=false]').waitFor();
    // The keyboard is where it was.
    await untilFocused(page, chart.getByRole('img'));
    await page.keyboard.press('ArrowLeft');
    await page.keyboard.press('Enter');
    await listed(page, 6);
    const { searchParams } = new URL(page.url());
    expect(Object.fromEntries(searchParams)).toEqual({
      from: dayAt(0),
      to: dayAt(0),
      kind: 'page_view',
      // The figure counts them.
      bots: '1',
    });
    await page.unroute(render);
    expect(reader.faults).toEqual([]);
  });

  it('of the overview are those of a country, and of a page in it, once their rows are chosen', async () => {
    const page = await go('');
    const places = page.getByRole('region', { name: 'Places', exact: true });
    await expect.poll(() => rows(places), { timeout }).toEqual({ Germany: '2', France: '3' });
    await places.getByRole('button', { name: 'Germany' }).click();
    await expect
      .poll(() => figures(page), { timeout })
      .toEqual({ Visitors: '2', 'Page views': '3', Visits: '2', 'Bounce rate': '50%' });
    await places.getByRole('link', { name: 'Open in Insights' }).click();
    const answer = page.getByRole('region', { name: 'Answer' });
    await expect.poll(() => rows(answer), { timeout }).toEqual({ Germany: '2' });
    await page.goBack();
    const pages = page.getByRole('region', { name: 'Pages', exact: true });
    await pages.getByRole('button', { name: '/docs' }).click();
    await expect
      .poll(() => figures(page), { timeout })
      .toEqual({ Visitors: '1', 'Page views': '1', Visits: '1', 'Bounce rate': '0%' });
    await pages.getByRole('link', { name: 'View events' }).click();
    await listed(page, 1);
    await page.getByRole('button', { name: 'Remove: Pathname is /docs' }).click();
    await listed(page, 3);
    expect(reader.faults).toEqual([]);
  });

  it('of a question follow its address, back, forward and loaded anew', async () => {
    const page = await go('/insights/segmentation');
    const value = page.getByRole('combobox', { name: /: value$/ });
    const chosen = () => value.locator('option:checked').textContent();
    const shown = async () => [await chosen(), await page.locator('.big-figure b').textContent()];
    const [events, users] = ['Number of events', 'Number of users'];
    await expect.poll(shown, { timeout }).toEqual([events, '6']);
    await value.selectOption({ label: users });
    await expect.poll(shown, { timeout }).toEqual([users, '4']);
    const answer = page.getByRole('region', { name: 'Answer' });
    await answer.getByText('Complete until').waitFor();
    await answer.getByText('Cookieless visitors are counted').waitFor();
    await answer.getByRole('button', { name: 'Leave them out' }).click();
    await expect.poll(shown, { timeout }).toEqual([users, '3']);
    const asUsers = page.getByLabel('Count cookieless visitors as users');
    await expect.poll(() => asUsers.isChecked()).toBe(false);
    await answer.getByText('Not counted: 1 event of cookieless visitors.').waitFor();
    await answer.getByText('Not counted: 1 event of deleted users.').waitFor();
    await page.getByLabel('Compare with').selectOption({ label: 'Previous period' });
    await page.waitForURL((url) => (url.searchParams.get('q') ?? '').includes('"compare":1'));
    await answer.getByText('nothing before').waitFor();
    await page.goBack();
    await expect.poll(shown, { timeout }).toEqual([users, '3']);
    await page.goBack();
    await expect.poll(shown, { timeout }).toEqual([users, '4']);
    await page.goBack();
    await expect.poll(shown, { timeout }).toEqual([events, '6']);
    await page.goForward();
    await expect.poll(shown, { timeout }).toEqual([users, '4']);
    await page.goForward();
    await expect.poll(shown, { timeout }).toEqual([users, '3']);
    await page.reload({ waitUntil: 'commit' });
    await expect.poll(shown, { timeout }).toEqual([users, '3']);
    await page.getByRole('link', { name: 'Trends' }).click();
    await page.waitForURL('**/insights/trends?**');
    await expect.poll(chosen, { timeout }).toBe(users);
    expect(reader.faults).toEqual([]);
  });

  it('of buckets have the names that the service writes: a browser may have older rules of zones', async () => {
    const { page } = reader;
    await page.route(`**${query}`, async (route) => {
      const response = await route.fetch();
      const answer = fromBinary(QueryResponseSchema, await response.body());
      // As if the clocks of the zone showed another year.
      answer.bucketLabels = answer.bucketLabels.map((label) => `1999${label.slice(4)}`);
      await route.fulfill({ response, body: Buffer.from(toBinary(QueryResponseSchema, answer)) });
    });
    await go('/insights/trends');
    await page.getByRole('img', { name: /^Trends/ }).waitFor();
    await page.getByText('Table', { exact: true }).click();
    const names = page.getByRole('row', { name: /\d$/ }).getByRole('cell', { name: / 1999$/ });
    await expect.poll(() => names.count(), { timeout }).toBe(5);
    await page.getByRole('img', { name: /^Trends/ }).press('Home');
    await page
      .getByText(/^\d+ \w+ 1999$/)
      .first()
      .waitFor();
    await page.unroute(`**${query}`);
    expect(reader.faults).toEqual([]);
  });

  it('of a chart open the persons whom they count, by the keyboard too', async () => {
    const page = await go('/insights/trends');
    const chart = page.getByRole('img', { name: /^Trends/ });
    for (const [days, key] of ['Home', 'ArrowRight', 'ArrowRight'].entries()) {
      await chart.press(key);
      await page.locator('.tip-time', { hasText: nameOfDay(days - 2) }).waitFor();
    }
    await chart.press('Enter');
    const drawer = page.getByRole('dialog', { name: dayName });
    // Who has no profile and whose profile is deleted are no persons.
    const persons = drawer.getByRole('listitem');
    await expect
      .poll(async () => (await persons.allTextContents()).toSorted(), { timeout })
      .toEqual(['ada', 'bob', 'eve']);
    await drawer.getByRole('link', { name: 'View events' }).waitFor();
    await drawer.getByRole('link', { name: 'bob' }).click();
    await page.getByRole('heading', { level: 1, name: /^Visitor/ }).waitFor();
    expect(reader.faults).toEqual([]);
  });

  it('of a question that a busy service did not answer come by themselves, after Retry-After', async () => {
    const path = `/p/${app.stack.projectId}/insights/segmentation?${range}`;
    const { page, context } = await app.signedIn('/account');
    let asked = 0;
    await page.route(`**${query}`, async (route) => {
      asked += 1;
      if (asked > 1) return route.continue();
      const json = { code: 'resource_exhausted', message: 'the service is busy' };
      // Long enough that the words are seen before the page asks again.
      return route.fulfill({ status: 429, headers: { 'retry-after': '5' }, json });
    });
    await page.goto(app.stack.baseUrl + path);
    const fault = page.getByRole('alert');
    await fault.getByText('The page asks again by itself in 5 s.').waitFor();
    await page.locator('.big-figure b').waitFor();
    expect([await fault.count(), asked]).toEqual([0, 2]);
    await context.close();
  });

  it('of a question are those of its table, its CSV, its code and its tile', async () => {
    const page = await go('/insights/trends');
    await page.getByRole('combobox', { name: 'Event' }).fill('page_view');
    await page.waitForURL((url) => url.searchParams.has('q'));
    await page.getByRole('img', { name: /^Trends/ }).waitFor();
    await page.getByText('Table', { exact: true }).click();
    const cells = page.getByRole('row', { name: dayName }).getByRole('cell');
    await expect.poll(() => cells.allTextContents(), { timeout }).toEqual([today, '6']);
    const [file] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('button', { name: 'Export as CSV' }).press('Enter'),
    ]);
    const lines = readFileSync(await file.path(), 'utf8').split('\r\n');
    expect(lines[0]).toMatch(/,Complete until$/);
    const known = lines.map((line) =>
      line.replace(/,\d{4}-\d\d-\d\dT[\d:.]+Z$/, ' until a moment'),
    );
    expect(known).toContain(`${today},6 until a moment`);
    expect(lines).toHaveLength(1 + 5);

    await page.getByRole('button', { name: 'Copy insight' }).click();
    await page.getByRole('menuitem', { name: 'Show both' }).click();
    const json = await page.getByRole('region', { name: 'Insight as JSON' }).textContent();
    const curl = await page.getByRole('region', { name: 'Insight as curl' }).textContent();
    const command = (curl ?? '').replace('YOUR_PRIVATE_KEY', app.stack.privateKey);
    const run = spawnSync('sh', ['-c', command], { encoding: 'utf8' });
    expect(sumOf(JSON.parse(run.stdout))).toBe(6);
    const asked = await call(app.stack.baseUrl, query, app.stack.privateKey, json ?? '');
    expect(sumOf(asked.body)).toBe(6);
    await page.getByRole('heading', { name: 'Where the answer comes from' }).waitFor();
    await page.getByText('events, of one kind: event_counts').first().waitFor();
    await page.keyboard.press('Escape');

    await page.getByRole('button', { name: 'Save to a board' }).click();
    await page.getByLabel('Title of the tile').fill('Views');
    await page.getByLabel('Name of the board').fill('Shop');
    await page.getByRole('button', { name: 'Save', exact: true }).click();
    await page.getByRole('heading', { level: 1, name: 'Shop' }).waitFor();
    const tile = page.getByRole('article', { name: 'Views' });
    await tile.getByText('Table', { exact: true }).click();
    await tile.getByRole('row', { name: `${today} 6` }).waitFor();
    await tile.getByRole('link', { name: 'Views' }).click();
    await page.getByRole('heading', { level: 1, name: 'Trends' }).waitFor();
    await page.getByText('Table', { exact: true }).click();
    await page.getByRole('row', { name: `${today} 6` }).waitFor();
    expect(reader.faults).toEqual([]);
  });
});

/** The overview's figures by name, once all are answered; the length of visits is left out. */
async function figures(page: Page): Promise<Record<string, string>> {
  const tiles = page.locator('.overview:not([aria-busy=true]) .figure-tile');
  const names = await tiles.locator('.figure-name').allTextContents();
  const values = await tiles.locator('b').allTextContents();
  return Object.fromEntries(names.slice(0, 4).map((name, index) => [name, values[index] ?? '']));
}

/** The sum over the buckets of an answer of one series. */
function sumOf(answer: { trends?: { series: { points: { value?: number }[] }[] } }): number {
  const points = answer.trends?.series[0]?.points ?? [];
  return points.reduce((sum, { value }) => sum + (value ?? 0), 0);
}

/** A ranking's figures by the names of its rows. */
async function rows(card: Locator): Promise<Record<string, string>> {
  const texts = await card.getByRole('listitem').allInnerTexts();
  return Object.fromEntries(texts.map((row) => [row.split('\n')[0], row.split('\n').at(-1)]));
}

/** The page of events has loaded all that meet its conditions. */
async function listed(page: Page, count: number): Promise<void> {
  const events = count === 1 ? '1 event' : `${count} events`;
  await page.getByText(`${events}: all of them.`).waitFor();
}
