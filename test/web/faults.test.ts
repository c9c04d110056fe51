// Lists in a real browser. Each says that it is on its way, says why it could not be read, and is asked for again.

import { beforeAll, describe, expect, it } from 'vitest';
import { hasBrowser } from '../harness/clients/browser.ts';
import { axe } from '../harness/web/accessibility.ts';
import { useWebApp } from '../harness/web/use-web-app.ts';
import type { Reader } from '../harness/web/web-app.ts';

interface List {
  path: string;
  /** The end of the method's address. */
  method: string;
  /** As it is called while it is on its way. */
  loading: string;
  /** What stands in its place while it has nothing. */
  empty: string;
}

const lists: readonly List[] = [
  {
    path: '/segments',
    method: 'SegmentsService/List',
    loading: 'segments',
    empty: 'No segment yet',
  },
  {
    path: '/questions',
    method: 'DashboardsService/List',
    loading: 'saved insights',
    empty: 'None yet',
  },
  { path: '/alerts', method: 'AlertsService/List', loading: 'alerts', empty: 'No alert yet' },
  { path: '/reports', method: 'ReportsService/List', loading: 'reports', empty: 'No report yet' },
];
const fault = { code: 'internal', message: 'not now' };

describe.runIf(hasBrowser)('a list that cannot be read', () => {
  const web = useWebApp();
  let reader: Reader;
  beforeAll(async () => {
    reader = await web.signedIn('/account');
  });

  it.each(lists)('of $loading says so, and is asked for again', async (list) => {
    const page = await reader.context.newPage();
    let isRefused = true;
    let refuse = (): void => {};
    const refused = new Promise<void>((resolve) => {
      refuse = resolve;
    });
    await page.route(`**/*.${list.method}`, async (route) => {
      if (!isRefused) return route.continue();
      await refused;
      return route.fulfill({ status: 400, json: fault });
    });
    await page.goto(`${web.stack.baseUrl}/p/${web.stack.projectId}${list.path}`);
    await page.getByText(`Loading ${list.loading}`).waitFor({ state: 'attached' });
    expect(await axe(page)).toEqual([]);
    refuse();
    await page.getByRole('alert').getByText(fault.message).waitFor();
    expect(await axe(page)).toEqual([]);
    isRefused = false;
    await page.getByRole('button', { name: 'Ask again', exact: true }).press('Enter');
    await page.getByRole('heading', { name: list.empty }).waitFor();
    expect(await page.getByRole('alert').count()).toBe(0);
    await page.close();
  });

  it('of projects is asked for again by itself, after Retry-After, where the service was busy', async () => {
    const page = await reader.context.newPage();
    let refused = 0;
    await page.route('**/*.ProjectsService/List', (route) => {
      if (refused > 0) return route.continue();
      refused += 1;
      const json = { code: 'resource_exhausted', message: 'the service is busy' };
      return route.fulfill({ status: 429, headers: { 'retry-after': '2' }, json });
    });
    await page.goto(`${web.stack.baseUrl}/p/${web.stack.projectId}/segments`);
    // Nobody presses "Ask again".
    await page.getByRole('heading', { level: 1, name: 'Segments' }).waitFor();
    expect([refused, await page.getByRole('alert').count()]).toEqual([1, 0]);
    await page.close();
  });
});
