// The days that weeks begin on and the currency of a project, in a real browser: both are set by keyboard, and the
// pages follow at once.

import type { Page } from 'playwright-core';
import { beforeAll, describe, expect, it } from 'vitest';
import { hasBrowser } from '../harness/clients/browser.ts';
import {
  batchCreate,
  eventually,
  listActivity,
  newEvent,
  untilCounted,
} from '../harness/clients/client.ts';
import { axe } from '../harness/web/accessibility.ts';
import { useWebApp } from '../harness/web/use-web-app.ts';
import { patienceMs, type Reader } from '../harness/web/web-app.ts';

const timeout = patienceMs;
/** A Saturday and the Sunday after it, of a week that is over. */
const saturday = '2026-10-10';
const sunday = '2026-10-11';

describe.runIf(hasBrowser)('a project’s weeks and currency', () => {
  const app = useWebApp();
  let reader: Reader & { page: Page };

  beforeAll(async () => {
    const paid = (day: string, amount: number, currency: string) =>
      newEvent({
        ...{ kind: 'purchase', distinctId: 'ada', occurTime: `${day}T12:00:00Z` },
        customProperties: {
          amount: { doubleValue: amount },
          currency: { stringValue: currency },
        },
      });
    const sent = [paid(saturday, 1, 'USD'), paid(saturday, 2, 'USD'), paid(sunday, 4, 'EUR')];
    const { status } = await batchCreate(app.stack, sent, { key: app.stack.privateKey });
    expect(status).toBe(200);
    await eventually(
      () => listActivity(app.stack, {}),
      (list) => list.events.length === sent.length,
    );
    await untilCounted(app.stack);
    reader = await app.signedIn('/account');
  });

  const goTo = (page: Page, path: string) =>
    page.goto(`${app.stack.baseUrl}/p/${app.stack.projectId}${path}`);
  const weekly = `/insights/revenue?from=2026-10-05&to=${sunday}&by=week`;

  const table = async (page: Page): Promise<string[]> => {
    const details = page.locator('details.data').last();
    await details.evaluate((one) => one.setAttribute('open', ''));
    return details
      .locator('tr')
      .evaluateAll((rows) =>
        rows.map((row) => [...row.children].map((cell) => cell.textContent).join(' | ')),
      );
  };

  it('are Monday’s and none at first, and what is typed in the settings', async () => {
    const { page } = reader;
    await goTo(page, weekly);
    await expect
      .poll(() => table(page), { timeout })
      .toEqual(['Time | USD | EUR', '5 Oct 2026 | 3 | 4']);
    await goTo(page, '/settings');
    const general = page.locator('section.card', { hasText: 'Weeks begin on' });
    const day = general.getByLabel('Weeks begin on');
    await expect.poll(() => day.inputValue(), { timeout }).toBe('1');
    await day.press('End');
    await expect.poll(() => day.inputValue()).toBe('7');
    await general.getByLabel('Currency').fill('eu');
    await general.getByRole('button', { name: 'Save' }).click();
    await general.getByText('must be three capitals, such as EUR').waitFor();
    // The browser's word for a refusal.
    expect(reader.faults.splice(0)).toHaveLength(1);
    await general.getByLabel('Currency').fill('eur');
    expect(await axe(page)).toEqual([]);
    await general.getByRole('button', { name: 'Save' }).press('Enter');
    await page.getByText('Saved', { exact: true }).waitFor();
    await page.reload();
    await expect.poll(() => general.getByLabel('Currency').inputValue(), { timeout }).toBe('EUR');
  });

  it('are those of weekly buckets, of this and last week, and of reports', async () => {
    const { page } = reader;
    await goTo(page, weekly);
    await expect
      .poll(() => table(page), { timeout })
      .toEqual(['Time | EUR | USD', '4 Oct 2026 | 0 | 3', '11 Oct 2026 | 4 | 0']);
    await page.getByRole('button', { name: /^Time range/ }).click();
    await page.getByRole('menuitemradio', { name: 'Last week' }).click();
    await page.getByRole('button', { name: 'Time range: Last week' }).waitFor();
    await goTo(page, '?range=lastweek');
    await page.getByRole('button', { name: 'Time range: Last week' }).click();
    await page.getByRole('menuitemradio', { name: 'Last month' }).click();
    await page.getByRole('button', { name: 'Time range: Last month' }).waitFor();
    await goTo(page, '/reports');
    await page.getByRole('button', { name: 'New report' }).first().click();
    await page.getByText('About the last week from Sunday to Saturday.').waitFor();
    await expect.poll(() => page.getByLabel('On', { exact: true }).inputValue()).toBe('7');
    expect(reader.faults).toEqual([]);
  });

  it('is the condition that a goal’s form offers, on a phone too', async () => {
    const { page } = reader;
    await page.setViewportSize({ width: 360, height: 740 });
    await goTo(page, '');
    await page.getByRole('button', { name: 'New goal', exact: true }).click();
    // The form stays where the board's answer comes behind it, and is that there are no events.
    await page.getByText('No events in this range').waitFor();
    // Nor does it close where text is marked by the mouse, and the button is let go outside.
    await page.getByLabel('Name', { exact: true }).hover();
    await page.mouse.down();
    await page.mouse.move(180, 4, { steps: 4 });
    await page.mouse.up();
    await page.getByLabel('Name', { exact: true }).fill('Paid');
    await page.getByRole('combobox', { name: 'Event that reaches it' }).fill('purchase');
    await page.getByRole('combobox', { name: 'Revenue: a property with numbers' }).fill('amount');
    await page.getByRole('option', { name: 'amount' }).click();
    const offer = page.getByRole('button', { name: 'Count EUR alone' });
    await offer.waitFor();
    expect(await axe(page)).toEqual([]);
    await offer.click();
    await offer.waitFor({ state: 'detached' });
    await page.getByRole('dialog').getByText('currency').first().waitFor();
    const width = await page.evaluate<number>('document.documentElement.scrollWidth');
    expect(width).toBeLessThanOrEqual(360);
    expect(reader.faults).toEqual([]);
  });
});
