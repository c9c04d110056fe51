// The page "Import" in a real browser: a file is chosen, uploaded, read, imported while one looks, and canceled; by
// keyboard and on a phone; and what fails says why.

import { gzipSync } from 'node:zlib';
import type { Page } from 'playwright-core';
import { beforeAll, describe, expect, it } from 'vitest';
import { hasBrowser } from '../harness/clients/browser.ts';
import { eventually, rows } from '../harness/clients/client.ts';
import { axe } from '../harness/web/accessibility.ts';
import { useWebApp } from '../harness/web/use-web-app.ts';
import type { Reader } from '../harness/web/web-app.ts';

const count = 5_000;
/** Of a file whose import is canceled: it must still be under way when somebody has looked at it. */
const longCount = 40_000;
const line = (first: number, n: number): string =>
  JSON.stringify({
    ...{ uuid: `0195612a-7c10-7a31-9c55-${String(first + n).padStart(12, '0')}`, event: 'brought' },
    ...{ distinct_id: `person-${n % 50}`, timestamp: `2024-0${1 + (n % 2)}-03T00:00:00Z` },
    properties: {},
  });
const fileOf = (name: string, first: number, events: number, last = '') => {
  const lines = Array.from({ length: events }, (_, n) => line(first, n));
  const buffer = gzipSync([...lines, last].join('\n'));
  return { name, mimeType: 'application/gzip', buffer };
};

describe.runIf(hasBrowser)('the page of imports', () => {
  // An import takes twenty seconds, however fast the machine is: its progress can be seen, on a busy one too.
  const slow = { MILLRACE_EVENTS_PER_SECOND: '200', MILLRACE_EVENTS_BURST: '1000' };
  const web = useWebApp(() => slow);
  let admin: Reader & { page: Page };
  beforeAll(async () => {
    admin = await web.signedIn('/account');
  });

  const button = (page: Page, name: string) => page.getByRole('button', { name, exact: true });
  const stored = async (): Promise<number> => {
    const sql = "SELECT count() AS events FROM events WHERE kind = 'brought'";
    const [row] = await rows<{ events: number }>(web.stack.clickhouseUrl, sql);
    return row?.events ?? 0;
  };
  const card = (page: Page) => page.getByRole('region', { name: 'Under way' });

  it('a file is chosen, read, looked at and imported, by keyboard', async () => {
    const { page } = admin;
    await page.goto(`${web.stack.baseUrl}/p/${web.stack.projectId}/settings`);
    await page.getByRole('link', { name: 'Import history' }).press('Enter');
    await page.getByText('No import has ended yet.').waitFor();
    await expect.poll(() => button(page, 'Upload and read it').isDisabled()).toBe(true);
    await page
      .getByLabel('File', { exact: true })
      .setInputFiles(fileOf('one.jsonl.gz', 0, count, '{"uu'));
    expect(await axe(page)).toEqual([]);
    await button(page, 'Upload and read it').press('Enter');
    await button(page, 'Import 5,000 events').waitFor();
    await card(page).getByText('exported by PostHog').waitFor();
    await card(page).getByText('5,001 rows, 5,000 events of 50 users.').waitFor();
    await card(page).getByRole('row', { name: 'brought 5,000 2,500 2,500' }).waitFor();
    const refusal = 'no JSON: the line is damaged left out 1 one.jsonl.gz:5001';
    await card(page).getByRole('row', { name: refusal }).waitFor();
    expect(await axe(page)).toEqual([]);
    expect(await stored()).toBe(0);
    await button(page, 'Import 5,000 events').press('Enter');
    await card(page).getByRole('progressbar', { name: 'Importing' }).waitFor();
    await card(page)
      .getByText(/events, [\d,]+ a second, .+ left/)
      .waitFor();
    expect(await axe(page)).toEqual([]);
    const ended = page.locator('summary', { hasText: 'one.jsonl.gz' });
    await ended.getByText('imported', { exact: true }).waitFor();
    await ended.press('Enter');
    await page.getByText(/^5,000 events sent, 0 events stored before/).waitFor();
    expect(await eventually(stored, (events) => events >= count)).toBe(count);
    expect(await axe(page)).toEqual([]);
    expect(admin.faults).toEqual([]);
  });

  it('on a phone, in dark colours, an import is canceled, and its file is gone', async () => {
    const { page } = admin;
    await page.setViewportSize({ width: 390, height: 844 });
    await page.emulateMedia({ colorScheme: 'dark' });
    await page.goto(`${web.stack.baseUrl}/p/${web.stack.projectId}/settings/import`);
    const file = fileOf('two.jsonl.gz', count, longCount);
    await page.getByLabel('File', { exact: true }).setInputFiles(file);
    await page.getByLabel('Exported by').selectOption('PostHog');
    await button(page, 'Upload and read it').click();
    await button(page, 'Import 40,000 events').click();
    await card(page).getByRole('progressbar', { name: 'Importing' }).waitFor();
    expect(await axe(page, 'colours')).toEqual([]);
    await button(page, 'Cancel the import').click();
    const ended = page.locator('summary', { hasText: 'two.jsonl.gz' });
    await ended.getByText('canceled', { exact: true }).waitFor();
    await page.getByLabel('File', { exact: true }).waitFor();
    await page.setViewportSize({ width: 1280, height: 800 });
    await page.emulateMedia({ colorScheme: 'light' });
    expect(admin.faults).toEqual([]);
  });

  it('a file of nobody’s format fails with a sentence, and one that was not sent to its end waits for it', async () => {
    const { page } = admin;
    // A tab that is closed while it sends: here before its first part.
    let isClosed = false;
    await page.route('**/*.ImportsService/Upload', (route) =>
      isClosed ? route.abort() : route.continue(),
    );
    await page.goto(`${web.stack.baseUrl}/p/${web.stack.projectId}/settings/import`);
    const note = { name: 'note.txt', mimeType: 'text/plain', buffer: Buffer.from('hello\n') };
    await page.getByLabel('File', { exact: true }).setInputFiles(note);
    await button(page, 'Upload and read it').click();
    const ended = page.locator('summary', { hasText: 'note.txt' });
    await ended.getByText('failed', { exact: true }).waitFor();
    await ended.click();
    await page.getByText('note.txt is in no format that is known here').waitFor();
    isClosed = true;
    const file = { ...note, name: 'rest.txt' };
    await page.getByLabel('File', { exact: true }).setInputFiles(file);
    await button(page, 'Upload and read it').click();
    await card(page).getByText('0 B of 6 B are there. Keep this tab open.').waitFor();
    isClosed = false;
    await page.reload();
    await card(page)
      .getByText('0 B of 6 B are there, and this tab does not send the rest.')
      .waitFor();
    expect(await axe(page)).toEqual([]);
    await page.getByLabel('Choose the same file to go on').setInputFiles(file);
    await page
      .locator('summary', { hasText: 'rest.txt' })
      .getByText('failed', { exact: true })
      .waitFor();
    admin.faults.splice(0);
  });

  it('what cannot be listed says why, and is asked for again', async () => {
    const { page } = admin;
    const fault = { code: 'internal', message: 'the disk does not answer' };
    let isBroken = true;
    await page.route('**/*.ImportsService/List', (route) =>
      isBroken ? route.fulfill({ status: 500, json: fault }) : route.continue(),
    );
    await page.goto(`${web.stack.baseUrl}/p/${web.stack.projectId}/settings/import`);
    await page.getByRole('alert').getByText(fault.message).waitFor();
    isBroken = false;
    await page.getByRole('button', { name: 'Ask again' }).click();
    await page.getByLabel('File', { exact: true }).waitFor();
  });
});
