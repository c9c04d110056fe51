// A second factor in a real browser: set up with the app's code, asked for at sign-in, and by an organization.

import type { Page } from 'playwright-core';
import decodeQR from 'qr/decode.js';
import { afterAll, describe, expect, it } from 'vitest';
import { hasBrowser } from '../harness/clients/browser.ts';
import { startMailServer } from '../harness/servers/mail-server.ts';
import { appCode } from '../harness/services/second-factor.ts';
import { linkInMail } from '../harness/web/link-in-mail.ts';
import { useWebApp } from '../harness/web/use-web-app.ts';
import { type Login, patienceMs } from '../harness/web/web-app.ts';

const timeout = patienceMs;

describe.runIf(hasBrowser)('a second factor', async () => {
  const mails = await startMailServer();
  afterAll(() => mails.close());
  const app = useWebApp(() => ({ SMTP_URL: `smtp://127.0.0.1:${mails.port}` }));
  let secret: string;
  let recoveryCodes: string[];

  /** Of the half minute after this one: this one's may be used. */
  const nextCode = () => appCode(secret, Date.now() + 30_000);

  /** On the page of the account. */
  async function setUp(page: Page, password: string): Promise<{ secret: string; codes: string[] }> {
    await page.getByRole('button', { name: 'Set up a second factor' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Current password').fill(password);
    await dialog.getByRole('button', { name: 'Go on' }).click();
    const shown = await dialog.getByRole('region', { name: 'App secret' }).textContent();
    const shownSecret = shown?.trim() ?? '';
    expect(new URL(await textOfQr(page)).searchParams.get('secret')).toBe(shownSecret);
    await dialog.getByLabel('Code', { exact: true }).fill(appCode(shownSecret, Date.now()));
    await dialog.getByRole('button', { name: 'Turn it on' }).click();
    const codes = await dialog.getByRole('region', { name: 'Recovery codes' }).textContent();
    await dialog.getByRole('button', { name: 'I have kept them' }).click();
    return { secret: shownSecret, codes: codes?.trim().split('\n') ?? [] };
  }

  async function firstStep(page: Page, { email, password }: Login): Promise<void> {
    await page.getByLabel('E-mail').fill(email);
    await page.getByLabel('Password').fill(password);
    await page.getByLabel('Password').press('Enter');
    await page.getByRole('heading', { level: 1, name: 'Second step' }).waitFor();
  }

  it('is set up with a code of the app, which reads the picture', async () => {
    const { page, context, faults } = await app.signedIn('/account');
    await page.getByText('Off: the password').waitFor();
    const made = await setUp(page, app.admin.password);
    ({ secret } = made);
    recoveryCodes = made.codes;
    expect(recoveryCodes).toHaveLength(10);
    await page.getByText('10 recovery codes left').waitFor();
    await expect.poll(() => mails.received.length, { timeout }).toBe(1);
    expect(mails.received[0]?.to).toEqual([app.admin.email]);
    expect(faults).toEqual([]);
    await context.close();
  });

  it('is the second step of a sign-in, and what is wrong is said', async () => {
    const reader = await app.newReader();
    const page = await reader.openTab('/sign-in?to=%2Faccount');
    await firstStep(page, app.admin);
    await page.getByLabel('Code').fill('000000');
    await page.getByLabel('Code').press('Enter');
    await page.getByText('the code is wrong, or was used').waitFor();
    await page.getByLabel('Code').fill(nextCode());
    await page.getByLabel('Code').press('Enter');
    await page.getByRole('heading', { level: 1, name: 'Account' }).waitFor();
    // A reload goes on with the session.
    await page.reload({ waitUntil: 'commit' });
    await page.getByText('10 recovery codes left').waitFor();
    await page.goto(`${app.stack.baseUrl}/sign-in/code`, { waitUntil: 'commit' });
    await page.getByRole('heading', { level: 1, name: 'Sign in again' }).waitFor();
    await reader.context.close();
  });

  it('is asked of members by an organization, which opens once they have one', async () => {
    const { organizationId, projectId } = app.stack;
    const reader = await app.newReader();
    const settings = `/o/${organizationId}/settings`;
    const page = await reader.openTab(`/sign-in?to=${encodeURIComponent(settings)}`);
    await firstStep(page, app.admin);
    await page.getByLabel('Code').fill(recoveryCodes[0] ?? '');
    await page.getByLabel('Code').press('Enter');
    const tabs = page.getByRole('navigation', { name: 'Organization' });
    await tabs.getByRole('button', { name: 'General' }).click();
    await page.getByLabel('Members need a second factor').check();
    await page.getByText('Members need a second factor now').waitFor();
    await tabs.getByRole('button', { name: 'Members' }).click();
    await page.getByRole('columnheader', { name: 'Second factor' }).waitFor();
    const guest = { email: 'guest@example.com', password: 'correct horse battery' };
    await page.getByRole('button', { name: 'Invite' }).click();
    await page.getByLabel('E-mail', { exact: true }).fill(guest.email);
    await page.getByRole('button', { name: 'Send the invitation' }).click();
    const invitation = () => mails.received.find(({ to }) => to.includes(guest.email));
    await expect.poll(invitation, { timeout }).toBeDefined();

    const second = await app.newReader();
    const joining = await second.openTab(linkInMail(invitation(), '/invitation'));
    await joining.getByLabel('E-mail').fill(guest.email);
    await joining.getByLabel('Password').fill(guest.password);
    await joining.getByRole('button', { name: 'Create the account' }).click();
    await joining.getByRole('button', { name: 'Accept the invitation' }).click();
    const asks = joining.getByRole('heading', { name: 'asks for a second factor' });
    await asks.waitFor();
    expect(await joining.locator(`a[href^="/p/${projectId}"]`).count()).toBe(0);
    await joining.getByRole('link', { name: 'Set up a second factor' }).click();
    await setUp(joining, guest.password);
    await joining.goto(`${app.stack.baseUrl}/?all`, { waitUntil: 'commit' });
    await joining.locator(`a[href^="/p/${projectId}"]`).first().click();
    await joining.getByRole('heading', { level: 1, name: 'Overview' }).waitFor();
    expect([...reader.faults, ...second.faults]).toEqual([]);
    await Promise.all([reader.context.close(), second.context.close()]);
  });
});

/** What an app reads from the picture. */
async function textOfQr(page: Page): Promise<string> {
  const picture = page.getByRole('img', { name: 'QR code for the app' });
  const path = picture.locator('path[d^="M"]');
  const drawn = (await path.getAttribute('d')) ?? '';
  const modules = Number((await picture.getAttribute('viewBox'))?.split(' ')[2]);
  const scale = 4;
  const size = modules * scale;
  const data = new Uint8Array(size * size * 4).fill(255);
  for (const [, x, y] of drawn.matchAll(/M(\d+) (\d+)h1v1h-1z/g)) {
    for (let row = 0; row < scale; row++) {
      const start = ((Number(y) * scale + row) * size + Number(x) * scale) * 4;
      for (let at = 0; at < scale * 4; at++) if (at % 4 < 3) data[start + at] = 0;
    }
  }
  return decodeQR({ width: size, height: size, data });
}
