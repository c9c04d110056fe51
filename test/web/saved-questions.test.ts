// Saved questions in a real browser: found, renamed, copied to another board and deleted, by keyboard, and on a phone.

import type { Page } from 'playwright-core';
import { beforeAll, describe, expect, it } from 'vitest';
import { hasBrowser } from '../harness/clients/browser.ts';
import { call } from '../harness/clients/client.ts';
import { axe } from '../harness/web/accessibility.ts';
import { useWebApp } from '../harness/web/use-web-app.ts';
import type { Reader } from '../harness/web/web-app.ts';

describe.runIf(hasBrowser)('saved questions', () => {
  const web = useWebApp();
  let visitor: Reader & { page: Page };

  /** A method of the dashboards, as its admin. */
  async function makeBoard(displayName: string, tiles: object[]): Promise<void> {
    const { baseUrl, projectId } = web.stack;
    const signedIn = await call(baseUrl, '/public.auth.v1.AuthService/SignIn', '', web.admin);
    const authorization = `Bearer ${signedIn.body['accessToken']}`;
    const path = '/dashboard.dashboards.v1.DashboardsService/Create';
    const headers = { authorization, 'x-project-id': projectId };
    const { status } = await call(baseUrl, path, '', { displayName, tiles }, headers);
    expect(status).toBe(200);
  }

  beforeAll(async () => {
    visitor = await web.signedIn('/account');
  });

  const goOn = async (page: Page, path: string): Promise<void> => {
    await page.goto(`${web.stack.baseUrl}/p/${web.stack.projectId}${path}`);
    await page.waitForSelector('main h1');
  };
  const rows = (page: Page) => page.locator('.board-list li');
  const texts = (page: Page) => expect.poll(() => rows(page).allInnerTexts());
  const press = (page: Page, name: string) =>
    page.getByRole('button', { name, exact: true }).press('Enter');
  const choose = async (page: Page, question: string, item: string): Promise<void> => {
    await press(page, `More: ${question}`);
    await page.locator('[role^=menuitem]:focus').waitFor();
    await page.getByRole('menuitem', { name: item }).press('Enter');
  };

  it('are none at first', async () => {
    const { page } = visitor;
    await goOn(page, '/questions');
    await page.getByText('Save an insight to a board').waitFor();
    expect(await axe(page)).toEqual([]);
  });

  it('are found, renamed, copied to a board and deleted', async () => {
    const { page } = visitor;
    const insight = (kind: string) => ({
      insightType: 'INSIGHT_TYPE_TRENDS',
      events: [{ event: { kind } }],
    });
    const tile = { x: 0, w: 36, h: 18 };
    await makeBoard('Shop', [
      { ...tile, title: 'Orders', insight: insight('purchase') },
      { ...tile, title: 'Sign-ups', insight: insight('signup') },
    ]);
    await makeBoard('Week', []);
    await goOn(page, '/questions');
    await texts(page).toEqual([
      expect.stringMatching(/^Orders\s+Trends, on Shop/),
      expect.stringMatching(/^Sign-ups\s+Trends, on Shop/),
    ]);
    expect(await axe(page)).toEqual([]);
    await page.getByRole('searchbox', { name: 'Search' }).fill('sign');
    await texts(page).toHaveLength(1);
    expect(new URL(page.url()).searchParams.get('find')).toBe('sign');
    await page.getByRole('searchbox', { name: 'Search' }).fill('');
    await texts(page).toHaveLength(2);

    await choose(page, 'Orders', 'Rename');
    const name = page.getByRole('dialog').getByLabel('Name');
    await name.fill('Purchases');
    expect(await axe(page)).toEqual([]);
    await name.press('Enter');
    await texts(page).toContainEqual(expect.stringMatching(/^Purchases\s+Trends, on Shop/));

    await choose(page, 'Purchases', 'Copy to a board');
    // Nothing is copied before the boards are known.
    const board = page.getByRole('dialog').getByLabel('Board');
    await expect.poll(() => board.inputValue()).not.toBe('');
    await press(page, 'Copy');
    await texts(page).toContainEqual(expect.stringMatching(/^Purchases\s+Trends, on Shop, Week/));

    await page.setViewportSize({ width: 360, height: 740 });
    await choose(page, 'Purchases', 'Delete');
    await page.getByText('It leaves Shop, Week.').waitFor();
    await press(page, 'Delete insight');
    await texts(page).toEqual([expect.stringMatching(/^Sign-ups/)]);
    const width = await page.evaluate<number>('document.documentElement.scrollWidth');
    expect(width).toBeLessThanOrEqual(360);
    await page.getByRole('link', { name: 'Sign-ups' }).click();
    await page.getByRole('heading', { level: 1, name: 'Trends' }).waitFor();
    expect(visitor.faults).toEqual([]);
  });
});
