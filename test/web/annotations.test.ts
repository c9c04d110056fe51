// Annotations in a real browser: one is written on a chart, seen there by keyboard, and changed in the settings.

import type { Page } from 'playwright-core';
import { beforeAll, describe, expect, it } from 'vitest';
import { hasBrowser } from '../harness/clients/browser.ts';
import { batchCreate, call, newEvent, untilCounted } from '../harness/clients/client.ts';
import { axe } from '../harness/web/accessibility.ts';
import { useWebApp } from '../harness/web/use-web-app.ts';
import type { Reader } from '../harness/web/web-app.ts';

describe.runIf(hasBrowser)('annotations', () => {
  const web = useWebApp();
  let visitor: Reader & { page: Page };
  beforeAll(async () => {
    const visitors = ['ada', 'bob'].map((distinctId) =>
      newEvent({ kind: 'page_view', distinctId }),
    );
    expect((await batchCreate(web.stack, visitors)).status).toBe(200);
    await untilCounted(web.stack);
    visitor = await web.signedIn('/account');
  });

  const goOn = async (page: Page, path: string): Promise<void> => {
    await page.goto(`${web.stack.baseUrl}/p/${web.stack.projectId}${path}`);
    await page.waitForSelector('main h1');
  };
  const button = (page: Page, name: string) => page.getByRole('button', { name, exact: true });
  const dialog = (page: Page) => page.getByRole('dialog', { name: 'Annotations' });

  it('are written on a chart, and shown on every chart at their moment', async () => {
    const { page } = visitor;
    await goOn(page, '');
    await page.getByRole('img', { name: /^Visitors\. Arrow keys/ }).waitFor();
    await button(page, 'Annotations').click();
    await dialog(page).getByText('None yet.').waitFor();
    expect(await axe(page)).toEqual([]);
    await page.getByLabel('What happened').fill('Release 2.0');
    await button(page, 'Add the annotation').click();
    await dialog(page).getByRole('cell', { name: 'Release 2.0', exact: true }).waitFor();
    await button(page, 'Close').click();
    await shownOnChart(page, /^Visitors\. Arrow keys/, 'Release 2.0');
    await goOn(page, '/insights/trends?kind=page_view');
    await shownOnChart(page, /Arrow keys walk the points/, 'Release 2.0');
    await goOn(page, '/insights/lifecycle');
    await shownOnChart(page, /^Lifecycle.* Arrow keys/, 'Release 2.0');
    const step = { event: { kind: 'page_view' } };
    const overTime = { insightType: 3, events: [step, step], funnel: { overTime: true } };
    await goOn(page, `/insights/funnel?q=${encodeURIComponent(JSON.stringify(overTime))}`);
    await shownOnChart(page, /over time\. Arrow keys/, 'Release 2.0');
    expect(visitor.faults).toEqual([]);
  });

  /** A method of the dashboards, as its admin. */
  async function dashboards(method: string, message: object): Promise<Record<string, unknown>> {
    const { baseUrl, projectId } = web.stack;
    const signedIn = await call(baseUrl, '/public.auth.v1.AuthService/SignIn', '', web.admin);
    const authorization = `Bearer ${signedIn.body['accessToken']}`;
    const path = `/dashboard.dashboards.v1.DashboardsService/${method}`;
    const headers = { authorization, 'x-project-id': projectId };
    const { status, body } = await call(baseUrl, path, '', message, headers);
    expect(status).toBe(200);
    return body;
  }

  it('are on the charts of boards, own and shared', async () => {
    const insight = {
      insightType: 'INSIGHT_TYPE_TRENDS',
      events: [{ event: { kind: 'page_view' } }],
    };
    const { dashboard } = await dashboards('Create', {
      displayName: 'Shop',
      tiles: [{ title: 'Views', x: 0, w: 36, h: 18, insight }],
    });
    const id = String(Reflect.get(Object(dashboard), 'id'));
    await goOn(visitor.page, `/boards/${id}`);
    await shownOnChart(visitor.page, /^Views\. Arrow keys/, 'Release 2.0');
    const { token } = await dashboards('CreateShare', { dashboardId: id });
    const stranger = await web.newReader();
    const page = await stranger.openTab(`/s/${token}`);
    await shownOnChart(page, /^Views\. Arrow keys/, 'Release 2.0');
    expect(stranger.faults).toEqual([]);
  });

  /** By keyboard: the newest point is today's. */
  async function shownOnChart(page: Page, name: RegExp, text: string): Promise<void> {
    const chart = page.getByRole('img', { name });
    await expect
      .poll(async () => {
        await chart.press('End');
        return page.locator('.legend .annotation').allTextContents();
      })
      .toEqual([text]);
  }

  it('are changed and deleted in the settings, on a phone too', async () => {
    const { page } = visitor;
    await page.setViewportSize({ width: 360, height: 740 });
    await goOn(page, '/settings');
    await page.getByRole('button', { name: 'Edit Release 2.0' }).click();
    await page.getByLabel('What happened').fill('Release 2.1');
    await page.getByLabel('Time', { exact: true }).fill('2026-01-31T23:59');
    await button(page, 'Save the annotation').click();
    await page.getByRole('cell', { name: 'Release 2.1', exact: true }).waitFor();
    await page.getByRole('cell', { name: '31 Jan, 23:59' }).waitFor();
    expect(await axe(page)).toEqual([]);
    await page.getByRole('button', { name: 'Delete Release 2.1' }).click();
    await page.getByText('None yet.').waitFor();
    await page.setViewportSize({ width: 1280, height: 800 });
    expect(visitor.faults).toEqual([]);
  });

  it('that cannot be read leave the chart whole, and the dialog says why', async () => {
    const { page } = visitor;
    let isBroken = true;
    const json = { code: 'internal', message: 'it broke' };
    await page.route('**/*.AnnotationsService/List', (route) =>
      isBroken ? route.fulfill({ status: 500, json }) : route.continue(),
    );
    await goOn(page, '');
    await page.getByRole('img', { name: /^Visitors\. Arrow keys/ }).waitFor();
    await button(page, 'Annotations').click();
    await dialog(page).getByRole('alert').getByText('it broke').waitFor();
    isBroken = false;
    await dialog(page).getByRole('button', { name: 'Ask again' }).click();
    await dialog(page).getByText('None yet.').waitFor();
    await button(page, 'Close').click();
  });
});
