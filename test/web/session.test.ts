// A reader's session in a real browser: how it begins, what it survives, and that all tabs share it.

import type { Page, Response } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import { hasBrowser } from '../harness/clients/browser.ts';
import { press, typeInto } from '../harness/web/keyboard.ts';
import { untilHolds } from '../harness/web/page-condition.ts';
import { useWebApp } from '../harness/web/use-web-app.ts';
import { patienceMs, type Reader } from '../harness/web/web-app.ts';

const heading = (page: Page, name: string) => page.getByRole('heading', { level: 1, name });

/** Tabs hear each other so late that a lock, which takes another way through the browser, is there first. */
const hearLate = `{
  const prototype = BroadcastChannel.prototype;
  const late = (listener) => (event) => setTimeout(() => listener(event), 1_000);
  const own = Object.getOwnPropertyDescriptor(prototype, 'onmessage');
  const set = function (listener) {
    own.set.call(this, late(listener));
  };
  Object.defineProperty(prototype, 'onmessage', { ...own, set });
  prototype.addEventListener = function (type, listener, options) {
    const heard = type === 'message' ? late(listener) : listener;
    EventTarget.prototype.addEventListener.call(this, type, heard, options);
  };
}`;

/** Keeps in `heard` what this tab hears after the page's own listener, which was first. */
const listen = (page: Page | undefined) =>
  page?.evaluate(`globalThis.channel = new BroadcastChannel('millrace-session');
    channel.onmessage = ({ data }) => { globalThis.heard = data };`);

