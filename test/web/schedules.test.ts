// Exports to a bucket in a real browser: one is set up by keyboard with a filter and its first period, told why a key
// does not work, paused, resumed and deleted; the whole product writes a period that is over, and again where somebody
// asks for it.

import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { hasBrowser } from '../harness/clients/browser.ts';
import { call } from '../harness/clients/client.ts';
import { type S3Server, s3Key, s3Region, startS3Server } from '../harness/exports/s3-server.ts';
import { axe } from '../harness/web/accessibility.ts';
import { useWebApp } from '../harness/web/use-web-app.ts';
import type { Reader } from '../harness/web/web-app.ts';

const hourMs = 3_600_000;

describe.runIf(hasBrowser)('exports to a bucket', () => {
  const web = useWebApp(() => ({ MILLRACE_WEBHOOK_ALLOW: '127.0.0.0/8' }));
  let server: S3Server;
  let visitor: Reader & { page: Page };
  beforeAll(async () => {
    server = await startS3Server('bucket');
    visitor = await web.signedIn('/account');
  });
  afterAll(() => server.close());

  const button = (name: string) => visitor.page.getByRole('button', { name, exact: true });
  const field = (name: string) => visitor.page.getByLabel(name, { exact: true });
  /** The beginning of an hour that is over. */
  const fromMs = Math.floor((Date.now() - 2 * hourMs) / hourMs) * hourMs;
  const from = new Date(fromMs).toISOString();
  const manifestBelow = (prefix: string): string =>
    `${prefix}${web.stack.projectId}/events/day=${from.slice(0, 10)}/hour=${from.slice(11, 13)}/_manifest.json`;
  const manifestIs = (name: string) =>
    expect.poll(() => server.files.has(name), { timeout: 120_000 }).toBe(true);
  const card = () => visitor.page.getByRole('region', { name: 'To the lake', exact: true });

  it('are set up by keyboard, once the bucket was tried', async () => {
    const { page } = visitor;
    await page.goto(`${web.stack.baseUrl}/p/${web.stack.projectId}/exports`);
    await page.getByText('Nothing is written to a bucket.').waitFor();
    expect(await axe(page)).toEqual([]);
    await button('New schedule').press('Enter');
    await field('Name').fill('To the lake');
    await field('Begin with').fill(from.slice(0, 16));
    await field('Events').fill('page_view, purchase');
    await button('Filter').press('Enter');
    await page.getByRole('combobox', { name: 'Property' }).fill('plan');
    await page.getByRole('combobox', { name: 'Value' }).fill('pro');
    await button('Apply').press('Enter');
    await button('plan is pro').waitFor();
    await field('Endpoint').fill(server.url);
    await field('Region').fill(s3Region);
    await field('Bucket').fill('bucket');
    await field('Prefix').fill('in');
    await page.getByRole('checkbox', { name: /^The bucket stands in the path/ }).check();
    await field('Access key id').fill(s3Key.accessKeyId);
    await field('Secret access key').fill('wrong');
    expect(await axe(page)).toEqual([]);
    await button('Try the bucket and begin').press('Enter');
    await page
      .getByRole('alert')
      .getByText('the secret access key is not the one of the access key id')
      .waitFor();
    // The browser's word for a refusal.
    expect(visitor.faults.splice(0)).toHaveLength(1);
    await field('Secret access key').fill(s3Key.secret);
    await button('Try the bucket and begin').press('Enter');
    await card().getByText('active', { exact: true }).waitFor();
    await card().getByText('Every hour: Events, Parquet, Page view, Purchase, 1 filter').waitFor();
    expect(await axe(page)).toEqual([]);
    const manifest = manifestBelow('in/');
    await manifestIs(manifest);
    const asked = JSON.parse(String(server.files.get(manifest)?.data));
    expect(asked).toMatchObject({
      ...{ from, kinds: ['page_view', 'purchase'] },
      filters: [{ property: 'plan', operator: 'FILTER_OPERATOR_EQUALS', value: 'pro' }],
    });
    expect(visitor.faults).toEqual([]);
  });

  it('are paused, resumed and deleted, on a phone too', async () => {
    const { page } = visitor;
    await page.setViewportSize({ width: 360, height: 740 });
    await button('Pause: To the lake').press('Enter');
    await card().getByText('paused', { exact: true }).waitFor();
    expect(await axe(page)).toEqual([]);
    await button('Resume: To the lake').press('Enter');
    await card().getByText('active', { exact: true }).waitFor();
    await button('Delete: To the lake').press('Enter');
    await button('Delete').press('Enter');
    await page.getByText('Nothing is written to a bucket.').waitFor();
    await page.setViewportSize({ width: 1280, height: 800 });
    expect(visitor.faults).toEqual([]);
  });

  it('of hours that are over are written by the service, and the page tells it', async () => {
    const { page } = visitor;
    const { baseUrl, projectId } = web.stack;
    const signedIn = await call(baseUrl, '/public.auth.v1.AuthService/SignIn', '', web.admin);
    const authorization = `Bearer ${signedIn.body['accessToken']}`;
    const path = '/dashboard.exports.v1.ExportSchedulesService/Create';
    const schedule = {
      ...{ displayName: 'To the lake', cadence: 'EXPORT_CADENCE_HOURLY' },
      query: { what: 'EXPORT_WHAT_EVENTS', format: 'EXPORT_FORMAT_NDJSON' },
      bucket: {
        ...{ endpoint: server.url, region: s3Region, bucket: 'bucket', pathStyle: true },
        accessKeyId: s3Key.accessKeyId,
      },
      secretAccessKey: s3Key.secret,
      startTime: from,
    };
    const headers = { authorization, 'x-project-id': projectId };
    expect((await call(baseUrl, path, '', schedule, headers)).status).toBe(200);
    const manifest = manifestBelow('');
    await manifestIs(manifest);
    const told = JSON.parse(String(server.files.get(manifest)?.data));
    expect(told).toMatchObject({ from, rows: 0 });
    await page.goto(`${baseUrl}/p/${projectId}/exports`);
    await card().getByText('active', { exact: true }).waitFor();
    server.files.delete(manifest);
    await button('Run from: To the lake').press('Enter');
    await expect.poll(() => button('Write them again').isDisabled()).toBe(true);
    await field('From').fill(from.slice(0, 16));
    expect(await axe(page)).toEqual([]);
    await button('Write them again').press('Enter');
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    await manifestIs(manifest);
    expect(visitor.faults).toEqual([]);
  });
});
