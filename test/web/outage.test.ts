// A service that is away for a while, and one that comes back with other pages: what a reader's open page says
// meanwhile, and that it goes on by itself.

import type { Page } from 'playwright-core';
import { afterAll, describe, expect, it } from 'vitest';
import { hasBrowser } from '../harness/clients/browser.ts';
import type { Stack } from '../harness/servers/stack.ts';
import { copyWithOtherPages } from '../harness/web/other-build.ts';
import { useWebApp } from '../harness/web/use-web-app.ts';
import { patienceMs } from '../harness/web/web-app.ts';

const timeout = patienceMs;

describe.runIf(hasBrowser)('a page that is open', () => {
  const app = useWebApp();
  let running: Stack | undefined;
  afterAll(() => running?.stop());

  const stop = () => (running ?? app.stack).kill9('service');
  /** At the address of before. */
  const start = async (dist?: string): Promise<void> => {
    const args = ['--port', new URL(app.stack.baseUrl).port];
    running = await (running ?? app.stack).restart({ args, ...(dist !== undefined && { dist }) });
  };

  const menu = (page: Page, name: string) =>
    page.getByRole('navigation', { name: 'Main' }).getByRole('link', { name, exact: true });
  const heading = (page: Page, name: RegExp) => page.getByRole('heading', { level: 1, name });
  const badge = (page: Page) => page.locator('.lag');

  /** Counts how often the document is loaded from now on. */
  function countLoads(page: Page): () => number {
    let loads = 0;
    page.on('domcontentloaded', () => loads++);
    return () => loads;
  }

  it('claims nothing while the service is away, and goes on by itself once it is back', async () => {
    const { page, context, openTab } = await app.signedIn(`/p/${app.stack.projectId}/live`);
    await badge(page).filter({ hasText: 'Up to date' }).waitFor();
    // Its code is there already, and its rows are not.
    const list = await openTab(`/p/${app.stack.projectId}/events`);
    await heading(list, /^Events/).waitFor();
    await menu(list, 'Live').click();
    await heading(list, /^Live/).waitFor();
    const loads = countLoads(page);
    stop();
    await badge(page).filter({ hasText: 'Not live' }).waitFor();
    await menu(page, 'Webhooks').click();
    await page.getByText('The service does not answer.').waitFor();
    expect(await badge(page).textContent()).toBe('Not live');
    expect(await page.getByRole('alert').count()).toBe(0);
    await menu(list, 'Events').click();
    const fault = list.getByRole('alert').filter({ hasText: 'The service did not answer.' });
    await fault.waitFor();
    await start();
    await heading(page, /^Webhooks/).waitFor();
    await fault.waitFor({ state: 'detached' });
    await badge(page).filter({ hasText: 'Up to date' }).waitFor();
    expect(loads()).toBe(0);
    await context.close();
  });

  it('says at once that nothing is live where a call finds no service', async () => {
    const { page, context } = await app.signedIn(`/p/${app.stack.projectId}/live`);
    await badge(page).filter({ hasText: 'Up to date' }).waitFor();
    // The stream goes on, and its next message tells that the service is there: only the bar of the connection says
    // that it does not answer, as soon as the page is drawn, which takes turns of the microtask queue alone.
    const seen = await page.evaluate(`(async () => {
      dispatchEvent(new Event('offline'));
      for (let turn = 0; turn < 50; turn++) await undefined;
      return [document.querySelector('.lag').textContent, document.querySelector('.connection').hidden];
    })()`);
    expect(seen).toEqual(['Not live', false]);
    await badge(page).filter({ hasText: 'Up to date' }).waitFor();
    await context.close();
  });

  it('is loaded anew, once, where the service has other pages', async () => {
    const { dist, remove } = copyWithOtherPages('events-page');
    try {
      const { page, context } = await app.signedIn(`/p/${app.stack.projectId}/live`);
      await badge(page).filter({ hasText: 'Up to date' }).waitFor();
      const loads = countLoads(page);
      stop();
      await start(dist);
      await badge(page).filter({ hasText: 'Up to date' }).waitFor();
      expect(loads()).toBe(0);
      await menu(page, 'Boards').click();
      await heading(page, /^Boards/).waitFor();
      expect(loads()).toBe(1);
      // This page is not there at all: loading it again and again would never end.
      await menu(page, 'Events').click();
      await page.getByText('A part of this page could not be loaded.').waitFor();
      await expect.poll(loads, { timeout }).toBe(2);
      await menu(page, 'Users').click();
      await heading(page, /^Users/).waitFor();
      expect(loads()).toBe(2);
      await context.close();
    } finally {
      remove();
    }
  });
});
