// The columns of the explorer in a real browser: chosen, moved and made wider by mouse and keyboard, kept in the
// address and in the browser, and taken away as a file.

import { readFileSync } from 'node:fs';
import type { Locator, Page } from 'playwright-core';
import { beforeAll, describe, expect, it } from 'vitest';
import { hasBrowser } from '../harness/clients/browser.ts';
import { batchCreate, eventually, listActivity, newEvent } from '../harness/clients/client.ts';
import { axe } from '../harness/web/accessibility.ts';
import { untilFocused } from '../harness/web/keyboard.ts';
import { useWebApp } from '../harness/web/use-web-app.ts';
import { patienceMs, type Reader } from '../harness/web/web-app.ts';

const timeout = patienceMs;
const usual = ['Time', 'Event', 'User id', 'Page', 'Place', 'Properties'];
/** Numbers of JSON have fewer digits. */
const seats = '9007199254740993';

describe.runIf(hasBrowser)('the columns of events', () => {
  const app = useWebApp();
  let reader: Reader & { page: Page };

  beforeAll(async () => {
    const customProperties = {
      plan: { stringValue: '=pro, "yearly"' },
      seats: { intValue: seats },
      constructor: { stringValue: 'own' },
    };
    const events = [
      newEvent({ kind: 'signup', distinctId: 'ada', customProperties }),
      newEvent({ kind: 'visit', distinctId: 'bob' }),
    ];
    const agent = 'Mozilla/5.0 (X11; Linux x86_64; rv:143.0) Gecko/20100101 Firefox/143.0';
    const headers = { 'user-agent': agent };
    expect((await batchCreate(app.stack, events, { headers })).status).toBe(200);
    await eventually(
      () => listActivity(app.stack, {}),
      (list) => list.events.length === events.length,
    );
    reader = await app.signedIn('/account');
  });

  async function open(page: Page, query = ''): Promise<void> {
    await page.goto(`${app.stack.baseUrl}/p/${app.stack.projectId}/events${query}`);
    await page.waitForSelector('.table-row', { timeout });
  }
  const heads = (page: Page) => () =>
    page.getByRole('columnheader').evaluateAll((all) => all.map((one) => one.ariaLabel));
  const inAddress = (page: Page) => () => {
    const text = new URL(page.url()).searchParams.get('columns');
    return text === null ? undefined : JSON.parse(text);
  };
  const edge = (page: Page, name: string) =>
    page.getByRole('separator', { name: `Width of ${name}`, exact: true });
  const widthOf = async (separator: Locator) =>
    Number(await separator.getAttribute('aria-valuenow'));

  it('are chosen and moved by keyboard, and a link shows the same', async () => {
    const { page } = reader;
    await open(page);
    await expect.poll(heads(page), { timeout }).toEqual(usual);
    expect(inAddress(page)()).toBeUndefined();
    await page.getByRole('button', { name: 'Columns' }).press('Enter');
    const dialog = page.getByRole('dialog', { name: 'Columns' });
    const check = (name: RegExp | string) => dialog.getByRole('checkbox', { name });
    await untilFocused(page, check('Time'));
    await check('Place').press('Space');
    // It is in the other list now, and so is the focus.
    await untilFocused(page, check('Place'));
    await check(/^plan/).press('Space');
    await untilFocused(page, check(/^plan/));
    const up = dialog.getByRole('button', { name: 'Move User id up' });
    await up.press('Enter');
    await untilFocused(page, up);
    await up.press('Enter');
    // It is the first, and can only go down.
    await untilFocused(page, dialog.getByRole('button', { name: 'Move User id down' }));
    expect(await axe(page)).toEqual([]);
    await dialog.getByRole('button', { name: 'Done' }).click();
    const chosen = ['User id', 'Time', 'Event', 'Page', 'Properties', 'plan'];
    await expect.poll(heads(page), { timeout }).toEqual(chosen);
    const plan = page.getByRole('gridcell', { name: '=pro, "yearly"', exact: true });
    await plan.waitFor({ timeout });
    expect(inAddress(page)()).toEqual(['who', 'time', 'kind', 'page', 'properties', '.plan']);
    // Another browser has kept nothing of it.
    const other = await app.signedIn('/account');
    await open(other.page, new URL(page.url()).search);
    await expect.poll(heads(other.page), { timeout }).toEqual(chosen);
    expect(other.faults).toEqual([]);
    // This one has, also where the address names none.
    await open(page);
    await expect.poll(heads(page), { timeout }).toEqual(chosen);
    await expect.poll(inAddress(page), { timeout }).toContain('.plan');
  });

  it('hold a dozen at most, find properties by their names, and go back to the usual ones', async () => {
    const { page } = reader;
    const eleven = Array.from({ length: 11 }, (_, n) => `.p${n}`);
    await open(page, `?columns=${encodeURIComponent(JSON.stringify(eleven))}`);
    await page.getByRole('button', { name: 'Columns' }).click();
    const dialog = page.getByRole('dialog', { name: 'Columns' });
    await dialog.getByLabel('Filter columns').fill('SEAT');
    const found = dialog.getByRole('group', { name: 'More' }).getByRole('checkbox');
    await expect.poll(() => found.count(), { timeout }).toBe(1);
    await found.click();
    await dialog.getByText('12 columns at most').waitFor({ timeout });
    await dialog.getByLabel('Filter columns').fill('');
    await expect.poll(() => found.count(), { timeout }).toBeGreaterThan(5);
    expect(await found.evaluateAll((all) => all.every((one) => one.matches(':disabled')))).toBe(
      true,
    );
    await dialog.getByRole('button', { name: 'Usual columns' }).click();
    await dialog.getByRole('button', { name: 'Done' }).click();
    await expect.poll(heads(page), { timeout }).toEqual(usual);
    await expect.poll(inAddress(page), { timeout }).toBeUndefined();
  });

  it('are made wider by pointer and arrow keys, and automatic again by a double click', async () => {
    const { page } = reader;
    await open(page);
    const kind = edge(page, 'Event');
    const beforePx = await widthOf(kind);
    await kind.press('ArrowRight');
    await expect.poll(() => widthOf(kind), { timeout }).toBe(beforePx + 16);
    await expect.poll(inAddress(page), { timeout }).toContainEqual(['kind', beforePx + 16]);
    await kind.press('Home');
    await expect.poll(() => widthOf(kind), { timeout }).toBe(56);
    await kind.press('Enter');
    await expect.poll(() => widthOf(kind), { timeout }).toBe(beforePx);
    await expect.poll(inAddress(page), { timeout }).toBeUndefined();
    const box = await kind.boundingBox();
    if (!box) throw new Error('the edge is not shown');
    const [x, y] = [box.x + box.width / 2, box.y + box.height / 2];
    await page.mouse.move(x, y);
    await page.mouse.down();
    await page.mouse.move(x + 40, y, { steps: 4 });
    await page.mouse.up();
    await expect.poll(() => widthOf(kind), { timeout }).toBe(beforePx + 40);
    await expect.poll(inAddress(page), { timeout }).toContainEqual(['kind', beforePx + 40]);
    expect(await axe(page)).toEqual([]);
    // The browser has kept it.
    await open(page);
    await expect.poll(() => widthOf(kind), { timeout }).toBe(beforePx + 40);
    await kind.dblclick();
    await expect.poll(() => widthOf(kind), { timeout }).toBe(beforePx);
    await expect.poll(inAddress(page), { timeout }).toBeUndefined();
  });

  it('are the columns of a file of the rows, with the values as they are stored', async () => {
    const { page } = reader;
    const columns = ['kind', '.plan', '.seats', '.constructor', 'who'];
    await open(page, `?columns=${encodeURIComponent(JSON.stringify(columns))}`);
    await page.getByRole('button', { name: 'Export' }).click();
    const coming = page.waitForEvent('download');
    await page.getByRole('menuitem', { name: 'CSV of these rows and columns' }).click();
    const file = await coming;
    expect(file.suggestedFilename()).toBe('events-shown.csv');
    const [head, ...rows] = readFileSync(await file.path(), 'utf8').split('\r\n');
    expect(head).toBe('Event,plan,seats,constructor,User id');
    expect(rows.sort()).toEqual([`signup,"'=pro, ""yearly""",${seats},own,ada`, 'visit,,,,bob']);
  });

  it('scroll sideways on a phone, and are the few ones where nobody has chosen', async () => {
    const phone = await app.signedIn('/account');
    await phone.page.setViewportSize({ width: 360, height: 740 });
    await open(phone.page);
    await expect.poll(() => phone.page.getByRole('columnheader').count(), { timeout }).toBe(3);
    await open(
      phone.page,
      `?columns=${encodeURIComponent('["kind","who","page","event",".plan"]')}`,
    );
    await expect
      .poll(heads(phone.page), { timeout })
      .toEqual(['Event', 'User id', 'Page', 'Event id', 'plan']);
    const table = phone.page.getByRole('grid');
    const [inside, outside] = await table.evaluate((one) => [one.scrollWidth, one.clientWidth]);
    expect(inside).toBeGreaterThan(outside ?? 0);
    const body = await phone.page.locator('html').evaluate((one) => one.scrollWidth);
    expect(body).toBeLessThanOrEqual(360);
    expect(await axe(phone.page)).toEqual([]);
    expect([...phone.faults, ...reader.faults]).toEqual([]);
  });
});
