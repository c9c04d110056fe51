// Boards in a real browser: one is made by keyboard alone, two readers save the same revision, and a link shows it to
// somebody without an account.

import { create, fromBinary, toBinary } from '@bufbuild/protobuf';
import { timestampFromDate } from '@bufbuild/protobuf/wkt';
import type { Page } from 'playwright-core';
import { beforeAll, describe, expect, it } from 'vitest';
import {
  RenderResponseSchema,
  TileErrorSchema,
} from '../../proto/gen/dashboard/dashboards/v1/dashboards_pb.js';
import { ClockOffsetSchema } from '../../proto/gen/dashboard/projects/v1/projects_pb.js';
import { RenderResponseSchema as SharedResponseSchema } from '../../proto/gen/public/dashboards/v1/shared_dashboards_pb.js';
import { hasBrowser } from '../harness/clients/browser.ts';
import { batchCreate, newEvent, untilCounted } from '../harness/clients/client.ts';
import { axe } from '../harness/web/accessibility.ts';
import { untilFocused } from '../harness/web/keyboard.ts';
import { useWebApp } from '../harness/web/use-web-app.ts';
import type { Reader } from '../harness/web/web-app.ts';

const busyTile = () =>
  create(TileErrorSchema, {
    // Long enough that the words are seen before the page asks again.
    ...{ code: 'resource_exhausted', message: 'the service is busy', retryAfterSeconds: 5 },
  });

describe.runIf(hasBrowser)('boards', () => {
  const web = useWebApp();
  let visitor: Reader & { page: Page };
  let boardPath: string;
  beforeAll(async () => {
    await batchCreate(web.stack, [newEvent({ kind: 'page_view', distinctId: 'ada' })]);
    await untilCounted(web.stack);
    visitor = await web.signedIn('/account');
  });

  const goOn = async (page: Page, path: string): Promise<void> => {
    await page.goto(`${web.stack.baseUrl}/p/${web.stack.projectId}${path}`);
    await page.waitForSelector('main h1');
  };

  const button = (page: Page, name: string) => page.getByRole('button', { name, exact: true });
  /** By keyboard: the focus goes to the button, and Enter presses it. */
  const press = (page: Page, name: string) => button(page, name).press('Enter');

  it('makes a board with a text and a question by keyboard, and moves a tile', async () => {
    const { page } = visitor;
    await goOn(page, '/boards');
    await press(page, 'New board');
    await untilFocused(page, page.getByRole('dialog').getByRole('textbox'));
    await page.keyboard.type('Shop');
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { level: 1, name: 'Edit Shop' }).waitFor();
    await press(page, 'Add text');
    await page.getByLabel('Title').fill('Notes');
    await page
      .getByRole('textbox', { name: 'Text' })
      .fill('# Goals\n\n[bad](javascript:alert(1)) [good](/)');
    const dialog = page.getByRole('dialog');
    await press(page, 'Add to the board');
    await dialog.waitFor({ state: 'detached' });
    await press(page, 'Add insight');
    await press(page, 'Add to the board');
    await dialog.waitFor({ state: 'detached' });
    await page.getByRole('button', { name: /^Move Trends/ }).press('ArrowDown');
    await page.getByRole('button', { name: /^Move Trends/ }).press('Shift+ArrowDown');
    await page.getByText('Trends: column 7 of 12, row 3, 6 columns wide, 20 rows high').waitFor({
      state: 'attached',
    });
    expect(await axe(page)).toEqual([]);
    await press(page, 'Save');
    await button(page, 'Edit').waitFor();
    boardPath = new URL(page.url()).pathname.replace(`/p/${web.stack.projectId}`, '');
    await goOn(page, boardPath);
    await page.getByRole('heading', { name: 'Goals' }).waitFor();
    expect(await page.locator('.markdown a').allTextContents()).toEqual(['good']);
    await page.getByRole('article', { name: 'Trends' }).getByRole('img').waitFor();
    expect(await axe(page)).toEqual([]);
    expect(visitor.faults).toEqual([]);
  });

  it('asks again by itself for a tile that the service was too busy to answer, four times in all', async () => {
    const { page } = visitor;
    const note = page.getByText('The service is busy: some tiles have no answer yet.');
    let asked = 0;
    await page.route('**/*.DashboardsService/Render', async (route) => {
      const response = await route.fetch();
      const board = fromBinary(RenderResponseSchema, await response.body());
      const [tile] = board.results;
      asked += 1;
      if (asked <= 4 && tile) tile.outcome = { case: 'error', value: busyTile() };
      const body = Buffer.from(toBinary(RenderResponseSchema, board));
      await route.fulfill({ contentType: 'application/proto', body });
    });
    await goOn(page, boardPath);
    await page.getByText('The page asks again by itself in 5 s.').waitFor();
    expect(await axe(page)).toEqual([]);
    const again = note.getByRole('button', { name: 'Ask again' });
    await again.waitFor();
    expect(asked).toBe(4);
    await again.click();
    await page.getByRole('article', { name: 'Trends' }).getByRole('img').waitFor();
    expect([await note.count(), asked]).toEqual([0, 5]);
    await page.unroute('**/*.DashboardsService/Render');
    expect(visitor.faults).toEqual([]);
  });

  it('says what somebody else saved meanwhile, and keeps the draft', async () => {
    const { page } = visitor;
    const other = await web.signedIn('/account');
    await goOn(page, `${boardPath}?edit=yes`);
    await goOn(other.page, `${boardPath}?edit=yes`);
    await other.page.getByLabel('Name').fill('Store');
    await other.page.getByRole('button', { name: 'Remove Notes' }).click();
    await button(other.page, 'Save').click();
    await button(other.page, 'Edit').waitFor();
    await other.context.close();
    await page.getByLabel('What it is for').fill('Mine');
    await button(page, 'Save').click();
    await page.getByText('Its name is now “Store”.').waitFor();
    await page.getByText('“Notes” was removed.').waitFor();
    await button(page, 'Keep my draft').click();
    expect(await page.getByLabel('What it is for').inputValue()).toBe('Mine');
    await button(page, 'Save').click();
    await page.getByRole('heading', { level: 1, name: 'Shop' }).waitFor();
    await page.getByRole('heading', { name: 'Goals' }).waitFor();
    await page.getByText('Mine').waitFor();
  });

  it('shows a board to whoever has its link and its password, until it is revoked', async () => {
    const { page } = visitor;
    await goOn(page, boardPath);
    await button(page, 'Share').click();
    await page.getByLabel('Name').fill('For Ada');
    await page.getByLabel('Password').fill('correct horse');
    // An end that cannot be read is not none.
    await page.getByLabel('Last day').fill('0026-11-23');
    await page.getByText('Not a day that can be read.').waitFor();
    await expect.poll(() => button(page, 'Make a link').isDisabled()).toBe(true);
    await page.getByLabel('Last day').fill('');
    await button(page, 'Make a link').click();
    const link = (await page.locator('dialog .code code').textContent()) ?? '';
    const stranger = await web.newReader({ viewport: { width: 360, height: 780 } });
    const theirs = await stranger.context.newPage();
    await theirs.goto(`${link}?theme=dark`);
    await theirs.getByLabel('Password').fill('wrong horse');
    await theirs.getByLabel('Password').press('Enter');
    await theirs.getByText('This is not the password.').waitFor();
    await theirs.getByLabel('Password').fill('correct horse');
    await theirs.getByLabel('Password').press('Enter');
    await theirs.getByRole('heading', { level: 1, name: 'Shop' }).waitFor();
    expect(await axe(theirs)).toEqual([]);
    await asksAgainForTiles(theirs, `${link}?theme=dark`);
    await page.getByRole('button', { name: 'Revoke For Ada' }).click();
    await page.getByText('There is no link yet.').waitFor();
    // The service lets go of a share within a second.
    await expect
      .poll(async () => {
        await theirs.goto(link);
        return theirs.getByRole('heading', { level: 1 }).textContent();
      })
      .toBe('This link leads nowhere');
    await stranger.context.close();
  });
});

