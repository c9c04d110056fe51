// `npm run shots -- [--url URL] [--data DIR] [--out DIR]`: a screenshot of each page of a running Millrace, light, dark
// and as a phone shows it. Signs in as the demo's admin, whose password lies in the data directory.

import { mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import type { Page } from 'playwright-core';
import { startBrowser } from '../test/harness/clients/browser.ts';
import { lists, openings, openPages, pagesOf } from './harness/pages/shown-pages.ts';

const { values } = parseArgs({
  options: {
    url: { type: 'string', default: 'http://127.0.0.1:8080' },
    data: { type: 'string', default: 'data' },
    out: { type: 'string', default: 'shots' },
  },
});
const { url, data, out } = values;
const demo = JSON.parse(readFileSync(join(data, 'demo.json'), 'utf8'));
const admin = JSON.parse(readFileSync(join(data, 'demo-admin.json'), 'utf8'));

const pages = pagesOf(demo);

const looks = {
  light: { viewport: { width: 1280, height: 860 }, colorScheme: 'light' },
  dark: { viewport: { width: 1280, height: 860 }, colorScheme: 'dark' },
  phone: { viewport: { width: 360, height: 780 }, colorScheme: 'light' },
} as const;

/** A page that waits for nothing any more; live pages never end their stream, so that an idle network says nothing. */
const settledMs = 1_000;
/** What stands over a page. */
const overlay = 'dialog[open], .menu-list, .sidebar[data-open=true]';
/** A list of suggestions takes the first of these keys, its dialog the second. */
const maxEscapes = 3;

const browser = await startBrowser();
try {
  for (const [look, options] of Object.entries(looks)) {
    const folder = join(out, look);
    mkdirSync(folder, { recursive: true });
    const page = await (await browser.newContext(options)).newPage();
    for (const [name, path] of Object.entries(openPages)) await shootAt(page, folder, name, path);
    await signIn(page);
    for (const [name, path] of Object.entries(pages)) await shootWhole(page, folder, name, path);
    await page.context().close();
  }
} finally {
  await browser.close();
}

async function signIn(page: Page): Promise<void> {
  await page.goto(`${url}/sign-in?to=%2Faccount`);
  await page.getByLabel('E-mail').fill(admin.adminEmail);
  await page.getByLabel('Password').fill(admin.adminPassword);
  await page.keyboard.press('Enter');
  await page.waitForURL('**/account');
}

/** The page, what opens over it, and the first row of a list. */
async function shootWhole(page: Page, folder: string, name: string, path: string): Promise<void> {
  await shootAt(page, folder, name, path);
  for (const [opened, button] of Object.entries(openings[name] ?? {})) {
    const opener = page.getByRole('button', { name: button, exact: true }).first();
    if (!(await opener.isVisible())) continue;
    await opener.click();
    await shoot(page, folder, `${name}-${opened}`);
    await closeAll(page);
  }
  const row = page.locator('main .table-row, main tbody th[scope=row] a').first();
  if (!lists.includes(name) || !(await row.isVisible())) return;
  await row.click();
  await shoot(page, folder, `${name}-one`);
}

async function shootAt(page: Page, folder: string, name: string, path: string): Promise<void> {
  await page.goto(url + path);
  await shoot(page, folder, name);
}

async function shoot(page: Page, folder: string, name: string): Promise<void> {
  await page.waitForSelector('h1');
  await page.locator('.loading, [aria-busy=true]').first().waitFor({ state: 'detached' });
  if (name === 'live') await untilCalm(page);
  await page.waitForTimeout(settledMs);
  const file = join(folder, `${name}.png`);
  await page.screenshot({ path: file });
  process.stdout.write(`${file}\n`);
}

/** Of a page whose events are all counted: on a busy machine its rows say for a while that they arrive. */
async function untilCalm(page: Page): Promise<void> {
  await page.locator('.lag', { hasText: 'Up to date' }).waitFor();
  await page.locator('tr[data-stage=arriving]').first().waitFor({ state: 'detached' });
}

async function closeAll(page: Page): Promise<void> {
  for (let presses = 0; presses < maxEscapes; presses++) {
    if ((await page.locator(overlay).count()) === 0) return;
    await page.keyboard.press('Escape');
  }
}
