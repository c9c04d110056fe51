// The SQL page in a real browser: a statement is run by keyboard, its rows are a table, a chart and CSV; one with a
// fault is shown where it is, another one is refused or cancelled.

import { readFileSync } from 'node:fs';
import type { Page } from 'playwright-core';
import { beforeAll, describe, expect, it } from 'vitest';
import { hasBrowser } from '../harness/clients/browser.ts';
import { batchCreate, newEvent, untilCounted } from '../harness/clients/client.ts';
import { axe } from '../harness/web/accessibility.ts';
import { untilFocused } from '../harness/web/keyboard.ts';
import { useWebApp } from '../harness/web/use-web-app.ts';
import { patienceMs, type Reader } from '../harness/web/web-app.ts';

const timeout = patienceMs;

describe.runIf(hasBrowser)('the SQL page', () => {
  const web = useWebApp();
  let visitor: Reader & { page: Page };
  beforeAll(async () => {
    const kinds = ['page_view', 'page_view', 'purchase'];
    const events = kinds.map((kind) => newEvent({ kind, distinctId: 'ada' }));
    await batchCreate(web.stack, events);
    await untilCounted(web.stack);
    visitor = await web.signedIn('/account');
    await open(visitor.page);
  });

  const open = async (page: Page): Promise<void> => {
    await page.goto(`${web.stack.baseUrl}/p/${web.stack.projectId}/sql`);
    await page.getByRole('heading', { level: 1, name: 'SQL' }).waitFor();
    await column(page, 'distinct_id').waitFor();
  };
  const button = (page: Page, name: string) => page.getByRole('button', { name, exact: true });
  const column = (page: Page, name: string) =>
    page
      .getByRole('region', { name: 'Views and columns' })
      .getByRole('button', { name: new RegExp(`^${name}\\b`) })
      .first();
  const area = (page: Page) => page.getByRole('textbox', { name: 'Statement', exact: true });
  const run = async (page: Page, sql: string): Promise<void> => {
    await area(page).fill(sql);
    await area(page).press('Control+Enter');
  };

  it('is a place of the palette, which knows boards too', async () => {
    const { page } = visitor;
    await page.getByRole('heading', { level: 1, name: 'SQL' }).press('Control+k');
    const search = page.getByRole('combobox', { name: 'Search or jump to' });
    await untilFocused(page, search);
    await search.fill('board');
    await page.getByRole('option', { name: /^Overview\s*Board$/ }).waitFor();
    await search.fill('sql');
    await page.getByRole('option', { name: /^SQL/, selected: true }).waitFor();
    await search.press('Enter');
    await search.waitFor({ state: 'detached' });
    await area(page).waitFor();
    expect(visitor.faults).toEqual([]);
  });

  it('runs a statement by keyboard, and shows its rows as a table, a chart and CSV', async () => {
    const { page } = visitor;
    expect(await axe(page)).toEqual([]);
    await run(
      page,
      "SELECT kind, count() AS events, '=1+1' AS formula FROM events GROUP BY kind ORDER BY kind",
    );
    const grid = page.getByRole('grid', { name: 'Rows of the answer' });
    await grid.getByRole('gridcell', { name: 'purchase', exact: true }).waitFor();
    await page.getByText(/^2 rows in/).waitFor();
    expect(await axe(page)).toEqual([]);
    const downloading = page.waitForEvent('download');
    await button(page, 'Export as CSV').click();
    const file = await (await downloading).path();
    expect(readFileSync(file, 'utf8').split('\r\n')).toEqual([
      'kind,events,formula',
      "page_view,2,'=1+1",
      "purchase,1,'=1+1",
    ]);
    await grid.press('Enter');
    await page.getByRole('dialog', { name: 'Row 1' }).getByText('page_view').waitFor();
    await button(page, 'Close').press('Enter');
    await button(page, 'Chart').press('Enter');
    await page.getByRole('list', { name: 'events' }).getByText('purchase').waitFor();
    await button(page, 'Table').press('Enter');
    await run(page, 'SELECT toDate(occur_time) AS day, count() AS n FROM events GROUP BY day');
    await page.getByText(/^1 row in/).waitFor();
    await button(page, 'Chart').press('Enter');
    await page.getByRole('img', { name: /^Answer over time/ }).waitFor();
    expect(await axe(page)).toEqual([]);
    await run(page, 'SELECT 1 AS one FORMAT Markdown');
    await page.getByLabel('Answer as Markdown').getByText('| one |').waitFor();
    const history = page.getByRole('region', { name: 'History' });
    await history.getByRole('button', { name: /^SELECT toDate/ }).click();
    await expect.poll(() => area(page).inputValue(), { timeout }).toMatch(/^SELECT toDate/);
    await history.getByRole('button', { name: 'Clear' }).click();
    await history.getByText('Statements that were answered are kept here').waitFor();
    expect(visitor.faults).toEqual([]);
  });

  it('indents by Tab, takes names by a click, and lets the keyboard leave', async () => {
    const { page } = visitor;
    const text = () => expect.poll(() => area(page).inputValue(), { timeout });
    await area(page).fill('SELECT ');
    await column(page, 'kind').click();
    await text().toBe('SELECT kind');
    await untilFocused(page, area(page));
    await area(page).press('Enter');
    await area(page).press('Tab');
    await text().toBe('SELECT kind\n  ');
    await area(page).press('Shift+Tab');
    await text().toBe('SELECT kind\n');
    await column(page, 'int_properties').click();
    await text().toBe("SELECT kind\nint_properties['']");
    await area(page).press('Control+z');
    await text().toBe('SELECT kind\n');
    await area(page).press('Escape');
    await area(page).press('Tab');
    await untilFocused(page, button(page, 'Run'));
    expect(visitor.faults).toEqual([]);
  });

  it('shows the place of a fault, and which rule refused a statement', async () => {
    const { page } = visitor;
    await run(page, 'SELECT kind,\n  count( AS n\nFROM events');
    const alert = page.getByRole('alert');
    await alert.getByText('The statement cannot be read.').waitFor();
    expect(await axe(page)).toEqual([]);
    await button(page, 'Go to line 2, column 8').press('Enter');
    await untilFocused(page, area(page));
    const field = 'document.activeElement';
    const caret = () => page.evaluate(`${field}.value?.slice(0, ${field}.selectionStart)`);
    await expect.poll(caret, { timeout }).toBe('SELECT kind,\n  count');
    await run(page, 'SELECT * FROM system.users');
    await alert.getByText('The statement was refused.').waitFor();
    await alert.getByText('system.users').waitFor();
    // The browser's word for a refusal.
    expect(visitor.faults.splice(0)).toHaveLength(2);
  });

  it('saves a statement to a board, where it has the board’s range and a way back', async () => {
    const { page } = visitor;
    const sql =
      'SELECT kind, count() AS n FROM events WHERE occur_time >= {from:DateTime64} GROUP BY kind';
    await run(page, sql);
    await page.getByText(/^2 rows in/).waitFor();
    await button(page, 'Save to a board').press('Enter');
    const dialog = page.getByRole('dialog', { name: 'Save to a board' });
    await dialog.getByRole('textbox', { name: 'Title of the tile' }).fill('Kinds of events');
    await dialog.getByRole('combobox', { name: 'Shown as' }).selectOption('Bars');
    await dialog.getByRole('textbox', { name: 'Name of the board' }).fill('Asked in SQL');
    expect(await axe(page)).toEqual([]);
    await dialog.getByRole('button', { name: 'Save', exact: true }).click();
    await page.getByRole('heading', { level: 1, name: 'Asked in SQL' }).waitFor();
    await page.getByRole('list', { name: 'n', exact: true }).getByText('page_view').waitFor();
    expect(await axe(page)).toEqual([]);
    await page.getByRole('link', { name: 'Kinds of events' }).press('Enter');
    await page.getByRole('heading', { level: 1, name: 'SQL' }).waitFor();
    await expect.poll(() => area(page).inputValue(), { timeout }).toBe(sql);
    await area(page).fill(sql.replace('count()', '2 * count()'));
    await button(page, 'Save “Kinds of events”').press('Enter');
    const again = page.getByRole('dialog', { name: 'Save the tile' });
    await again.getByRole('combobox', { name: 'Shown as' }).selectOption('Table');
    await again.getByRole('button', { name: 'Save', exact: true }).click();
    await page.getByRole('heading', { level: 1, name: 'Asked in SQL' }).waitFor();
    const rows = page.getByRole('region', { name: 'Kinds of events: rows' });
    await rows.getByRole('cell', { name: '4', exact: true }).waitFor();
    await button(page, 'Edit').press('Enter');
    await button(page, 'Edit Kinds of events').press('Enter');
    const fields = page.getByRole('dialog', { name: 'Edit a statement' });
    await fields.getByRole('textbox', { name: 'Statement' }).fill('SELECT nonsense(');
    await fields.getByRole('button', { name: 'Apply' }).press('Enter');
    await page.getByText('It is run when the board is saved.').waitFor();
    await button(page, 'Save').press('Enter');
    await page.getByText(/tiles\[0\]\.statement\.sql: /).waitFor();
    // The browser's word for a refusal.
    expect(visitor.faults.splice(0)).toHaveLength(1);
    // The draft is given up, else the browser would ask.
    await button(page, 'Cancel').press('Enter');
    await button(page, 'Edit').waitFor();
    await open(page);
  });

  it('is left without an answer where the reader cancels', async () => {
    const page = await visitor.context.newPage();
    await page.route('**/sql?*', async (route) => {
      // Is never answered, as a statement that takes long.
      if (!route.request().postData()?.includes('held')) await route.continue();
    });
    await open(page);
    await run(page, "SELECT 'held'");
    await page.getByText('Running…').waitFor();
    await button(page, 'Cancel').press('Enter');
    await page.getByText('The statement was cancelled.').waitFor();
    await untilFocused(page, button(page, 'Run'));
    await run(page, "SELECT 'after'");
    await page.getByRole('gridcell', { name: 'after' }).waitFor();
    await page.close();
    expect(visitor.faults).toEqual([]);
  });
});
