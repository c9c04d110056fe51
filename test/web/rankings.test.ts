// Rankings of the overview in a real browser: each tab has two measures of the same groups, hosts of one site are one
// row, all rows can be searched, and a row filters the page by all that it stands for.

import type { Locator, Page } from 'playwright-core';
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
const range = `from=${dayAt(-1)}&to=${dayAt(1)}`;
const manyPages = 16;

/** A visit: its pages, one a second, and what else its events have. */
function visit(distinctId: string, pages: readonly string[], more: Record<string, string>) {
  const { sessionId } = newEvent();
  return pages.map((path, second) =>
    newEvent({
      ...{ distinctId, sessionId },
      occurTime: new Date(startMs + second * 1000).toISOString(),
      autoProperties: Object.fromEntries(
        Object.entries({ ...more, $pathname: path }).map(([name, stringValue]) => [
          name,
          { stringValue },
        ]),
      ),
    }),
  );
}

const events = [
  ...visit('ada', ['/'], {
    ...{ $referrerDomain: 'www.google.de', $utmSource: 'news', $browser: 'Firefox' },
    ...{ $country: 'DE', $deviceType: 'mobile', $os: 'Mac OS' },
  }),
  ...visit('bob', ['/', '/docs'], {
    ...{ $referrerDomain: 'www.google.com', $browser: 'Chrome' },
    ...{ $country: 'XQ', $deviceType: 'desktop', $os: 'Oddware' },
  }),
  ...visit(
    'eve',
    Array.from({ length: manyPages }, (_, index) => `/page-${index + 1}`),
    { $browser: 'Chrome' },
  ),
];

describe.runIf(hasBrowser)('rankings', () => {
  const app = useWebApp();
  let reader: Reader & { page: Page };

  beforeAll(async () => {
    // What a browser would be described by is taken from a sender with a private key.
    const sent = await batchCreate(app.stack, events, { key: app.stack.privateKey });
    expect(sent.status).toBe(200);
    await eventually(
      () => listActivity(app.stack, {}),
      (list) => list.events.length === events.length,
    );
    await untilCounted(app.stack);
    reader = await app.signedIn('/account');
  });

  const open = async (): Promise<Page> => {
    const { page } = reader;
    await page.goto(`${app.stack.baseUrl}/p/${app.stack.projectId}?${range}`);
    return page;
  };
  const card = (page: Page, name: string) => page.getByRole('region', { name, exact: true });
  const tab = (of: Locator, name: string) => of.getByRole('button', { name, exact: true });
  const chooseUtmSource = async (sources: Locator): Promise<void> => {
    await sources.getByRole('button', { name: 'Campaigns: more to rank' }).click();
    await sources.getByRole('menuitemradio', { name: 'UTM source' }).click();
  };
  const visitors = (page: Page) =>
    page.locator('.overview:not([aria-busy=true]) [data-tile=visitors] b').allTextContents();
  const expectRows = (of: Locator, rows: string[][]) =>
    expect.poll(() => rowsOf(of), { timeout }).toEqual(rows);

  it('have two measures of the same groups, and hosts of one site as one row', async () => {
    const page = await open();
    const sources = card(page, 'Sources');
    await expectRows(sources, [
      ['Google 2 hosts', '50%', '2'],
      ['Direct / none', '0%', '1'],
    ]);
    await chooseUtmSource(sources);
    await expectRows(sources, [
      ['(none)', '0%', '2'],
      ['news', '100%', '1'],
    ]);
    const devices = card(page, 'Devices');
    await tab(devices, 'Browsers').click();
    await expectRows(devices, [
      ['Chrome', '0%', '2'],
      ['Firefox', '100%', '1'],
    ]);
    await tab(sources, 'Sources').click();
    await sources.getByRole('button', { name: /^Google/ }).click();
    await expect.poll(() => visitors(page), { timeout }).toEqual(['2']);
    expect(reader.faults).toEqual([]);
  });

  it('have icons from the service alone, and letters where there is none', async () => {
    const page = await open();
    const expectMarks = (of: Locator, marks: string[]) =>
      expect.poll(() => marksOf(of), { timeout }).toEqual(marks.toSorted());
    const sources = card(page, 'Sources');
    await expectMarks(sources, ['source-google', 'source-direct']);
    await chooseUtmSource(sources);
    await expectMarks(sources, ['', 'N']);
    const places = card(page, 'Places');
    await expectMarks(places, ['country-de', 'XQ', '']);
    await places.getByRole('button', { name: 'View all' }).click();
    const dialog = page.getByRole('dialog', { name: 'Places, Countries' });
    await expectMarks(dialog, ['country-de', 'XQ', '']);
    await dialog.getByRole('button', { name: 'Close' }).click();
    const devices = card(page, 'Devices');
    await expectMarks(devices, ['device-mobile', 'device-desktop', '']);
    await tab(devices, 'Browsers').click();
    await expectMarks(devices, ['browser-chrome', 'browser-firefox']);
    await tab(devices, 'Systems').click();
    await expectMarks(devices, ['system-mac-os', 'O', '']);
    // A page of a policy that forbids them, or files of another host, would be faults.
    expect(reader.faults).toEqual([]);
  });

  it('list all rows, which can be searched, and filter the page by one of them', async () => {
    const page = await open();
    const pages = card(page, 'Pages');
    await expect.poll(async () => (await rowsOf(pages))[0], { timeout }).toEqual(['/', '2', '2']);
    await pages.getByRole('button', { name: 'View all' }).click();
    const dialog = page.getByRole('dialog', { name: 'Pages' });
    await dialog.getByText('1 to 15 of 18 rows.').waitFor();
    expect(await axe(page)).toEqual([]);
    await dialog.getByRole('button', { name: 'Next' }).click();
    await dialog.getByText('16 to 18 of 18 rows.').waitFor();
    await dialog.getByLabel('Search').fill('PAGE-1');
    await dialog.getByText('1 to 8 of 8 rows.').waitFor();
    await dialog.getByRole('button', { name: '/page-16' }).click();
    await dialog.waitFor({ state: 'detached' });
    await expect.poll(() => visitors(page), { timeout }).toEqual(['1']);
    // What is chosen stays in sight.
    await page.evaluate('window.scrollTo(0, document.body.scrollHeight)');
    const chip = page.getByRole('button', { name: 'Pathname is /page-16', exact: true });
    const top = async (): Promise<number> => (await chip.boundingBox())?.y ?? -1;
    await expect.poll(top, { timeout }).toBeGreaterThan(0);
    expect(reader.faults).toEqual([]);
  });
});

/** The marks before the names of rows, sorted: group and value of a drawn icon, letters where there is none. */
async function marksOf(card: Locator): Promise<string[]> {
  // Icons out of sight are not loaded.
  await card.scrollIntoViewIfNeeded();
  const marks = await card.locator('li .mark').evaluateAll((all) =>
    all.map((one) => {
      const file = one.getAttribute('src');
      if (file === null) return one.getAttribute('data-letters') ?? '';
      const isDrawn = 'naturalWidth' in one && Number(one.naturalWidth) > 0;
      const isSilent = one.getAttribute('alt') === '';
      return isDrawn && isSilent ? file : `not drawn: ${file}`;
    }),
  );
  return marks.map((mark) => mark.replace(/^\/assets\/icon-(.*)-\w+\.svg$/, '$1')).toSorted();
}

/** The texts of each row: its name and its two figures. */
async function rowsOf(card: Locator): Promise<string[][]> {
  const rows = await card.getByRole('listitem').allInnerTexts();
  return rows.map((row) => row.split('\n'));
}