/** Opens a shared board whose first answer misses a tile, and whose zone has another clock than the browser knows. */
async function asksAgainForTiles(page: Page, link: string): Promise<void> {
  let asked = 0;
  const calls = '**/*.SharedDashboardsService/Render';
  await page.route(calls, async (route) => {
    const response = await route.fetch();
    // The password is asked for.
    if (!response.ok()) return route.fulfill({ response });
    const board = fromBinary(SharedResponseSchema, await response.body());
    const tile = board.tiles.find(({ content }) => content.case === 'insight');
    board.renderTime = timestampFromDate(new Date('2026-07-01T00:00:05Z'));
    if (board.time) board.time.clock = [create(ClockOffsetSchema, { minutes: 754 })];
    if (tile) {
      asked += 1;
      if (tile.content.case === 'insight') tile.content.value.completeUntil = board.renderTime;
      if (asked === 1) tile.content = { case: 'error', value: busyTile() };
    }
    const body = Buffer.from(toBinary(SharedResponseSchema, board));
    return route.fulfill({ contentType: 'application/proto', body });
  });
  await page.goto(link);
  await page.getByLabel('Password').fill('correct horse');
  await page.getByLabel('Password').press('Enter');
  await page.getByText('The page asks again by itself in 5 s.').waitFor();
  await page.getByRole('article', { name: 'Trends' }).getByRole('img').waitFor();
  expect(asked).toBe(2);
  await page.getByText('Complete until 12:34:05, answered at 12:34:05.').waitFor();
  await page.unroute(calls);
}
