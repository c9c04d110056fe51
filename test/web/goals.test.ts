// Goals in a real browser: one is made on the overview by keyboard, its figures are those of the events, and it opens
// by source and page.

import type { Page } from 'playwright-core';
import { beforeAll, describe, expect, it } from 'vitest';
import { hasBrowser } from '../harness/clients/browser.ts';
import { batchCreate, newEvent, untilCounted } from '../harness/clients/client.ts';
import { axe } from '../harness/web/accessibility.ts';
import { useWebApp } from '../harness/web/use-web-app.ts';
import type { Reader } from '../harness/web/web-app.ts';

/** Pages leave out what comes from programs. */
const firefox = 'Mozilla/5.0 (X11; Linux x86_64; rv:143.0) Gecko/20100101 Firefox/143.0';

describe.runIf(hasBrowser)('goals', () => {
  const web = useWebApp();
  let visitor: Reader & { page: Page };
  beforeAll(async () => {
    const view = (distinctId: string) => newEvent({ kind: 'page_view', distinctId });
    const amount = { amount: { doubleValue: 12.5 } };
    const bought = { kind: 'order_paid', distinctId: 'ada', customProperties: amount };
    const events = [
      ...['ada', 'bob', 'eve', 'kim'].map(view),
      ...[newEvent(bought), newEvent(bought)],
    ];
    const { status } = await batchCreate(web.stack, events, { headers: { 'user-agent': firefox } });
    expect(status).toBe(200);
    await untilCounted(web.stack);
    visitor = await web.signedIn('/account');
  });

  const open = async (page: Page): Promise<void> => {
    await page.goto(`${web.stack.baseUrl}/p/${web.stack.projectId}`);
    await page.waitForSelector('main h1');
  };
  const button = (page: Page, name: string) => page.getByRole('button', { name, exact: true });
  const card = (page: Page) => page.getByRole('region', { name: 'Goals', exact: true });

  it('are made by keyboard, and counted with rate and revenue', async () => {
    const { page } = visitor;
    await open(page);
    await card(page).getByText('None yet.').waitFor();
    await button(page, 'New goal').press('Enter');
    await page.getByLabel('Name', { exact: true }).fill('Bought');
    await page.getByRole('combobox', { name: 'Event that reaches it' }).fill('order_paid');
    await page.getByRole('combobox', { name: 'Revenue: a property with numbers' }).fill('amount');
    expect(await axe(page)).toEqual([]);
    await button(page, 'Create goal').press('Enter');
    await card(page).getByRole('row', { name: 'Bought 2 1 25% 25 all currencies' }).waitFor();
    expect(await axe(page)).toEqual([]);
    expect(visitor.faults).toEqual([]);
  });

  it('open by source and page, are changed and deleted, on a phone too', async () => {
    const { page } = visitor;
    await page.setViewportSize({ width: 360, height: 740 });
    await open(page);
    await button(page, 'Bought').click();
    const dialog = page.getByRole('dialog', { name: 'Bought' });
    await dialog.getByText('visit reached it').or(dialog.getByText('visits reached it')).waitFor();
    await dialog.getByRole('row', { name: /^No referring site/ }).waitFor();
    expect(await axe(page)).toEqual([]);
    await button(page, 'Change it').click();
    await page.getByLabel('Name', { exact: true }).fill('Paid');
    await button(page, 'Save the goal').click();
    await button(page, 'Paid').click();
    await button(page, 'Delete').click();
    await button(page, 'Delete it for good').click();
    await card(page).getByText('None yet.').waitFor();
    await page.setViewportSize({ width: 1280, height: 800 });
    expect(visitor.faults).toEqual([]);
  });

  it('that cannot be measured say why, and are asked for again', async () => {
    const { page } = visitor;
    const fault = { code: 'invalid_argument', message: 'timeRange: is too long' };
    let isRefused = true;
    await page.route('**/*.GoalsService/Measure', (route) =>
      isRefused ? route.fulfill({ status: 400, json: fault }) : route.continue(),
    );
    await open(page);
    await card(page).getByRole('alert').getByText(fault.message).waitFor();
    isRefused = false;
    await card(page).getByRole('button', { name: 'Ask again' }).click();
    await card(page).getByText('None yet.').waitFor();
  });
});
