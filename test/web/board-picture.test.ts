// A board as one PNG in a real browser, by members and by whoever has its link: as large as its page, with every tile
// drawn, in the theme of the page, with the icons of its rows, all rows and the chosen group, and on a phone.

import type { Page } from 'playwright-core';
import { beforeAll, describe, expect, it } from 'vitest';
import { hasBrowser } from '../harness/clients/browser.ts';
import { batchCreate, newEvent, untilCounted } from '../harness/clients/client.ts';
import { axe } from '../harness/web/accessibility.ts';
import {
  chosenInDrawing,
  type Drawn,
  drawnTiles,
  linesOfTile,
  rememberDrawing,
  takenPicture,
} from '../harness/web/pictures/board-picture.ts';
import type { Picture } from '../harness/web/pictures/png.ts';
import { useWebApp } from '../harness/web/use-web-app.ts';
import type { Reader } from '../harness/web/web-app.ts';

/** The first line of a chart, by theme. */
const firstLine = { light: '11,122,111', dark: '79,195,178' };
/** Of web/styles/tokens.css. */
const ground = { light: '247,247,244', dark: '18,20,22' };

describe.runIf(hasBrowser)('the picture of a board', () => {
  const web = useWebApp();
  let member: Reader & { page: Page };
  let boardPath: string;
  let longPath: string;
  let sharedPath: string;

  beforeAll(async () => {
    const headers = {
      'user-agent': 'Mozilla/5.0 (X11; Linux x86_64; rv:145.0) Gecko/20100101 Firefox/145.0',
    };
    const views = ['ada', 'ben', 'cat'].map((distinctId) => newEvent({ kind: 'view', distinctId }));
    expect((await batchCreate(web.stack, views, { headers })).status).toBe(200);
    await untilCounted(web.stack);
    const events = [{ event: { kind: 'view' } }];
    const topK = { dimension: 'DIMENSION_PROPERTY', property: '$browser', scope: { kind: 'view' } };
    const asked = (title: string, insight: object) => ({ title, w: 36, h: 18, insight });
    const pathOf = async (board: object): Promise<string> => {
      const { dashboard } = await web.manage(
        '/dashboard.dashboards.v1.DashboardsService/Create',
        board,
      );
      return `/p/${web.stack.projectId}/boards/${Reflect.get(Object(dashboard), 'id')}`;
    };
    boardPath = await pathOf({
      ...{ displayName: 'Shop', timeRange: { preset: 'TIME_RANGE_PRESET_LAST_7_DAYS' } },
      tiles: [
        // Characters that XML has not.
        { title: 'Notes', w: 36, h: 18, markdown: '# Read <this> & that\u0001\uFFFF\n\nA text.' },
        asked('Views', { insightType: 'INSIGHT_TYPE_TRENDS', events }),
        asked('All views', { insightType: 'INSIGHT_TYPE_SEGMENTATION', events }),
        asked('Browsers', { insightType: 'INSIGHT_TYPE_TOP_K', topK }),
      ].map((tile, place) => ({ ...tile, x: (place % 2) * 36, y: Math.floor(place / 2) * 18 })),
    });
    const byBrowser = { events, breakdowns: [{ property: '$browser' }] };
    longPath = await pathOf({
      ...{ displayName: 'Days', timeRange: { preset: 'TIME_RANGE_PRESET_LAST_90_DAYS' } },
      granularity: 'GRANULARITY_DAY',
      tiles: [
        {
          ...asked('Each day', { insightType: 'INSIGHT_TYPE_TRENDS', events }),
          drawing: 'TILE_DRAWING_TABLE',
        },
        { ...asked('States', { insightType: 'INSIGHT_TYPE_LIFECYCLE', ...byBrowser }), y: 18 },
      ],
    });
    const { token } = await web.manage('/dashboard.dashboards.v1.DashboardsService/CreateShare', {
      dashboardId: boardPath.split('/').at(-1),
    });
    sharedPath = `/s/${token}`;
    member = await web.signedIn('/account');
  });

  const tile = (page: Page, name: string) => page.getByRole('article', { name });
  async function untilDrawn(page: Page): Promise<void> {
    await tile(page, 'Views').locator('.plot-line').first().waitFor({ state: 'attached' });
    await tile(page, 'Browsers').locator('img.mark').waitFor({ state: 'attached' });
    await tile(page, 'All views').getByText('3', { exact: true }).first().waitFor();
  }
  const sizeOf = (page: Page) =>
    page.evaluate<{ width: number; height: number }>(
      `(({ width, height }) => ({ width, height }))(document.querySelector('.page').getBoundingClientRect())`,
    );

  function expectWhole(picture: Picture, drawn: readonly Drawn[], theme: 'light' | 'dark'): void {
    expect(drawn.map(({ name }) => name)).toEqual(['Notes', 'Views', 'All views', 'Browsers']);
    for (const { name, variance } of drawn) expect([name, variance > 5]).toEqual([name, true]);
    const [, views, , browsers] = drawn;
    expect(views?.colours.has(firstLine[theme])).toBe(true);
    // The orange of Firefox's icon, a file of its own: no colour of the page is near it.
    const isOrange = (colour: string): boolean => {
      const [red = 0, green = 0, blue = 0] = colour.split(',').map(Number);
      return red > 220 && green > 80 && green < 190 && blue < 90;
    };
    expect([...(browsers?.colours ?? [])].some(isOrange)).toBe(true);
    expect(picture.at(1, 1).join()).toBe(ground[theme]);
  }

  it('is as large as the page, twice as dense, with every tile, its title and its icons', async () => {
    const { page } = member;
    await page.goto(web.stack.baseUrl + boardPath);
    await untilDrawn(page);
    const shown = await sizeOf(page);
    const picture = await takenPicture(page, page, 'Shop.png');
    expect(picture.width).toBe(Math.ceil(shown.width) * 2);
    // What is pressed is left out, and the range and the time of the answer are said.
    expect(picture.height / 2).toBeGreaterThan(2 * 18 * 20);
    expect(Math.abs(picture.height / 2 - shown.height)).toBeLessThan(120);
    expectWhole(picture, await drawnTiles(page, picture), 'light');
    // Nothing of the making is left behind.
    expect(await page.locator('.picture').count()).toBe(0);
    expect(await page.evaluate('document.adoptedStyleSheets.length')).toBe(0);
    expect(await axe(page)).toEqual([]);
    expect(member.faults).toEqual([]);
  });

  it('has all rows of a tile that scrolls, and the group that a reader has chosen', async () => {
    const { page } = member;
    await page.goto(web.stack.baseUrl + longPath);
    const rows = tile(page, 'Each day').locator('tbody tr');
    await rows.nth(39).waitFor({ state: 'attached' });
    const group = tile(page, 'States').getByLabel('Group', { exact: true });
    await group.selectOption({ label: 'Firefox' });
    await rememberDrawing(page);
    const picture = await takenPicture(page, page, 'Days.png');
    expect(await linesOfTile(page, picture, 'Each day')).toBeGreaterThan(await rows.count());
    expect(await chosenInDrawing(page)).toEqual(['Firefox']);
    expect(member.faults).toEqual([]);
  });

  it('is taken on a phone: one column', async () => {
    const { page } = member;
    await page.setViewportSize({ width: 360, height: 740 });
    await page.goto(web.stack.baseUrl + boardPath);
    await untilDrawn(page);
    await page.getByRole('button', { name: 'More', exact: true }).click();
    const picture = await takenPicture(page, page, 'Shop.png');
    expect(picture.width).toBe(Math.ceil((await sizeOf(page)).width) * 2);
    // A ranking is as high as its rows there, and the other three tiles as somebody has made them.
    expect(picture.height / 2).toBeGreaterThan(3 * 18 * 20);
    expectWhole(picture, await drawnTiles(page, picture), 'light');
    await page.setViewportSize({ width: 1280, height: 740 });
    expect(member.faults).toEqual([]);
  });

  it('is taken by whoever has the link, in the theme that they see', async () => {
    const stranger = await web.newReader({ colorScheme: 'dark' });
    const page = await stranger.openTab(sharedPath);
    await untilDrawn(page);
    const picture = await takenPicture(page, page, 'Shop.png');
    expectWhole(picture, await drawnTiles(page, picture), 'dark');
    expect(await axe(page)).toEqual([]);
    expect(stranger.faults).toEqual([]);
    await stranger.context.close();
  });

  it('is not taken while a tile is on its way', async () => {
    const reader = await web.signedIn('/account');
    let goOn = (): void => {};
    const held = new Promise<void>((resolve) => {
      goOn = resolve;
    });
    // Registered before the board is opened.
    await reader.context.route(/\/top-list-[^/]*\.js/, async (route) => {
      await held;
      await route.continue();
    });
    const { page } = reader;
    await page.goto(web.stack.baseUrl + boardPath);
    await tile(page, 'Browsers').getByText('Loading').waitFor();
    await page.getByRole('button', { name: 'Board as PNG' }).press('Enter');
    await page.getByText('Some tiles are still on their way').first().waitFor();
    goOn();
    await untilDrawn(page);
    const picture = await takenPicture(page, page, 'Shop.png');
    expect(await drawnTiles(page, picture)).toHaveLength(4);
    await reader.context.close();
  });
});
