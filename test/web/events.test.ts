// Setup, the live view and the explorer in a real browser: the first event while one looks, a refused one with its
// rule, and every value with its type.

import { readFileSync } from 'node:fs';
import type { Page } from 'playwright-core';
import { beforeAll, describe, expect, it } from 'vitest';
import { hasBrowser } from '../harness/clients/browser.ts';
import { batchCreate, eventually, listActivity, newEvent } from '../harness/clients/client.ts';
import { axe } from '../harness/web/accessibility.ts';
import { useWebApp } from '../harness/web/use-web-app.ts';
import type { Reader } from '../harness/web/web-app.ts';

describe.runIf(hasBrowser)('the pages of events', () => {
  const web = useWebApp();
  let visitor: Reader & { page: Page };
  beforeAll(async () => {
    visitor = await web.signedIn('/account');
  });

  async function go(path: string): Promise<void> {
    await visitor.page.goto(`${web.stack.baseUrl}/p/${web.stack.projectId}${path}`);
    await visitor.page.waitForSelector('main h1');
  }

  it('setup shows a refused request with its rule, then ticks itself at the first event', async () => {
    const { page } = visitor;
    await go('/setup');
    await page.waitForSelector(`code:text("${web.stack.publicKey}")`);
    expect(await page.textContent('.setup .code pre')).toBe(
      `<script defer src="${web.stack.baseUrl}/millrace.js" data-key="${web.stack.publicKey}"></script>`,
    );
    await page.waitForSelector('.setup-checklist li[data-state=waiting] >> text=An event stored');
    // The stream must be open before the request comes: the badge says so.
    await page.waitForSelector('.lag[data-state=live]');
    await batchCreate(web.stack, [newEvent({ kind: 'two words' })]);
    await page.waitForSelector('.setup-refusals >> text=kind_pattern');
    await page.waitForSelector('.setup-checklist li[data-state=bad]');
    expect(await axe(page)).toEqual([]);
    await page.click('text=Send a test event from this page');
    await page.waitForSelector('text=the key and the service are right');
    await page.waitForSelector('.setup-checklist li[data-state=done] >> text=An event stored');
    await page.waitForSelector('text=Watch events live');
  });

  it('the live view has one row for an event, whatever becomes of it', async () => {
    const { page } = visitor;
    await go('/live');
    await page.waitForSelector('.lag[data-state=live]');
    const event = newEvent({ kind: 'seen_live', distinctId: 'ada' });
    await batchCreate(web.stack, [event]);
    await page.waitForSelector('tr[data-stage=stored] >> text=Seen live');
    await batchCreate(web.stack, [event]);
    await page.waitForSelector('tr[data-stage=duplicate] >> text=Seen live');
    expect(await page.locator('tr', { hasText: 'Seen live' }).count()).toBe(1);
    await batchCreate(web.stack, [newEvent({ kind: 'not live', distinctId: 'eve' })]);
    await page.waitForSelector('tr[data-stage=refused] >> text=kind_pattern');
    expect(await axe(page)).toEqual([]);
    await page.keyboard.press('Space');
    await batchCreate(web.stack, [newEvent({ kind: 'while_paused' })]);
    await page.waitForSelector('button:has-text("1 new")');
    expect(await page.locator('tr', { hasText: 'While paused' }).count()).toBe(0);
    await page.keyboard.press('Space');
    await page.waitForSelector('tr >> text=While paused');
  });

  it('the live view of a kind shows that kind alone', async () => {
    const { page } = visitor;
    await go('/live?kind=wanted');
    await page.waitForSelector('text=Waiting for the next event');
    // The page's own stream tells nobody that it is open: events come until the first is shown.
    const both = ['unwelcome', 'wanted'];
    const wanted = async () => {
      await batchCreate(
        web.stack,
        both.map((kind) => newEvent({ kind })),
      );
      return page.locator('tr', { hasText: 'wanted' }).count();
    };
    await expect.poll(wanted, { interval: 100 }).toBeGreaterThan(0);
    expect(await page.locator('tr', { hasText: 'unwelcome' }).count()).toBe(0);
  });

  it('the explorer tells each value with its type, and what was refused', async () => {
    const { page } = visitor;
    const customProperties = {
      amount: { doubleValue: 19.5 },
      count: { intValue: '9007199254740993' },
      name: { stringValue: '<b>bold</b>' },
      since: { timestampValue: '2026-01-02T03:04:05Z' },
      trial: { boolValue: true },
    };
    await batchCreate(web.stack, [
      newEvent({ kind: 'typed', distinctId: 'ada', customProperties }),
    ]);
    await go('/live');
    await eventually(
      () => listActivity(web.stack, { kinds: ['typed'] }),
      ({ events }) => events.length > 0,
    );
    await go('/events?kind=typed');
    // A program has sent it.
    await page.click('.empty >> text=Count bots');
    await page.click('.table-row >> text=typed');
    await page.locator('dialog').getByRole('heading', { name: 'Typed', exact: true }).waitFor();
    await page.locator('dialog .mono').getByText('typed', { exact: true }).waitFor();
    const lines = page.locator('dialog .values').first().locator('tbody tr');
    const values = async () =>
      (await lines.allInnerTexts()).map((line) => line.split(/\s+/).join(' '));
    await expect
      .poll(values)
      .toEqual([
        'amount 19.5 double',
        'count 9007199254740993 int',
        'name <b>bold</b> string',
        'since 2026-01-02T03:04:05.000Z time',
        'trial true bool',
      ]);
    expect(await axe(page)).toEqual([]);
    await page.keyboard.press('Escape');
    await page.getByRole('button', { name: 'Export' }).click();
    const coming = page.waitForEvent('download');
    await page.getByRole('menuitem', { name: 'CSV, for spreadsheets', exact: true }).click();
    const file = await coming;
    expect(file.suggestedFilename()).toBe('events.csv');
    const [head = '', row = '', ...more] = readFileSync(await file.path(), 'utf8').split('\n');
    expect(head).toContain('"amount"');
    expect(row).toContain('9007199254740993');
    expect(more).toEqual(['']);
    await go('/events?tab=refused');
    await page.waitForSelector('.table-row >> text=kind_pattern');
    expect(await axe(page)).toEqual([]);
    expect(visitor.faults).toEqual([]);
  });
});
