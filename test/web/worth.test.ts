// What a user's page says of payments, of the first source and of visits, in a real browser, beside what was sent.

import { randomUUID } from 'node:crypto';
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
import { identify, profileOf } from '../harness/clients/profile-client.ts';
import { axe } from '../harness/web/accessibility.ts';
import { untilFocused } from '../harness/web/keyboard.ts';
import { useWebApp } from '../harness/web/use-web-app.ts';
import { patienceMs, type Reader } from '../harness/web/web-app.ts';

const timeout = patienceMs;
const hourMs = 3_600_000;

describe.runIf(hasBrowser)('the page of a user', () => {
  const app = useWebApp();
  let reader: Reader & { page: Page };
  const addressOf = (path: string) => `${app.stack.baseUrl}/p/${app.stack.projectId}${path}`;
  const [first, second, long] = [randomUUID(), randomUUID(), randomUUID()];
  const startMs = Date.now() - 5 * hourMs;
  const at = (sessionId: string, afterMs: number, fields: Parameters<typeof newEvent>[0]) =>
    newEvent({
      ...{ distinctId: 'ada', sessionId },
      occurTime: new Date(startMs + afterMs).toISOString(),
      ...fields,
    });
  const viewOf = (url: string, referrer = '') => ({
    kind: 'page_view',
    autoProperties: {
      $url: { stringValue: url },
      ...(referrer && { $referrer: { stringValue: referrer } }),
    },
  });
  const paid = (amount: object, currency: string) => ({
    kind: 'purchase',
    customProperties: { amount, currency: { stringValue: currency } },
  });

  beforeAll(async () => {
    const campaign = 'https://shop.example/start?utm_source=newsletter&utm_medium=email';
    const events = [
      at(first, 0, viewOf(campaign, 'https://www.google.com/search')),
      at(first, 61_000, paid({ doubleValue: 0.1 }, 'EUR')),
      at(first, 62_000, paid({ doubleValue: 0.2 }, 'EUR')),
      at(second, hourMs, viewOf('https://shop.example/later', 'https://t.co/x')),
      at(second, hourMs + 1_000, paid({ intValue: '1200' }, 'USD')),
      at(second, hourMs + 2_000, paid({ intValue: '3000' }, 'EUR')),
      // No payments.
      at(second, hourMs + 3_000, {
        kind: 'offer',
        customProperties: { amount: { stringValue: '99' } },
      }),
      newEvent({ distinctId: 'bob', ...paid({ intValue: '7' }, 'EUR') }),
      // A long visit, with two kinds that are called the same, and somebody whom nobody named.
      ...Array.from({ length: 25 }, (_, index) =>
        newEvent({
          ...{ distinctId: 'carol', sessionId: long },
          kind: ['page_view', 'page.view'][index] ?? 'click',
          occurTime: new Date(startMs + index * 1_000).toISOString(),
        }),
      ),
      newEvent({ distinctId: 'anon-dora', kind: 'page_leave' }),
    ];
    // A person's agent: pages leave bots out.
    const agent = 'Mozilla/5.0 (X11; Linux x86_64; rv:143.0) Gecko/20100101 Firefox/143.0';
    const headers = { 'user-agent': agent };
    expect((await batchCreate(app.stack, events, { headers })).status).toBe(200);
    await eventually(
      () => listActivity(app.stack, {}),
      (list) => list.events.length === events.length,
    );
    await untilCounted(app.stack);
    for (const externalId of ['bob', 'carol', 'ada']) await identify(app.stack, { externalId });
    const ada = await eventually(
      () => profileOf(app.stack, 'ada'),
      (profile) => profile !== undefined,
    );
    reader = await app.signedIn(`/p/${app.stack.projectId}/profiles/${ada?.id}`);
  });

  const tile = (name: string) => reader.page.locator('.numbers > div', { hasText: name });

  it('has the sums of each currency, and the source of the first visit', async () => {
    const value = tile('Lifetime value').locator('dd');
    await expect
      .poll(() => value.locator('div').allTextContents(), { timeout })
      .toEqual(['3,000.30 EUR', '1,200 USD']);
    const source = tile('First source').locator('dd');
    await expect.poll(() => source.textContent(), { timeout }).toBe('Google, newsletter / email');
    expect(await source.locator('[title]').getAttribute('title')).toBe('www.google.com');
    expect(await tile('Visits').locator('dd').textContent()).toBe('2');
  });

  it('has visits that open and fold, each with what happened and what it brought', async () => {
    const { page, faults } = reader;
    const visits = page.locator('details.visit');
    const open = () => visits.evaluateAll((all) => all.map((one) => one.hasAttribute('open')));
    await expect.poll(open, { timeout }).toEqual([true, true]);
    const summary = (n: number) => visits.nth(n).locator('summary').textContent();
    expect(await summary(0)).toContain('4 events, 3.0 s, from /later');
    expect(await summary(0)).toMatch(/1,200 USD, 3,000 EUR$|3,000 EUR, 1,200 USD$/);
    expect(await summary(1)).toContain('3 events, 1 min 2 s, from /start');
    expect(await summary(1)).toMatch(/0\.30 EUR$/);
    await page.getByRole('button', { name: 'Fold all' }).press('Enter');
    await expect.poll(open, { timeout }).toEqual([false, false]);
    await visits.nth(1).locator('summary').press('Enter');
    await expect.poll(open, { timeout }).toEqual([false, true]);
    expect(await axe(page)).toEqual([]);
    await page.getByRole('button', { name: 'Unfold all' }).press('Enter');
    await expect.poll(open, { timeout }).toEqual([true, true]);
    expect(faults).toEqual([]);
  });

  it('has the newest visit open, with its first events and more where they are asked for', async () => {
    const { page, faults } = await app.signedIn('/account');
    await page.goto(addressOf('/profiles'));
    await page.locator('.table-row', { hasText: 'carol' }).click();
    const steps = page.locator('details.visit[open] .steps li');
    await expect.poll(() => steps.count(), { timeout }).toBe(20);
    const names = () => steps.locator('b').allTextContents();
    expect((await names()).slice(0, 3)).toEqual([
      'Page view (page_view)',
      'Page view (page.view)',
      'Click',
    ]);
    await page.getByRole('button', { name: 'Show more: 5 later events' }).press('Enter');
    await expect.poll(() => steps.count(), { timeout }).toBe(25);
    expect(await page.getByRole('button', { name: /^Show more/ }).count()).toBe(0);
    // The first of those that came has the focus, as the button is gone.
    await untilFocused(page, steps.nth(20));
    expect(faults).toEqual([]);
  });

  it('calls whom nobody named a visitor in the list of users, and events say who sent them', async () => {
    const { page, faults } = await app.signedIn('/account');
    await page.goto(addressOf('/profiles'));
    await page.locator('.table-row', { hasText: /Visitor [0-9a-f]{8}/ }).waitFor();
    await page.goto(addressOf('/events?kind=page_leave'));
    const event = page.locator('.table-row', { hasText: 'Page leave' });
    await event.getByText('anon-dora', { exact: true }).waitFor();
    expect(faults).toEqual([]);
  });

  const breakdowns = [{ property: '$referrerDomain' }];
  const views = { events: [{ event: { kind: 'page_view' } }], breakdowns };
  const topK = { dimension: 'DIMENSION_PROPERTY', property: '$referrerDomain' };
  const question = (type: string, more: object) => JSON.stringify({ insightType: type, ...more });
  it.each([
    ['trends', 'thead th', question('INSIGHT_TYPE_TRENDS', views)],
    ['segmentation', 'tbody td', question('INSIGHT_TYPE_SEGMENTATION', views)],
    [
      'top-k',
      'tbody td',
      question('INSIGHT_TYPE_TOP_K', { topK: { ...topK, scope: { kind: 'page_view' } } }),
    ],
  ])('has sites in drawings, and hosts in the table and the file of %s', async (form, cell, q) => {
    const { page, faults } = await app.signedIn('/account');
    await page.goto(addressOf(`/insights/${form}?q=${encodeURIComponent(q)}`));
    const answer = page.getByRole('region', { name: 'Answer' });
    for (const site of ['Google', 'X'])
      await answer.getByText(site, { exact: true }).first().waitFor();
    await answer.locator('.data > summary').press('Enter');
    const hosts = ['Google (www.google.com)', 'X (t.co)'];
    const cells = answer.locator('.data').locator(cell);
    await expect
      .poll(() => cells.allTextContents(), { timeout })
      .toEqual(expect.arrayContaining(hosts));
    const coming = page.waitForEvent('download');
    await answer.getByRole('button', { name: 'Export as CSV' }).press('Enter');
    const file = readFileSync(await (await coming).path(), 'utf8');
    for (const host of hosts) expect(file).toContain(host);
    expect(faults).toEqual([]);
  });

  describe('the list of users', () => {
    let list: Reader & { page: Page };
    beforeAll(async () => {
      list = await app.signedIn('/account');
      // Whether the service can say what users are worth: the tag of with_worth is 0xc8 0x01.
      await list.page.route('**/shared.profiles.v1.ProfilesService/List', (route) => {
        const isAsked = route
          .request()
          .postDataBuffer()
          ?.includes(Buffer.from([0xc8, 0x01]));
        return fails && isAsked ? route.fulfill({ contentType, body: tooMuch }) : route.continue();
      });
      await list.page.goto(addressOf('/profiles'));
    });
    let fails = false;
    const contentType = 'application/connect+proto';
    const error = JSON.stringify({ error: { code: 'resource_exhausted', message: 'too many' } });
    const tooMuch = Buffer.concat([Buffer.from([2, 0, 0, 0, error.length]), Buffer.from(error)]);
    const row = (who: string) => list.page.locator('.table-row', { hasText: who });
    const head = (name: string) => list.page.getByRole('columnheader', { name });

    it('has what each paid and where they came from, as the page of one', async () => {
      const { page } = list;
      await row('ada').getByText('3,000.30 EUR, 1,200 USD').waitFor();
      await row('ada').getByText('Google, newsletter / email').waitFor();
      await row('7 EUR').getByText('Direct / none').waitFor();
      // Nobody can sort by them.
      expect(await head('Lifetime value').getByRole('button').count()).toBe(0);
      expect(await head('First source').getByRole('button').count()).toBe(0);
      expect(await axe(page)).toEqual([]);
    });

    it('has them in a file of its rows, as they are stored', async () => {
      const { page } = list;
      await page.getByRole('button', { name: 'Export' }).press('Enter');
      const coming = page.waitForEvent('download');
      await page.getByRole('menuitem', { name: 'CSV of these rows and columns' }).press('Enter');
      const [names = '', ...rows] = readFileSync(await (await coming).path(), 'utf8').split('\r\n');
      expect(names).toBe(
        'Who,Last seen,Events,Views,Visits,Lifetime value,First source,Place,Device',
      );
      const ada = rows.find((one) => one.startsWith('ada,'));
      expect(ada).toContain(',7,2,2,EUR 3000.3; USD 1200,"www.google.com, newsletter / email",');
    });

    it('has the columns that somebody chose, and the address names', async () => {
      const { page, faults } = list;
      await page.getByRole('button', { name: 'Columns' }).press('Enter');
      await page.getByRole('menuitemcheckbox', { name: 'First source' }).press('Enter');
      await page.waitForURL((url) => url.searchParams.get('worth') === 'value');
      await expect.poll(() => head('First source').count(), { timeout }).toBe(0);
      await row('ada').getByText('3,000.30 EUR, 1,200 USD').waitFor();
      await page.getByRole('button', { name: 'Columns' }).press('Enter');
      await page.getByRole('menuitemcheckbox', { name: 'Lifetime value' }).press('Enter');
      await page.waitForURL((url) => url.searchParams.get('worth') === 'none');
      await expect.poll(() => head('Lifetime value').count(), { timeout }).toBe(0);
      expect(faults).toEqual([]);
    });

    it('is there without them where the service cannot say it', async () => {
      fails = true;
      const { page } = list;
      await page.goto(addressOf('/profiles'));
      await page.getByText('Their payments are too many to be read in time.').waitFor();
      await row('ada').waitFor();
      expect(await head('Lifetime value').count()).toBe(0);
      expect(await head('Last seen').getByRole('button').count()).toBe(1);
    });
  });
});
