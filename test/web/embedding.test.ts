// A shared board on other sites in a real browser: in frames of the origins that its link names and of no other.

import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { FrameLocator, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { hasBrowser } from '../harness/clients/browser.ts';
import { batchCreate, newEvent, untilCounted } from '../harness/clients/client.ts';
import { axe } from '../harness/web/accessibility.ts';
import { takenPicture } from '../harness/web/pictures/board-picture.ts';
import { useWebApp } from '../harness/web/use-web-app.ts';
import type { Reader } from '../harness/web/web-app.ts';

/** Browsers may keep nothing for a frame of another site, nor let it listen to the site's other pages. */
const nothingIsKept = `if (window.parent !== window) {
  const refuse = () => { throw new DOMException('not allowed', 'SecurityError'); };
  for (const name of ['localStorage', 'sessionStorage'])
    Object.defineProperty(window, name, { get: refuse });
  window.BroadcastChannel = class { constructor() { refuse(); } };
}`;

describe.runIf(hasBrowser)('a shared board', () => {
  const web = useWebApp();
  let site: Server;
  /** What the site's page shows: the line of HTML from the share dialog. */
  let snippet = '';
  let allowed: string;
  /** The same page under another origin. */
  let foreign: string;
  let visitor: Reader & { page: Page };
  beforeAll(async () => {
    site = createServer((_, response) => {
      response.writeHead(200, { 'content-type': 'text/html; charset=utf-8' });
      response.end(`<!doctype html><html lang="en"><title>A site</title>${snippet}</html>`);
    });
    await new Promise<void>((resolve) => site.listen(0, '127.0.0.1', resolve));
    const { port } = site.address() as AddressInfo;
    allowed = `http://localhost:${port}`;
    foreign = `http://127.0.0.1:${port}`;
    await batchCreate(web.stack, [newEvent({ kind: 'page_view', distinctId: 'ada' })]);
    await untilCounted(web.stack);
    visitor = await web.signedIn('/account');
  });
  afterAll(async () => {
    site?.closeAllConnections();
    await new Promise((done) => site?.close(done));
  });

  const button = (page: Page, name: string) => page.getByRole('button', { name, exact: true });
  const openBoard = async (page: Page): Promise<void> => {
    await page.goto(`${web.stack.baseUrl}/p/${web.stack.projectId}/boards/overview`);
    await button(page, 'Share').waitFor();
  };
  const heading = (frame: FrameLocator | Page) => frame.getByRole('heading', { level: 1 });
  /** Each reader is new: nothing is kept of what another one saw. */
  const framedBy = async (origin: string) => {
    const { context } = await web.newReader({ colorScheme: 'light' });
    await context.addInitScript(nothingIsKept);
    const page = await context.newPage();
    const refusals: string[] = [];
    page.on('console', (message) => {
      if (message.text().includes('frame-ancestors')) refusals.push(message.text());
    });
    // The frame is lazy: the page's load does not wait for it.
    const isRefused = page
      .waitForEvent('console', {
        predicate: (message) => message.text().includes('frame-ancestors'),
        timeout: 10_000,
      })
      .then(
        () => true,
        () => false,
      );
    await page.goto(origin);
    return { page, refusals, isRefused };
  };

  it('is in frames of the sites that its link names, in the theme of the snippet, and of no other', async () => {
    const { page } = visitor;
    await openBoard(page);
    await button(page, 'Share').click();
    await page.getByLabel('Name').fill('For a site');
    await page.getByLabel('Allow embedding').check();
    await expect.poll(() => button(page, 'Make a link').isDisabled()).toBe(true);
    const origins = page.getByLabel('Sites that may show the board in a frame');
    await origins.fill('https://example.com\nhttp://example.com');
    await button(page, 'Make a link').click();
    await page.getByText('embedOrigins[1]: must be an https origin').waitFor();
    expect(await axe(page)).toEqual([]);
    await origins.fill(`https://example.com\n${allowed}`);
    await button(page, 'Make a link').click();
    const line = page.getByRole('region', { name: 'Snippet' });
    await line.waitFor();
    expect(await line.textContent()).toMatch(
      /^<iframe src="[^"?]+" title="Overview" loading="lazy"/,
    );
    await page.getByLabel('Theme of the frame').selectOption('dark');
    await expect.poll(() => line.textContent()).toContain('?theme=dark"');
    await page.getByText(`in frames of https://example.com, ${allowed}`).waitFor();
    expect(await axe(page)).toEqual([]);
    snippet = (await line.textContent()) ?? '';

    const shown = await framedBy(allowed);
    const frame = shown.page.frameLocator('iframe');
    await frame.getByRole('article').first().waitFor();
    expect(await heading(frame).textContent()).toBe('Overview');
    expect(await frame.locator('html').getAttribute('data-theme')).toBe('dark');
    expect(await frame.getByText('Made with Millrace').count()).toBe(0);
    // Answers are shown: nothing is made while one is on its way.
    await expect
      .poll(() =>
        frame
          .getByRole('status')
          .filter({ hasText: /^Loading/ })
          .count(),
      )
      .toBe(0);
    const [file] = await Promise.all([
      shown.page.waitForEvent('download'),
      frame.getByRole('button', { name: 'Export', exact: true }).press('Enter'),
    ]);
    expect(file.suggestedFilename()).toBe('Overview.zip');
    // The picture, too, in the theme of the frame: its ground is that of web/styles/tokens.css.
    const picture = await takenPicture(shown.page, frame, 'Overview.png');
    expect(picture.at(1, 1)).toEqual([18, 20, 22]);
    expect(shown.refusals).toEqual([]);
    await shown.page.context().close();

    const refused = await framedBy(foreign);
    await expect.poll(() => refused.refusals.length).toBeGreaterThan(0);
    expect(await heading(refused.page.frameLocator('iframe')).count()).toBe(0);
    await refused.page.context().close();

    await button(page, 'Revoke For a site').click();
    await page.getByText('There is no link yet.').waitFor();
    // The service lets go of a share within a second.
    await expect
      .poll(async () => {
        const ended = await framedBy(allowed);
        const isRefused = await ended.isRefused;
        await ended.page.context().close();
        return isRefused;
      })
      .toBe(true);
  });
});
