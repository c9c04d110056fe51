// A board taken away in a real browser, by members and by whoever has its link: the archive has the rows of all tiles,
// by keyboard and on a phone, says until when they are complete and which tile has none, and is not made while a tile
// is on its way.

import { text } from 'node:stream/consumers';
import type { Page } from 'playwright-core';
import { beforeAll, describe, expect, it } from 'vitest';
import { entryBytes, readZipEntries } from '../../history/files/zip.ts';
import { hasBrowser } from '../harness/clients/browser.ts';
import { batchCreate, eventually, newEvent } from '../harness/clients/client.ts';
import { axe } from '../harness/web/accessibility.ts';
import { useWebApp } from '../harness/web/use-web-app.ts';
import type { Reader } from '../harness/web/web-app.ts';

const moment = /^\d{4}-\d\d-\d\dT[\d:.]+Z$/;

describe.runIf(hasBrowser)('a board', () => {
  const web = useWebApp();
  let visitor: Reader & { page: Page };
  let boardUrl: string;
  let sharedPath: string;

  beforeAll(async () => {
    const view = (distinctId: string, plan: string) =>
      newEvent({ kind: 'view', distinctId, customProperties: { plan: { stringValue: plan } } });
    // Pages leave programs out.
    const headers = {
      'user-agent': 'Mozilla/5.0 (X11; Linux x86_64; rv:145.0) Gecko/20100101 Firefox/145.0',
    };
    const views = [view('ada', '=1+1'), view('ben', '=1+1'), view('ben', 'a')];
    expect((await batchCreate(web.stack, views, { headers })).status).toBe(200);
    const events = [{ event: { kind: 'view' } }];
    const question = (title: string, insight: object) => ({ title, w: 36, h: 14, insight });
    const topK = { dimension: 'DIMENSION_PROPERTY', property: 'plan', scope: { kind: 'view' } };
    const ranking = question('By plan', { insightType: 'INSIGHT_TYPE_TOP_K', topK });
    const gone = await web.manage('/dashboard.segments.v1.SegmentsService/Create', {
      displayName: 'Gone',
      condition: { groups: [{ tests: [{ did: { event: { kind: 'view' }, atLeast: 1 } }] }] },
    });
    const segment = String(Reflect.get(Object(gone['segment']), 'id'));
    const { dashboard } = await web.manage('/dashboard.dashboards.v1.DashboardsService/Create', {
      ...{ displayName: 'Plans', timeRange: { preset: 'TIME_RANGE_PRESET_LAST_7_DAYS' } },
      tiles: [
        { title: 'Notes', w: 36, h: 8, markdown: 'A text' },
        question('Views / day', { insightType: 'INSIGHT_TYPE_TRENDS', events }),
        question('', { insightType: 'INSIGHT_TYPE_SEGMENTATION', events }),
        ranking,
        question('Nobody', {
          ...{ insightType: 'INSIGHT_TYPE_SEGMENTATION', events, segments: [segment] },
        }),
      ].map((tile, place) => ({ ...tile, y: place * 14 })),
    });
    await web.manage('/dashboard.segments.v1.SegmentsService/Delete', { id: segment });
    const id = String(Reflect.get(Object(dashboard), 'id'));
    boardUrl = `${web.stack.baseUrl}/p/${web.stack.projectId}/boards/${id}`;
    await eventually(
      () =>
        web.manage('/dashboard.dashboards.v1.DashboardsService/Render', { id, leaveOutBots: true }),
      (board) => JSON.stringify(board).includes('"total":3'),
    );
    const shown = await web.manage('/dashboard.dashboards.v1.DashboardsService/Create', {
      displayName: 'For all',
      tiles: [
        { title: 'Notes', w: 36, h: 8, markdown: 'A text' },
        ranking,
        { title: 'In SQL', w: 36, h: 8, statement: { sql: 'SELECT 1 AS one' } },
      ].map((tile, place) => ({ ...tile, y: place * 14 })),
    });
    const { token } = await web.manage('/dashboard.dashboards.v1.DashboardsService/CreateShare', {
      dashboardId: String(Reflect.get(Object(shown['dashboard']), 'id')),
    });
    sharedPath = `/s/${token}`;
    visitor = await web.signedIn('/account');
  });

  /** The files of the archive, by name, each as its lines. */
  async function taken(
    page: Page,
    press: () => Promise<void>,
    name = 'Plans.zip',
  ): Promise<Map<string, string[]>> {
    const [file] = await Promise.all([page.waitForEvent('download'), press()]);
    expect(file.suggestedFilename()).toBe(name);
    const path = await file.path();
    const entries = await readZipEntries(path);
    const read = entries.map(async (entry) => {
      const content = await text(entryBytes(path, entry, () => {}));
      return [entry.name, content.split('\r\n')] as const;
    });
    return new Map(await Promise.all(read));
  }

  const button = (page: Page) => page.getByRole('button', { name: 'Export', exact: true });
  const bars = (page: Page) => page.getByRole('article', { name: 'By plan' }).getByText('=1+1');

  it('is taken away by keyboard: the rows of each tile, and what the others have in their place', async () => {
    const { page } = visitor;
    await page.goto(boardUrl);
    await bars(page).waitFor();
    await page.getByRole('article', { name: 'Views / day' }).getByRole('img').waitFor();
    const files = await taken(page, () => button(page).press('Enter'));
    expect([...files.keys()]).toEqual([
      '01 Views - day.csv',
      '02.csv',
      '03 By plan.csv',
      'tiles.csv',
    ]);
    const days = files.get('01 Views - day.csv') ?? [];
    expect(days).toHaveLength(1 + 7);
    expect(days[0]).toMatch(/^Time,.*,Complete until$/);
    const ofToday = days.at(-1)?.split(',') ?? [];
    expect([ofToday.at(-2), ofToday.at(-1)]).toEqual(['3', expect.stringMatching(moment)]);
    expect(files.get('02.csv')?.[1]?.split(',')).toEqual(['3', expect.stringMatching(moment)]);
    expect(files.get('03 By plan.csv')?.[1]).toMatch(/^'=1\+1,2,/);
    const [head, ...tiles] = files.get('tiles.csv') ?? [];
    expect(head).toBe('Tile,File,Complete until,Note');
    expect(tiles.map((line) => line.split(',').slice(0, 2))).toEqual([
      ['Views / day', '01 Views - day.csv'],
      ['Tile 2', '02.csv'],
      ['By plan', '03 By plan.csv'],
      ['Nobody', ''],
    ]);
    expect(tiles.at(-1)).toContain('it may have been deleted (invalid_argument)');
    expect(await axe(page)).toEqual([]);
    expect(visitor.faults).toEqual([]);
  });

  it('is taken away on a phone', async () => {
    const { page } = visitor;
    await page.setViewportSize({ width: 360, height: 740 });
    await page.goto(boardUrl);
    await bars(page).waitFor();
    // What is seldom pressed leaves the screen to the tiles.
    const more = page.getByRole('button', { name: 'More', exact: true });
    expect(await page.locator('.board > .row.end > *:visible').allTextContents()).toEqual([
      'More',
      'Share',
      'Edit',
    ]);
    await more.click();
    const files = await taken(page, () => button(page).click());
    expect(files.size).toBe(4);
    expect(await axe(page)).toEqual([]);
    const wide = await page.evaluate<number>('document.documentElement.scrollWidth');
    expect(wide).toBeLessThanOrEqual(360);
    expect(visitor.faults).toEqual([]);
  });

  it('is taken away by whoever has its link, with what is shown to them', async () => {
    const stranger = await web.newReader();
    const page = await stranger.openTab(sharedPath);
    for (const width of [1280, 360]) {
      await page.setViewportSize({ width, height: 740 });
      await bars(page).waitFor();
      const files = await taken(page, () => button(page).press('Enter'), 'For-all.zip');
      expect([...files.keys()]).toEqual(['01 By plan.csv', 'tiles.csv']);
      expect(files.get('01 By plan.csv')?.[1]).toMatch(/^'=1\+1,2,/);
      const [, ranked, inSql] = files.get('tiles.csv') ?? [];
      expect(ranked?.split(',').slice(0, 2)).toEqual(['By plan', '01 By plan.csv']);
      expect(ranked?.split(',')[2]).toMatch(moment);
      expect(inSql).toBe('In SQL,,,"It is made in SQL, and shown to members alone."');
      expect(await axe(page)).toEqual([]);
      const wide = await page.evaluate<number>('document.documentElement.scrollWidth');
      expect(wide).toBeLessThanOrEqual(width);
    }
    expect(stranger.faults).toEqual([]);
    await stranger.context.close();
  });

  it('is not taken away while a tile is on its way', async () => {
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
    await page.goto(boardUrl);
    await page.getByRole('article', { name: 'By plan' }).getByText('Loading').waitFor();
    await button(page).press('Enter');
    await page.getByText('Some tiles are still on their way').first().waitFor();
    goOn();
    await bars(page).waitFor();
    expect((await taken(page, () => button(page).press('Enter'))).size).toBe(4);
    await reader.context.close();
  });
});
