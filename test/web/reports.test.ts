// Reports in a real browser: one is made from a board by keyboard, previewed and tried; somebody who is no member says
// yes, and then no, by the link of a mail.

import type { Page } from 'playwright-core';
import { beforeAll, describe, expect, it } from 'vitest';
import { hasBrowser } from '../harness/clients/browser.ts';
import { eventually } from '../harness/clients/client.ts';
import { axe } from '../harness/web/accessibility.ts';
import { mailedLinks } from '../harness/web/mailed-links.ts';
import { useWebApp } from '../harness/web/use-web-app.ts';
import type { Reader } from '../harness/web/web-app.ts';

describe.runIf(hasBrowser)('reports', () => {
  const web = useWebApp();
  let visitor: Reader & { page: Page };
  beforeAll(async () => {
    visitor = await web.signedIn('/account');
  });

  const goOn = async (page: Page, path: string): Promise<void> => {
    await page.goto(`${web.stack.baseUrl}/p/${web.stack.projectId}${path}`);
    await page.waitForSelector('main h1');
  };
  const button = (page: Page, name: string) => page.getByRole('button', { name, exact: true });

  it('are made from a board, by keyboard', async () => {
    const { page } = visitor;
    await goOn(page, '/reports');
    await page.getByRole('heading', { name: 'No report yet' }).waitFor();
    expect(await axe(page)).toEqual([]);
    await goOn(page, '/boards/overview');
    await page.getByRole('link', { name: 'Mail it' }).press('Enter');
    await page.getByLabel('Name', { exact: true }).fill('Every Monday');
    await page.getByLabel('Board', { exact: true }).selectOption({ label: 'Overview' });
    await page.getByLabel('On', { exact: true }).selectOption({ label: 'Monday' });
    await page.getByLabel('At', { exact: true }).selectOption({ label: '07:00' });
    await page.getByRole('checkbox', { name: web.admin.email }).waitFor();
    await page.getByLabel('Addresses of others').fill('eve@elsewhere.example');
    expect(await axe(page)).toEqual([]);
    await button(page, 'Create report').press('Enter');
    await page.getByRole('heading', { level: 1, name: 'Every Monday' }).waitFor();
    await page.getByText('Sent on Mondays at 07:00.').waitFor();
    await page.getByText('has not said yes').waitFor();
    await page.getByText('Nothing was sent yet.').waitFor();
    expect(await axe(page)).toEqual([]);
    expect(visitor.faults).toEqual([]);
  });

  it('show their mail, send a test, and are changed, paused and deleted, on a phone too', async () => {
    const { page } = visitor;
    await page.setViewportSize({ width: 360, height: 740 });
    await goOn(page, '/reports');
    await page.getByRole('row', { name: /^Every Monday Sent on Mondays at 07:00/ }).waitFor();
    await page.getByRole('link', { name: 'Every Monday' }).click();
    await button(page, 'Preview').click();
    const mail = page.getByRole('region', { name: 'The mail' });
    await mail.getByText('Changes are against the week before.').waitFor();
    expect(await axe(page)).toEqual([]);
    await page.keyboard.press('Escape');
    await button(page, 'Send me a test').click();
    await page.getByText('A test is on its way to you.').waitFor();
    await button(page, 'Change').click();
    await page.getByLabel('Addresses of others').fill('no address');
    await button(page, 'Save the report').click();
    await page.getByRole('alert').getByText('recipients.emails[0]').waitFor();
    // The browser's word for a refusal.
    expect(visitor.faults.splice(0)).toHaveLength(1);
    await page.getByLabel('Addresses of others').fill('eve@elsewhere.example');
    await page.getByLabel('How often').selectOption({ label: 'Each day' });
    await button(page, 'Save the report').click();
    await page.getByText('Sent each day at 07:00.').waitFor();
    await button(page, 'Pause').click();
    await button(page, 'Resume').waitFor();
    await page.setViewportSize({ width: 1280, height: 800 });
    expect(visitor.faults).toEqual([]);
  });

  it('are taken and left by the link of a mail, with a click and not by opening it', async () => {
    const token = await eventually(
      async () => mailedLinks(web.stack.dataDir)[0] ?? '',
      (found) => found !== '',
    );
    const reader = await web.newReader();
    const page = await reader.openTab(`/r/${token}`);
    await page.getByRole('heading', { name: 'Do you want this report?' }).waitFor();
    expect(await axe(page)).toEqual([]);
    await page.reload();
    await button(page, 'Yes, mail it').click();
    await page.getByRole('heading', { name: 'You get this report' }).waitFor();
    await button(page, 'Unsubscribe').click();
    await page.getByRole('heading', { name: 'You have unsubscribed' }).waitFor();
    expect(reader.faults).toEqual([]);
    await goOn(visitor.page, '/reports');
    await visitor.page.getByRole('link', { name: 'Every Monday' }).click();
    await visitor.page.getByText('has unsubscribed').waitFor();
    await button(visitor.page, 'Delete').click();
    await button(visitor.page, 'Delete it').click();
    await visitor.page.getByRole('heading', { name: 'No report yet' }).waitFor();
    await page.reload();
    await page.getByRole('heading', { name: 'This link leads nowhere' }).waitFor();
  });
});
