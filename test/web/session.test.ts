// A reader's session in a real browser: how it begins, what it survives, and that all tabs share it.

import type { Page } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import { hasBrowser } from '../harness/clients/browser.ts';
import { press, typeInto } from '../harness/web/keyboard.ts';
import { untilHolds } from '../harness/web/page-condition.ts';
import { useWebApp } from '../harness/web/use-web-app.ts';

const heading = (page: Page, name: string) => page.getByRole('heading', { level: 1, name });

/** Keeps in `heard` what this tab hears after the page's own listener, which was first. */
const listen = (page: Page | undefined) =>
  page?.evaluate(`globalThis.channel = new BroadcastChannel('millrace-session');
    channel.onmessage = ({ data }) => { globalThis.heard = data };`);

describe.runIf(hasBrowser)('a session', () => {
  const app = useWebApp();

  it('begins with one click on the address of the start, once', async () => {
    const { hash } = new URL(app.stack.openUrl ?? '');
    const [first, second] = [await app.newReader(), await app.newReader()];
    const [page, late] = [
      await first.openTab(`/open${hash}`),
      await second.openTab(`/open${hash}`),
    ];
    await press(page, 'button', 'Open the demo project');
    await page.waitForURL(`**/p/${app.stack.projectId}?range=30d`);
    await heading(page, 'Overview').waitFor();
    await press(late, 'button', 'Open the demo project');
    const refusal = late.getByRole('alert');
    await refusal.waitFor();
    expect(await refusal.textContent()).toContain('sign in with the password');
    await Promise.all([first.context.close(), second.context.close()]);
  });

  it('begins by keyboard alone, goes where the reader wanted, and survives a reload', async () => {
    const reader = await app.newReader();
    const page = await reader.openTab('/account');
    await typeInto(page, 'E-mail', app.admin.email);
    await typeInto(page, 'Password', app.admin.password);
    await page.keyboard.press('Enter');
    await page.waitForURL('**/account');
    await heading(page, 'Account').waitFor();
    await page.reload({ waitUntil: 'commit' });
    await heading(page, 'Account').waitFor();
    expect(new URL(page.url()).pathname).toBe('/account');
    expect(reader.faults).toEqual([]);
    await reader.context.close();
  });

  it('survives the end of its access token, which two tabs renew once, and ends in both', async () => {
    const reader = await app.signedIn('/account');
    // A tab that opens tells the others its session.
    await listen(reader.page);
    const pages = [reader.page, await reader.openTab('/account')];
    for (const page of pages) await heading(page, 'Account').waitFor();
    await untilHolds(reader.page, 'globalThis.heard?.accessToken');
    await listen(pages[1]);
    const renewals: string[] = [];
    reader.context.on('request', (request) => {
      if (request.url().endsWith('/RefreshToken')) renewals.push(request.url());
    });
    // Every tab takes a token that the service refuses, as it refuses one that ended.
    await reader.page.evaluate(
      "new BroadcastChannel('millrace-session').postMessage({ ...heard, accessToken: 'ended' })",
    );
    for (const page of pages) await untilHolds(page, "globalThis.heard?.accessToken === 'ended'");
    const answers = pages.map((page) =>
      page.waitForResponse((response) => response.ok() && response.url().includes('.insights.')),
    );
    await Promise.all(pages.map((page) => press(page, 'link', 'Millrace')));
    await Promise.all([...answers, ...pages.map((page) => heading(page, 'Overview').waitFor())]);
    expect(renewals).toHaveLength(1);

    const [page, other] = pages;
    if (!page || !other) throw new Error('two tabs were opened');
    await press(page, 'button', 'You');
    // The open menu takes the focus; its last item is the way out.
    await page.locator('[role^=menuitem]:focus').waitFor();
    await page.keyboard.press('End');
    await page.keyboard.press('Enter');
    for (const one of pages) await heading(one, 'Sign in').waitFor();
    await other.reload({ waitUntil: 'commit' });
    await heading(other, 'Sign in').waitFor();
    await reader.context.close();
  });
});
