// What a page shows while the answer to the next question is on its way: the figures of before, and the word that says
// so, on shared boards, goals and lists of users and visits.

import type { Page } from 'playwright-core';
import { beforeAll, describe, expect, it } from 'vitest';
import { hasBrowser } from '../harness/clients/browser.ts';
import { batchCreate, call, newEvent, untilCounted } from '../harness/clients/client.ts';
import { axe } from '../harness/web/accessibility.ts';
import { useWebApp } from '../harness/web/use-web-app.ts';
import type { Reader } from '../harness/web/web-app.ts';

describe.runIf(hasBrowser)('old figures', () => {
  const web = useWebApp();
  let sharedPath: string;

  beforeAll(async () => {
    const agents = {
      person: 'Mozilla/5.0 (X11; Linux x86_64; rv:145.0) Gecko/20100101 Firefox/145.0',
      bot: 'Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)',
    };
    for (const [distinctId, agent] of Object.entries(agents)) {
      const events = [newEvent({ kind: 'view', distinctId })];
      const headers = { 'user-agent': agent };
      expect((await batchCreate(web.stack, events, { headers })).status).toBe(200);
      const path = '/sdk.profiles.v1.ProfilesSDKService/Identify';
      await call(web.stack.baseUrl, path, web.stack.publicKey, { externalId: distinctId });
    }
    await untilCounted(web.stack);
    const insight = {
      insightType: 'INSIGHT_TYPE_SEGMENTATION',
      events: [{ event: { kind: 'view' } }],
    };
    const { dashboard } = await web.manage('/dashboard.dashboards.v1.DashboardsService/Create', {
      ...{ displayName: 'Shop', timeRange: { preset: 'TIME_RANGE_PRESET_LAST_7_DAYS' } },
      tiles: [{ title: 'Views', w: 36, h: 12, insight }],
    });
    const { token } = await web.manage('/dashboard.dashboards.v1.DashboardsService/CreateShare', {
      dashboardId: String(Reflect.get(Object(dashboard), 'id')),
    });
    sharedPath = `/s/${token}`;
    await web.manage('/dashboard.goals.v1.GoalsService/Create', {
      ...{ displayName: 'Saw it', kind: 'view' },
    });
  });

  /** Calls of the method wait from `hold` on, until `letGo`. To be made before the page is opened. */
  async function gateOf({ context }: Reader, method: string) {
    let held: Promise<void> | undefined;
    let letGo = (): void => {};
    await context.route(`**/${method}`, async (route) => {
      await held;
      // A page that asks anew has left this call.
      await route.continue().catch(() => undefined);
    });
    return {
      hold(): void {
        held = new Promise((resolve) => {
          letGo = resolve;
        });
      },
      letGo(): void {
        held = undefined;
        letGo();
      },
    };
  }

  const sign = (page: Page) => page.getByRole('status').filter({ hasText: 'Updating…' });

  it('of a shared board stand under the word until the new ones are there', async () => {
    const stranger = await web.newReader();
    const gate = await gateOf(stranger, 'public.dashboards.v1.SharedDashboardsService/Render');
    const page = await stranger.openTab(sharedPath);
    const value = page.getByRole('article', { name: 'Views' }).locator('.big-figure b');
    await expect.poll(() => value.textContent()).toBe('1');
    expect(await sign(page).count()).toBe(0);
    gate.hold();
    await page.getByRole('button', { name: 'Count bots' }).press('Enter');
    await sign(page).waitFor();
    expect(await value.textContent()).toBe('1');
    expect(await page.locator('main').getAttribute('aria-busy')).toBe('true');
    expect(await axe(page)).toEqual([]);
    gate.letGo();
    await expect.poll(() => value.textContent()).toBe('2');
    await expect.poll(() => sign(page).count()).toBe(0);
    expect(stranger.faults).toEqual([]);
    await stranger.context.close();
  });

  it('of goals stand under the word of their card', async () => {
    const reader = await web.signedIn('/account');
    const gate = await gateOf(reader, 'dashboard.goals.v1.GoalsService/Measure');
    const { page } = reader;
    await page.goto(`${web.stack.baseUrl}/p/${web.stack.projectId}?range=7d`);
    const card = page.getByRole('region', { name: 'Goals', exact: true });
    await card.getByText('Saw it').waitFor();
    gate.hold();
    await page.getByRole('button', { name: 'Count bots' }).press('Enter');
    await card.getByText('Updating…').waitFor();
    expect(await card.getByText('Saw it').count()).toBe(1);
    gate.letGo();
    await card.getByText('Updating…').waitFor({ state: 'detached' });
    await card.getByText('Saw it').waitFor();
    await reader.context.close();
  });

  it.each([
    ['users', '/profiles', 'shared.profiles.v1.ProfilesService/List', 'Users'],
    ['visits', '/visits', 'shared.activity.v1.ActivityService/ListVisits', 'Visits'],
  ])('of %s stand under the word beside the heading', async (_, path, method, heading) => {
    const reader = await web.signedIn('/account');
    const gate = await gateOf(reader, method);
    const { page } = reader;
    await page.goto(`${web.stack.baseUrl}/p/${web.stack.projectId}${path}`);
    await page.getByRole('heading', { level: 1, name: heading }).waitFor();
    const rows = page.locator('.table-row');
    await expect.poll(() => rows.count()).toBe(1);
    gate.hold();
    await page.getByRole('button', { name: 'Count bots' }).press('Enter');
    await sign(page).waitFor();
    expect(await rows.count()).toBe(1);
    gate.letGo();
    await expect.poll(() => rows.count()).toBe(2);
    await expect.poll(() => sign(page).count()).toBe(0);
    expect(reader.faults).toEqual([]);
    await reader.context.close();
  });
});
