// What people do with people in a real browser: invitations, keys, merged profiles.

import { afterAll, describe, expect, it } from 'vitest';
import { hasBrowser } from '../harness/clients/browser.ts';
import { batchCreate, newEvent } from '../harness/clients/client.ts';
import { identify, profileOf } from '../harness/clients/profile-client.ts';
import { startMailServer } from '../harness/servers/mail-server.ts';
import { linkInMail } from '../harness/web/link-in-mail.ts';
import { useWebApp } from '../harness/web/use-web-app.ts';
import { patienceMs } from '../harness/web/web-app.ts';

const timeout = patienceMs;

describe.runIf(hasBrowser)('in the browser', async () => {
  const mails = await startMailServer();
  afterAll(() => mails.close());
  const app = useWebApp(() => ({ SMTP_URL: `smtp://127.0.0.1:${mails.port}` }));

  it('an invitation reaches a second person, who accepts it', async () => {
    const { organizationId, projectId } = app.stack;
    const { page, context, faults } = await app.signedIn(`/o/${organizationId}/settings`);
    const guest = { email: 'guest@example.com', password: 'correct horse battery' };
    await page.getByRole('button', { name: 'Invite' }).click();
    await page.getByLabel('E-mail', { exact: true }).fill(guest.email);
    await page.getByRole('button', { name: 'Send the invitation' }).click();
    await page.getByRole('cell', { name: guest.email, exact: true }).waitFor();
    await expect.poll(() => mails.received.length, { timeout }).toBe(1);
    const [mail] = mails.received;
    expect(mail?.to).toEqual([guest.email]);
    const second = await app.newReader();
    const joining = await second.openTab(linkInMail(mail, '/invitation'));
    await joining.getByLabel('E-mail').fill(guest.email);
    await joining.getByLabel('Password').fill(guest.password);
    await joining.getByRole('button', { name: 'Create the account' }).click();
    await joining.getByRole('button', { name: 'Accept the invitation' }).click();
    await joining.locator(`a[href^="/p/${projectId}"]`).first().click();
    await joining.waitForURL(`**/p/${projectId}**`);
    await page.reload({ waitUntil: 'commit' });
    await page.getByRole('combobox', { name: `Role of ${guest.email}` }).waitFor();
    expect([...faults, ...second.faults]).toEqual([]);
    await Promise.all([context.close(), second.context.close()]);
  });

  it('a key is made and works, and once revoked it does not', async () => {
    const { page, context, faults } = await app.signedIn(`/p/${app.stack.projectId}/settings`);
    await page.getByRole('button', { name: 'New key' }).click();
    await page.getByLabel('Name', { exact: true }).last().fill('To be revoked');
    await page.getByRole('button', { name: 'Create key' }).click();
    const shown = await page.getByRole('region', { name: 'Secret' }).textContent();
    const key = shown?.trim() ?? '';
    await page.getByRole('button', { name: 'I have copied it' }).click();
    const send = async (): Promise<number> =>
      (await batchCreate(app.stack, [newEvent()], { key })).status;
    await expect.poll(send, { timeout }).toBe(200);
    const row = page.getByRole('row', { name: 'To be revoked' });
    await row.getByRole('button', { name: 'Revoke' }).click();
    await page.getByRole('button', { name: 'Revoke it' }).click();
    await row.waitFor({ state: 'detached' });
    await expect.poll(send, { timeout }).toBe(401);
    expect(faults).toEqual([]);
    await context.close();
  });

  it('traits are columns of the list where the address says so', async () => {
    await identify(app.stack, { externalId: 'grace', traits: { plan: 'pro', 'a,b': [1, 2] } });
    const { page, context, faults } = await app.signedIn(`/p/${app.stack.projectId}/profiles`);
    for (const name of ['plan', 'a,b']) {
      await page.getByRole('button', { name: 'Columns' }).click();
      await page.getByRole('menuitemcheckbox', { name }).click();
    }
    await page.reload({ waitUntil: 'commit' });
    await page.locator('.table-row', { hasText: 'grace' }).getByText('pro').waitFor();
    await page.locator('.table-row', { hasText: 'grace' }).getByText('[1,2]').waitFor();
    expect(faults).toEqual([]);
    await context.close();
  });

  it('a person who is not found is told from one who could not be looked for', async () => {
    const { page, context } = await app.signedIn(`/p/${app.stack.projectId}/profiles`);
    let fails = false;
    // Before the page asks anything: a browser takes an interception up some time after it was asked for.
    await page.route('**/GetByExternalId', (route) => {
      const json = { code: 'internal', message: 'not now' };
      return fails ? route.fulfill({ status: 500, json }) : route.continue();
    });
    const find = page.getByLabel('Find a user by id');
    await find.fill('nobody');
    await find.press('Enter');
    await page.getByText('Nobody has the id nobody').waitFor();
    fails = true;
    await find.press('Enter');
    await page.getByText('Not now', { exact: true }).waitFor();
    await context.close();
  });

  it('a merge is undone', async () => {
    const { projectId } = app.stack;
    const [externalId, anonymousId] = ['ada', 'anon-of-ada'];
    await batchCreate(app.stack, [newEvent({ distinctId: anonymousId })]);
    await identify(app.stack, { externalId, anonymousId });
    const find = () => profileOf(app.stack, externalId);
    await expect.poll(async () => (await find())?.activity.totalEvents, { timeout }).toBe('1');
    const { page, context, faults } = await app.signedIn(
      `/p/${projectId}/profiles/${(await find())?.id}`,
    );
    await page.getByRole('button', { name: `Undo the merge of ${anonymousId}` }).click();
    await page.getByRole('button', { name: 'Undo it' }).click();
    await expect
      .poll(async () => (await find())?.activity.totalEvents ?? '0', { timeout })
      .toBe('0');
    await page.reload({ waitUntil: 'commit' });
    await page.getByRole('heading', { level: 1, name: externalId }).waitFor();
    expect(await page.getByText('Merged ids').count()).toBe(0);
    expect(faults).toEqual([]);
    await context.close();
  });
});
