// Alerts in a real browser: one is made by keyboard, looked at by the service, and shows its value, its line and its
// first change; a test says what it sent.

import { fromBinary, toBinary } from '@bufbuild/protobuf';
import { timestampFromMs } from '@bufbuild/protobuf/wkt';
import type { Page } from 'playwright-core';
import { beforeAll, describe, expect, it } from 'vitest';
import { GetResponseSchema } from '../../proto/gen/dashboard/alerts/v1/alerts_pb.js';
import { hasBrowser } from '../harness/clients/browser.ts';
import { axe } from '../harness/web/accessibility.ts';
import { useWebApp } from '../harness/web/use-web-app.ts';
import type { Reader } from '../harness/web/web-app.ts';

describe.runIf(hasBrowser)('alerts', () => {
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

  it('are made by keyboard, and fire with the first complete period', async () => {
    const { page } = visitor;
    await goOn(page, '/alerts');
    await page.getByRole('heading', { name: 'No alert yet' }).waitFor();
    expect(await axe(page)).toEqual([]);
    await button(page, 'New alert').press('Enter');
    await page.getByLabel('Name', { exact: true }).fill('No sign-ups');
    await page.getByRole('combobox', { name: 'Event' }).fill('sign_up');
    await page.getByLabel('Threshold', { exact: true }).fill('1');
    // The next period is over tomorrow: until then there is one value.
    await page.getByLabel('In each').selectOption({ label: 'A day' });
    await page.getByRole('checkbox', { name: web.admin.email }).waitFor();
    expect(await axe(page)).toEqual([]);
    await button(page, 'Create alert').press('Enter');
    await page.getByRole('heading', { level: 1, name: 'No sign-ups' }).waitFor();
    // The page asks again by itself.
    await page.getByText(/^One value so far, of the period from .*: 0\.$/).waitFor();
    const changes = page.getByRole('region', { name: 'Changes: table' });
    await changes.getByRole('row', { name: /firing OK 0 .* yes$/ }).waitFor();
    expect(await axe(page)).toEqual([]);
    expect(visitor.faults).toEqual([]);
  });

  it('draw the values of several periods, and the line', async () => {
    const page = await visitor.context.newPage();
    // The periods of days to come: the service answers, and has looked once.
    await page.route('**/*.AlertsService/Get', async (route) => {
      const answer = fromBinary(GetResponseSchema, await (await route.fetch()).body());
      const [look] = answer.looks;
      const after = [2, 5].map((value, index) => ({
        ...look,
        ...{ $typeName: 'dashboard.alerts.v1.AlertLook' as const, value },
        from: timestampFromMs(Date.UTC(2040, 0, 1 + index)),
      }));
      answer.looks = [...answer.looks, ...after];
      const body = Buffer.from(toBinary(GetResponseSchema, answer));
      await route.fulfill({ contentType: 'application/proto', body });
    });
    await goOn(page, '/alerts');
    await page.getByRole('link', { name: 'No sign-ups' }).press('Enter');
    const chart = page.getByRole('img', { name: /^No sign-ups: values/ });
    // As soon as it is drawn, its lines are there.
    await chart.locator('svg .plot-line').first().waitFor({ state: 'attached' });
    await chart.press('End');
    const figures = page.locator('.tip').getByRole('listitem', { includeHidden: true });
    await expect.poll(() => figures.allTextContents()).toEqual(['Value5', 'Threshold1']);
    expect(await axe(page)).toEqual([]);
    await page.close();
  });

  it('say what a test sent, and are paused, changed and deleted, on a phone too', async () => {
    const { page } = visitor;
    await page.setViewportSize({ width: 360, height: 740 });
    await goOn(page, '/alerts');
    await page.getByRole('row', { name: /^No sign-ups State firing/ }).waitFor();
    await page.getByRole('link', { name: 'No sign-ups' }).click();
    await button(page, 'Send a test').click();
    await page
      .getByText('The value is 0: firing. A mail is on its way to you; a test to 0 webhooks.')
      .waitFor();
    expect(await axe(page)).toEqual([]);
    await button(page, 'Change').click();
    await page.getByLabel('Threshold', { exact: true }).fill('many');
    await button(page, 'Save the alert').click();
    await page.getByRole('alert').getByText('condition.threshold: must be a number').waitFor();
    // The browser's word for a refusal.
    expect(visitor.faults.splice(0)).toHaveLength(1);
    await page.getByLabel('Threshold', { exact: true }).fill('2');
    await button(page, 'Save the alert').click();
    await page.getByText('below 2 in a day').waitFor();
    await button(page, 'Pause').click();
    await button(page, 'Resume').waitFor();
    await button(page, 'Delete').click();
    await button(page, 'Delete it').click();
    await page.getByRole('heading', { name: 'No alert yet' }).waitFor();
    await page.setViewportSize({ width: 1280, height: 800 });
    expect(visitor.faults).toEqual([]);
  });

  it('that are gone say so', async () => {
    const { page } = visitor;
    await goOn(page, '/alerts/00000000-0000-0000-0000-000000000000');
    await page.getByRole('alert').getByText('There is nothing here.').waitFor();
  });
});
