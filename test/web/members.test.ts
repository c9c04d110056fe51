// A member of some projects in a real browser: invited to one, shown no other, and given all later.

import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { hasBrowser } from '../harness/clients/browser.ts';
import { call } from '../harness/clients/client.ts';
import { startMailServer } from '../harness/servers/mail-server.ts';
import { linkInMail } from '../harness/web/link-in-mail.ts';
import { useWebApp } from '../harness/web/use-web-app.ts';
import { patienceMs } from '../harness/web/web-app.ts';

const timeout = patienceMs;

describe.runIf(hasBrowser)('a member of some projects', async () => {
  const mails = await startMailServer();
  afterAll(() => mails.close());
  const app = useWebApp(() => ({ SMTP_URL: `smtp://127.0.0.1:${mails.port}` }));

  beforeAll(async () => {
    const { baseUrl, organizationId: orgId } = app.stack;
    const signedIn = await call(baseUrl, '/public.auth.v1.AuthService/SignIn', '', app.admin);
    const authorization = `Bearer ${signedIn.body['accessToken']}`;
    const create = '/dashboard.projects.v1.ProjectsService/Create';
    const project = { orgId, displayName: 'Second shop' };
    expect(await call(baseUrl, create, '', project, { authorization })).toMatchObject({
      status: 200,
    });
  });

  it('is invited to one, sees no other, and has all once an admin says so', async () => {
    const { organizationId, projectId } = app.stack;
    const { page, context, faults } = await app.signedIn(`/o/${organizationId}/settings`);
    const guest = { email: 'guest@example.com', password: 'correct horse battery' };
    await page.getByRole('button', { name: 'Invite' }).click();
    await page.getByLabel('E-mail', { exact: true }).fill(guest.email);
    await page.getByLabel('All projects').uncheck();
    const send = page.getByRole('button', { name: 'Send the invitation' });
    await expect.poll(() => send.isDisabled()).toBe(true);
    await page.getByLabel('Second shop').check();
    await send.click();
    const invited = page.getByRole('row', { name: guest.email });
    await invited.getByRole('cell', { name: 'Second shop' }).waitFor();
    await expect.poll(() => mails.received.length, { timeout }).toBe(1);

    const second = await app.newReader();
    const joining = await second.openTab(linkInMail(mails.received[0], '/invitation'));
    await joining.getByLabel('E-mail').fill(guest.email);
    await joining.getByLabel('Password').fill(guest.password);
    await joining.getByRole('button', { name: 'Create the account' }).click();
    await joining.getByRole('button', { name: 'Accept the invitation' }).click();
    const other = joining.locator(`a[href^="/p/${projectId}"]`);
    await joining.getByRole('link', { name: 'Second shop' }).first().waitFor();
    expect(await other.count()).toBe(0);
    await joining.goto(`${app.stack.baseUrl}/p/${projectId}`, { waitUntil: 'commit' });
    await joining.getByRole('heading', { level: 1, name: 'No such project' }).waitFor();

    await page.reload({ waitUntil: 'commit' });
    const projectsOfGuest = page.getByRole('button', { name: `Projects of ${guest.email}` });
    await projectsOfGuest.click();
    await page.getByLabel('All projects').check();
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByRole('button', { name: `Projects of ${guest.email}: All` }).waitFor();
    await joining.goto(`${app.stack.baseUrl}/p/${projectId}`, { waitUntil: 'commit' });
    await joining.getByRole('heading', { level: 1, name: 'Overview' }).waitFor();
    expect([...faults, ...second.faults]).toEqual([]);
    await Promise.all([context.close(), second.context.close()]);
  });
});
