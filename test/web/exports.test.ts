// Kept exports in a real browser: one is asked for by keyboard, another one from a list; files are taken, an export is
// deleted, on a phone too.

import { readFileSync } from 'node:fs';
import type { Page } from 'playwright-core';
import { beforeAll, describe, expect, it } from 'vitest';
import { hasBrowser } from '../harness/clients/browser.ts';
import { call } from '../harness/clients/client.ts';
import { axe } from '../harness/web/accessibility.ts';
import { useWebApp } from '../harness/web/use-web-app.ts';
import type { Reader } from '../harness/web/web-app.ts';

describe.runIf(hasBrowser)('kept exports', () => {
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

  it('are asked for by keyboard, and their files taken', async () => {
    const { page } = visitor;
    await goOn(page, '/settings');
    await page.getByRole('link', { name: 'Exports' }).click();
    await page.getByRole('heading', { name: 'No export yet' }).waitFor();
    expect(await axe(page)).toEqual([]);
    await button(page, 'New export').press('Enter');
    await page.getByLabel('What', { exact: true }).selectOption('Users');
    await page.getByLabel('Format', { exact: true }).selectOption('CSV, for spreadsheets');
    await page.getByRole('checkbox', { name: /^A column for each property/ }).check();
    expect(await axe(page)).toEqual([]);
    await button(page, 'Export').press('Enter');
    const card = page.getByRole('region', { name: 'Users, CSV' });
    await card.getByText('ready', { exact: true }).waitFor();
    await card.getByText('Kept until').waitFor();
    expect(await axe(page)).toEqual([]);
    const downloading = page.waitForEvent('download');
    await button(page, 'Download profiles-0001.csv').click();
    const file = await (await downloading).path();
    expect(readFileSync(file, 'utf8')).toMatch(/^"profile_id","external_id"/);
    expect(visitor.faults).toEqual([]);
  });

  it('are asked for from a list, and deleted, on a phone too', async () => {
    const { page } = visitor;
    await goOn(page, '/events');
    await button(page, 'Export').click();
    await page.getByRole('menuitem', { name: 'Keep for 7 days: Parquet' }).click();
    const card = page.getByRole('region', { name: /^Events, Parquet/ });
    await card.getByText('ready', { exact: true }).waitFor();
    await page.setViewportSize({ width: 360, height: 740 });
    expect(await axe(page)).toEqual([]);
    await button(page, 'Download manifest.json').first().waitFor();
    await button(page, 'Delete its files: Users, CSV').click();
    await page
      .getByRole('region', { name: 'Users, CSV' })
      .getByText('cancelled', { exact: true })
      .waitFor();
    await page.setViewportSize({ width: 1280, height: 800 });
    expect(visitor.faults).toEqual([]);
  });

  it('are of the persons of a segment, which is chosen by keyboard', async () => {
    const { page } = visitor;
    const trait = { property: 'plan', operator: 'FILTER_OPERATOR_EQUALS', value: 'pro' };
    const { baseUrl, projectId } = web.stack;
    const signedIn = await call(baseUrl, '/public.auth.v1.AuthService/SignIn', '', web.admin);
    const authorization = `Bearer ${signedIn.body['accessToken']}`;
    const segment = { displayName: 'Pro people', condition: { groups: [{ tests: [{ trait }] }] } };
    const path = '/dashboard.segments.v1.SegmentsService/Create';
    const headers = { authorization, 'x-project-id': projectId };
    expect((await call(baseUrl, path, '', segment, headers)).status).toBe(200);
    await goOn(page, '/exports');
    await button(page, 'New export').press('Enter');
    const dialog = page.getByRole('dialog', { name: 'New export' });
    await dialog.getByLabel('What', { exact: true }).selectOption('Users');
    await dialog.getByLabel('Format', { exact: true }).selectOption('Arrow');
    await dialog.getByRole('button', { name: 'Segment', exact: true }).press('Enter');
    await page.getByRole('menuitemcheckbox', { name: 'Pro people' }).press('Enter');
    await dialog.getByText('Pro people').waitFor();
    expect(await axe(page)).toEqual([]);
    await dialog.getByRole('button', { name: 'Export', exact: true }).press('Enter');
    const card = page.getByRole('region', { name: 'Users, Arrow, 1 segment' });
    await card.getByText('ready', { exact: true }).waitFor();
    expect(visitor.faults).toEqual([]);
  });

  it('tell what is wrong with what is asked', async () => {
    const { page } = visitor;
    await goOn(page, '/exports');
    await button(page, 'New export').click();
    await page.getByLabel('From', { exact: true }).fill('2026-03-02');
    await page.getByLabel('To', { exact: true }).fill('2026-02-01');
    await button(page, 'Export').click();
    await page.getByRole('alert').getByText('query.timeRange: from must not be after to').waitFor();
    // The browser's word for a refusal.
    expect(visitor.faults.splice(0)).toHaveLength(1);
  });
});
