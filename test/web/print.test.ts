// A board and the overview on paper in a real browser, and the PDF that it makes.

import type { Page } from 'playwright-core';
import { beforeAll, describe, expect, it } from 'vitest';
import { hasBrowser } from '../harness/clients/browser.ts';
import { batchCreate, newEvent, untilCounted } from '../harness/clients/client.ts';
import { useWebApp } from '../harness/web/use-web-app.ts';
import type { Reader } from '../harness/web/web-app.ts';

describe.runIf(hasBrowser)('a board', () => {
  const web = useWebApp();
  let visitor: Reader & { page: Page };
  beforeAll(async () => {
    await batchCreate(web.stack, [newEvent({ kind: 'page_view', distinctId: 'ada' })]);
    await untilCounted(web.stack);
    visitor = await web.signedIn('/account');
  });
  const button = (page: Page, name: string) => page.getByRole('button', { name, exact: true });
  const openBoard = async (page: Page): Promise<void> => {
    await page.goto(`${web.stack.baseUrl}/p/${web.stack.projectId}/boards/overview`);
    await button(page, 'Share').waitFor();
  };
  const heading = (page: Page) => page.getByRole('heading', { level: 1 });

  it('is on paper without navigation, with its range and the time of its answer', async () => {
    const { page } = visitor;
    await openBoard(page);
    await page.getByRole('article').first().getByRole('group').waitFor();
    // The browser's own dialog is not part of the page.
    await page.evaluate('globalThis.print = () => { document.title = "printed"; }');
    await button(page, 'Print').click();
    await expect.poll(() => page.title()).toBe('printed');
    const printed = page.getByText(/^\d.* to \d.*, days of .*\. Answered on /);
    expect(await printed.isVisible()).toBe(false);
    const folded = page.locator('main details:not([open])').filter({ visible: true });
    await folded.first().waitFor();
    await page.emulateMedia({ media: 'print', colorScheme: 'dark' });
    await expect.poll(() => printed.isVisible()).toBe(true);
    const hidden = ['nav', '.sidebar', '.top-bar', '.page-head button'];
    for (const name of hidden)
      expect([name, await page.locator(name).filter({ visible: true }).count()]).toEqual([name, 0]);
    expect(await heading(page).isVisible()).toBe(true);
    expect(await folded.count()).toBe(0);
    // Of a chip whose button is not on paper.
    const room = await page.evaluate<number[]>(`{
      const [text] = [...document.querySelectorAll('.chip > span')].filter((one) => one.checkVisibility());
      const range = document.createRange();
      range.selectNodeContents(text);
      const [inner, outer] = [range, text.parentElement].map((one) => one.getBoundingClientRect());
      [inner.left - outer.left, outer.right - inner.right, inner.top - outer.top];
    }`);
    for (const px of room) expect(px).toBeGreaterThan(3);
    await page.getByText('Complete until').filter({ visible: true }).first().waitFor();
    const ground = 'getComputedStyle(document.documentElement).backgroundColor';
    expect(await page.evaluate(ground)).toBe('rgb(255, 255, 255)');
    const pdf = await page.pdf({ format: 'A4' });
    expect(pdf.subarray(0, 5).toString()).toBe('%PDF-');
    await page.emulateMedia({ media: null, colorScheme: null });
    expect(visitor.faults).toEqual([]);
  });

  it('leaves paper the figures that are buttons on a screen, and whole tables', async () => {
    const { page } = visitor;
    await page.goto(`${web.stack.baseUrl}/p/${web.stack.projectId}`);
    const figures = page.locator('.figure-tile').filter({ visible: true });
    await expect.poll(() => figures.count()).toBe(5);
    await page.getByText('Table', { exact: true }).first().click();
    const table = page.locator('.data .scroll').first();
    await table.waitFor();
    await page.emulateMedia({ media: 'print' });
    await expect.poll(() => figures.count()).toBe(5);
    const height = `getComputedStyle(document.querySelector('.data .scroll')).maxHeight`;
    await expect.poll(() => page.evaluate(height)).toBe('none');
    await page.emulateMedia({ media: null });
    expect(visitor.faults).toEqual([]);
  });
});