describe.runIf(hasBrowser)('a session', () => {
  const app = useWebApp();

  /** A page whose own session is known to the test, in `heard`. */
  async function pageThatHears(reader: Reader): Promise<Page> {
    const page = await reader.openTab('/sign-in?to=/account');
    await typeInto(page, 'E-mail', app.admin.email);
    await typeInto(page, 'Password', app.admin.password);
    await page.keyboard.press('Enter');
    await heading(page, 'Account').waitFor();
    // A tab that opens tells the others its session.
    await listen(page);
    const other = await reader.openTab('/account');
    await untilHolds(page, 'globalThis.heard?.accessToken');
    await other.close();
    return page;
  }

  /** Makes the page's token another one, for all its tabs. */
  async function changeSession(page: Page, change: object): Promise<void> {
    await page.evaluate(`globalThis.change = ${JSON.stringify(change)};
      new BroadcastChannel('millrace-session').postMessage({ ...heard, ...change })`);
    await untilHolds(
      page,
      'Object.entries(change).every(([name, value]) => heard[name] === value)',
    );
  }

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

  it('begins with a form that has the focus before a key can be typed, and keeps it', async () => {
    const reader = await app.newReader();
    const page = await reader.openTab('/sign-in');
    await heading(page, 'Sign in').waitFor();
    // It runs after the change of the page, and before any key.
    await page.evaluate(`new MutationObserver(() => {
      const shown = document.querySelector('h1')?.textContent;
      if (shown === 'Create an account') globalThis.focused ??= document.activeElement.textContent;
    }).observe(document.body, { childList: true, subtree: true })`);
    await press(page, 'link', 'Create an account');
    await heading(page, 'Create an account').waitFor();
    expect(await page.evaluate('globalThis.focused')).toBe('Create an account');
    await reader.context.close();
  });

  it.each([
    ['at the same time', false],
    ['one after the other', true],
  ])(
    'survives the end of its access token, which two tabs renew once, %s, and ends in both',
    async (_, isLate) => {
      const reader = await app.signedIn('/account');
      await reader.context.addInitScript(hearLate);
      const first = await reader.openTab('/account');
      await heading(first, 'Account').waitFor();
      await reader.page.close();
      // A tab that opens tells the others its session.
      await listen(first);
      const pages = [first, await reader.openTab('/account')];
      for (const page of pages) await heading(page, 'Account').waitFor();
      await untilHolds(first, 'globalThis.heard?.accessToken');
      await listen(pages[1]);
      const renewals: string[] = [];
      reader.context.on('request', (request) => {
        if (request.url().endsWith('/RefreshToken')) renewals.push(request.url());
      });
      // Every tab takes a token that the service refuses, as it refuses one that ended.
      await first.evaluate(
        "new BroadcastChannel('millrace-session').postMessage({ ...heard, accessToken: 'ended' })",
      );
      for (const page of pages) await untilHolds(page, "globalThis.heard?.accessToken === 'ended'");
      const isAnswer = (response: Response) =>
        response.ok() && response.url().includes('.insights.');
      const answers = pages.map((page) => page.waitForResponse(isAnswer));
      const renewed = isLate ? first.waitForResponse('**/RefreshToken') : undefined;
      for (const page of pages) {
        await press(page, 'link', 'Millrace');
        // The lock of the renewal is free by then, and its message not yet heard.
        await renewed;
      }
      await Promise.all([...answers, ...pages.map((page) => heading(page, 'Overview').waitFor())]);
      expect(renewals).toHaveLength(1);

      const [page, other] = pages;
      if (!page || !other) throw new Error('two tabs were opened');
      await press(page, 'button', 'You');
      // The open menu takes the focus; its last item is the way out.
      await page.locator('[role^=menuitem]:focus').waitFor();
      expect(await page.getByRole('menuitem', { name: 'Operator' }).count()).toBe(0);
      await page.keyboard.press('End');
      await page.keyboard.press('Enter');
      for (const one of pages) await heading(one, 'Sign in').waitFor();
      await other.reload({ waitUntil: 'commit' });
      await heading(other, 'Sign in').waitFor();
      await reader.context.close();
    },
  );

  it('survives a page that is left before the answer to its refresh has come', async () => {
    const reader = await app.newReader();
    const page = await reader.openTab('/account');
    await typeInto(page, 'E-mail', app.admin.email);
    await typeInto(page, 'Password', app.admin.password);
    await page.keyboard.press('Enter');
    await heading(page, 'Account').waitFor();
    let asked = 0;
    let late: string | undefined;
    await page.route('**/RefreshToken', async (route) => {
      asked++;
      if (asked === 1) {
        // The service has spent the token, and nobody gets the next one: the page is left.
        const { origin, cookie = '' } = await route.request().allHeaders();
        const own = { origin: origin ?? app.stack.baseUrl, cookie, 'x-session': 'cookie' };
        const headers = { ...own, 'content-type': 'application/json' };
        const answer = await fetch(route.request().url(), { method: 'POST', headers, body: '{}' });
        late = /millrace_refresh=([^;]+)/.exec(answer.headers.get('set-cookie') ?? '')?.[1];
        await page.reload({ waitUntil: 'commit' }).catch(() => {});
        return;
      }
      // The answer's cookie comes after all, once the next page has asked with the spent one.
      if (asked === 3 && late !== undefined) {
        const path = '/public.auth.v1.AuthService';
        const { hostname: domain } = new URL(app.stack.baseUrl);
        const cookie = { name: 'millrace_refresh', value: late, domain, path, httpOnly: true };
        await reader.context.addCookies([{ ...cookie, sameSite: 'Strict' }]);
      }
      await route.continue();
    });
    await page.reload({ waitUntil: 'commit' });
    await heading(page, 'Account').waitFor();
    expect(asked).toBe(3);
    await reader.context.close();
  });

  it.each([
    ['was refused', { accessToken: 'ended' }],
    ['has ended', { expireAt: 0 }],
  ])(
    'goes on by itself where the service is away when its access token, which %s, is to be renewed',
    async (_, change) => {
      const reader = await app.newReader();
      let isAway = false;
      await reader.context.route('**/RefreshToken', (route) =>
        isAway ? route.fulfill({ status: 503, body: '{}' }) : route.continue(),
      );
      const page = await pageThatHears(reader);
      isAway = true;
      await changeSession(page, change);
      await press(page, 'link', 'Millrace');
      const fault = page.getByRole('alert').filter({ hasText: 'The service did not answer.' });
      await fault.first().waitFor();
      const answer = page.waitForResponse(
        (response) => response.ok() && response.url().includes('.insights.'),
      );
      isAway = false;
      await answer;
      await expect.poll(() => fault.count(), { timeout: patienceMs }).toBe(0);
      await page.locator('.connection').waitFor({ state: 'hidden' });
      await reader.context.close();
    },
  );

  it('is renewed no sooner than a busy service says, which is no service that is away', async () => {
    const reader = await app.newReader();
    const waitSeconds = 3;
    const tooSoon: number[] = [];
    let isBusy = false;
    let busyUntilMs = 0;
    await reader.context.route('**/RefreshToken', (route) => {
      const nowMs = performance.now();
      const isFirst = isBusy && busyUntilMs === 0;
      // The browser counts from the answer, which comes later than this.
      if (isFirst) busyUntilMs = nowMs + waitSeconds * 1000;
      if (nowMs >= busyUntilMs) return route.continue();
      if (!isFirst) tooSoon.push(busyUntilMs - nowMs);
      const headers = { 'retry-after': String(waitSeconds) };
      return route.fulfill({ status: 429, headers, json: {} });
    });
    const page = await pageThatHears(reader);
    isBusy = true;
    await changeSession(page, { accessToken: 'ended' });
    // The bar would say that the service is away, be it for a moment.
    await page.evaluate(`new MutationObserver(() => { globalThis.wasAway = true; }).observe(
      document.querySelector('.connection'), { attributes: true, childList: true, subtree: true })`);
    const fault = page.getByRole('alert').filter({ hasText: 'The page asks again by itself in' });
    // Both are awaited from before the press on: a busy machine is slower than the page.
    const seen = Promise.all([
      fault.first().waitFor(),
      page.waitForResponse((response) => response.ok() && response.url().includes('.insights.')),
    ]);
    await Promise.all([seen, press(page, 'link', 'Millrace')]);
    await expect.poll(() => fault.count(), { timeout: patienceMs }).toBe(0);
    expect(tooSoon).toEqual([]);
    expect(await page.evaluate('globalThis.wasAway')).toBeUndefined();
    await reader.context.close();
  });

  it('begins by a link that the page shows where no mail server is set', async () => {
    const reader = await app.newReader();
    const page = await reader.openTab('/sign-in');
    await press(page, 'button', 'Mail me a link instead');
    await typeInto(page, 'E-mail', app.admin.email);
    await page.keyboard.press('Enter');
    await heading(page, 'No mail server is set').waitFor();
    const link = await page.getByRole('region', { name: 'Sign-in link' }).textContent();
    await page.goto(link?.trim() ?? '', { waitUntil: 'commit' });
    await press(page, 'button', 'Sign in');
    await heading(page, 'Overview').waitFor();
    expect(reader.faults).toEqual([]);
    await reader.context.close();
  });

  it('of a person who was invited begins by the link that the admin is shown, where no mail server is set', async () => {
    const { organizationId, projectId } = app.stack;
    const admin = await app.signedIn(`/o/${organizationId}/settings`);
    const email = 'invited@example.com';
    await press(admin.page, 'button', 'Invite');
    await typeInto(admin.page, 'E-mail', email);
    await press(admin.page, 'button', 'Send the invitation');
    const dialog = admin.page.getByRole('dialog', { name: 'No mail server is set' });
    const shown = async () =>
      (await dialog.getByRole('region', { name: 'Invitation link' }).textContent())?.trim() ?? '';
    const first = await shown();
    await press(admin.page, 'button', 'I have copied it');
    await press(admin.page, 'button', `Send again to ${email}`);
    const link = await shown();
    expect(link).not.toBe(first);
    expect(await admin.page.getByText('is on its way').count()).toBe(0);
    const guest = await app.newReader();
    const page = await guest.openTab(link.slice(app.stack.baseUrl.length));
    await typeInto(page, 'E-mail', email);
    await typeInto(page, 'Password', 'correct horse battery');
    await press(page, 'button', 'Create the account');
    await press(page, 'button', 'Accept the invitation');
    await page.locator(`a[href^="/p/${projectId}"]`).first().waitFor();
    expect([...admin.faults, ...guest.faults]).toEqual([]);
    await Promise.all([admin.context.close(), guest.context.close()]);
  });
});
