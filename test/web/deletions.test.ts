// What somebody does to delete a project, then its organization, then their account: by keyboard, with each name typed
// first, in a real browser on the whole product.

import { randomUUID } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { hasBrowser } from '../harness/clients/browser.ts';
import { axe } from '../harness/web/accessibility.ts';
import { useWebApp } from '../harness/web/use-web-app.ts';
import { type Login, patienceMs } from '../harness/web/web-app.ts';

const timeout = patienceMs;
/** A deletion waits for what was let in, and for the engine's mutations. */
const deletionMs = 180_000;

describe.runIf(hasBrowser)('in the browser', () => {
  const app = useWebApp();

  async function call(method: string, message: object, token = '') {
    const response = await fetch(`${app.stack.baseUrl}/${method}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: `Bearer ${token}` },
      body: JSON.stringify(message),
    });
    const body: Record<string, unknown> = JSON.parse(await response.text());
    expect([response.status, body]).toEqual([200, expect.anything()]);
    return body;
  }

  /** A new account with a project of its own and another one, `Shop`. */
  async function shopkeeper(): Promise<{ login: Login; orgId: string; shopId: string }> {
    const login = { email: `${randomUUID()}@example.com`, password: randomUUID() };
    const signed = await call('public.auth.v1.AuthService/SignUp', login);
    const token = String(signed['accessToken']);
    const { orgs } = await call('dashboard.orgs.v1.OrgsService/List', {}, token);
    const [{ id: orgId = '' } = {}] = orgs as { id?: string }[];
    await call('dashboard.orgs.v1.OrgsService/Update', { orgId, displayName: 'Market' }, token);
    const made = { orgId, displayName: 'Shop' };
    const { project } = await call('dashboard.projects.v1.ProjectsService/Create', made, token);
    return { login, orgId, shopId: String((project as { id: string }).id) };
  }

  it('a project, an organization and an account are deleted by their names', {
    timeout: 600_000,
  }, async () => {
    const { login, orgId, shopId } = await shopkeeper();
    const { page, context, faults } = await app.signedIn(`/p/${shopId}/settings`, login);
    const dialog = page.getByRole('dialog');
    const forGood = dialog.getByRole('button', { name: 'Delete it for good' });

    await page.getByRole('button', { name: 'Delete Shop' }).press('Enter');
    const name = dialog.getByLabel('Type Shop to confirm');
    await name.fill('shop');
    expect(await forGood.isDisabled()).toBe(true);
    expect(await axe(page)).toEqual([]);
    await name.fill('Shop');
    await name.press('Enter');
    await page.waitForURL((url) => url.pathname === `/o/${orgId}/settings`);
    const table = page.getByRole('region', { name: 'Deleted projects: table' });
    await table.getByText('Deleted, with 0 events').waitFor({ timeout: deletionMs });
    await table.getByText(shopId).waitFor();
    expect(await axe(page)).toEqual([]);

    await page.getByRole('button', { name: 'Delete Market' }).press('Enter');
    await dialog.getByText('My first project').waitFor();
    const market = dialog.getByLabel('Type Market to confirm');
    await market.fill('Market');
    await market.press('Enter');
    await page.waitForURL((url) => url.pathname === '/');
    expect(faults).toEqual([]);

    await page.goto(`${app.stack.baseUrl}/account`, { waitUntil: 'commit' });
    await page.getByRole('button', { name: 'Delete my account' }).press('Enter');
    const address = dialog.getByLabel('Type your address to confirm');
    await dialog.getByLabel('Password').fill('not this one');
    await address.fill(login.email);
    await forGood.press('Enter');
    await dialog.getByText('is not the present password').waitFor();
    // The browser's word for a refusal.
    expect(faults.splice(0)).toHaveLength(1);
    expect(await axe(page)).toEqual([]);
    await dialog.getByLabel('Password').fill(login.password);
    await address.press('Enter');
    await page.waitForURL((url) => url.pathname === '/sign-in');
    await page.getByLabel('E-mail').fill(login.email);
    await page.getByLabel('Password').fill(login.password);
    await page.getByLabel('Password').press('Enter');
    await expect.poll(() => page.getByRole('alert').allTextContents(), { timeout }).not.toEqual([]);
    expect(new URL(page.url()).pathname).toBe('/sign-in');
    await context.close();
  });
});
