// `npm run shots -- [--url URL] [--data DIR] [--out DIR]`: a screenshot of each page of a running Millrace, light, dark
// and as a phone shows it. Signs in as the demo's admin, whose password lies in the data directory.

import { mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { startBrowser } from '../test/harness/clients/browser.ts';
import { lists, openPages, pagesOf } from './harness/pages/shown-pages.ts';

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
/** Until events that come have been counted for a while. */
const liveMs = 15_000;

const browser = await startBrowser();
try {
  for (const [look, options] of Object.entries(looks)) {
    const folder = join(out, look);
    mkdirSync(folder, { recursive: true });
    const page = await (await browser.newContext(options)).newPage();
    const shoot = async (name: string): Promise<void> => {
      await page.waitForSelector('h1');
      await page.locator('.loading, [aria-busy=true]').first().waitFor({ state: 'detached' });
      await page.waitForTimeout(name === 'live' ? liveMs : settledMs);
      const file = join(folder, `${name}.png`);
      await page.screenshot({ path: file });
      process.stdout.write(`${file}\n`);
    };
    const shootAt = async (name: string, path: string): Promise<void> => {
      await page.goto(url + path);
      await shoot(name);
    };
    for (const [name, path] of Object.entries(openPages)) await shootAt(name, path);
    await page.goto(`${url}/sign-in?to=%2Faccount`);
    await page.getByLabel('E-mail').fill(admin.adminEmail);
    await page.getByLabel('Password').fill(admin.adminPassword);
    await page.keyboard.press('Enter');
    await page.waitForURL('**/account');
    for (const [name, path] of Object.entries(pages)) {
      await shootAt(name, path);
      const row = page.locator('main .table-row').first();
      if (!lists.includes(name) || !(await row.isVisible())) continue;
      await row.click();
      await shoot(`${name}-one`);
    }
    await page.context().close();
  }
} finally {
  await browser.close();
}
