// Exports to a bucket in a real browser: one is set up by keyboard, told why a key does not work, paused, resumed and
// deleted; and the whole product writes a period that is over.

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
  const card = () => visitor.page.getByRole('region', { name: 'To the lake', exact: true });

  it('are set up by keyboard, once the bucket was tried', async () => {
    const { page } = visitor;
    await page.goto(`${web.stack.baseUrl}/p/${web.stack.projectId}/exports`);
    await page.getByText('Nothing is written to a bucket.').waitFor();
    expect(await axe(page)).toEqual([]);
    await button('New schedule').press('Enter');
    await field('Name').fill('To the lake');
    await field('Kinds').fill('page_view, purchase');
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
    await card().getByText('Every hour: Events, Parquet, page_view, purchase').waitFor();
    await card().getByText('Nothing was written yet').waitFor();
    expect(await axe(page)).toEqual([]);
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
    const fromMs = Math.floor((Date.now() - 2 * hourMs) / hourMs) * hourMs;
    const path = '/dashboard.exports.v1.ExportSchedulesService/Create';
    const schedule = {
      ...{ displayName: 'To the lake', cadence: 'EXPORT_CADENCE_HOURLY' },
      query: { what: 'EXPORT_WHAT_EVENTS', format: 'EXPORT_FORMAT_NDJSON' },
      bucket: {
        ...{ endpoint: server.url, region: s3Region, bucket: 'bucket', pathStyle: true },
        accessKeyId: s3Key.accessKeyId,
      },
      secretAccessKey: s3Key.secret,
      startTime: new Date(fromMs).toISOString(),
    };
    const headers = { authorization, 'x-project-id': projectId };
    expect((await call(baseUrl, path, '', schedule, headers)).status).toBe(200);
    const day = new Date(fromMs).toISOString();
    const folder = `${projectId}/events/day=${day.slice(0, 10)}/hour=${day.slice(11, 13)}`;
    await expect
      .poll(() => server.files.has(`${folder}/_manifest.json`), { timeout: 120_000 })
      .toBe(true);
    const { rows, from } = JSON.parse(String(server.files.get(`${folder}/_manifest.json`)?.data));
    expect({ rows, from }).toEqual({ rows: 0, from: day });
    await page.goto(`${baseUrl}/p/${projectId}/exports`);
    await card().getByText('active', { exact: true }).waitFor();
    expect(visitor.faults).toEqual([]);
  });
});
