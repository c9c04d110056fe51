// Bots on the pages that count visitors: left out and said so, counted where the reader asks, and no word of them in a
// project without any. The API answers all.

import type { Locator, Page } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import { hasBrowser } from '../harness/clients/browser.ts';
import {
  batchCreate,
  call,
  eventually,
  listActivity,
  newEvent,
  untilCounted,
} from '../harness/clients/client.ts';
import { axe } from '../harness/web/accessibility.ts';
import { untilFocused } from '../harness/web/keyboard.ts';
import { useWebApp } from '../harness/web/use-web-app.ts';
import { patienceMs } from '../harness/web/web-app.ts';

const timeout = patienceMs;
const gptBot =
  'Mozilla/5.0 AppleWebKit/537.36 (KHTML, like Gecko; compatible; GPTBot/1.2; +https://openai.com/gptbot)';
const firefox = 'Mozilla/5.0 (X11; Linux x86_64; rv:143.0) Gecko/20100101 Firefox/143.0';

/** Of a new board, or a share of one. */
interface Made {
  dashboard: { id: string };
  token: string;
}

describe.runIf(hasBrowser)('a project', () => {
  const app = useWebApp();

  /** One event of each visitor. */
  async function send(agent: string, ...visitors: string[]): Promise<void> {
    const events = visitors.map((distinctId) => newEvent({ distinctId }));
    const headers = { 'user-agent': agent };
    expect((await batchCreate(app.stack, events, { headers })).status).toBe(200);
  }

  const stored = async (count: number): Promise<void> => {
    await eventually(
      () => listActivity(app.stack, {}),
      ({ events }) => events.length === count,
    );
    await untilCounted(app.stack);
  };

  const visitors = async (page: Page) =>
    (await page.locator('.overview:not([aria-busy=true]) .figure-tile b').allTextContents())[0];

  const shown = (page: Page, count: string) =>
    expect.poll(() => visitors(page), { timeout }).toBe(count);

  /** By its key: the chip says what holds now, and has the focus when `shows` has passed. */
  async function turn(
    within: Page | Locator,
    to: 'counted' | 'left out',
    shows: () => Promise<void>,
  ) {
    const [now, next] = ['Leave bots out', 'Count bots'];
    const [press, then] = to === 'counted' ? [next, now] : [now, next];
    await within.getByRole('button', { name: press }).press('Enter');
    await within.getByText(`Bots ${to}`, { exact: true }).waitFor();
    await shows();
    const focused = within.getByRole('button', { name: then }).and(within.locator(':focus'));
    expect(await focused.count()).toBe(1);
  }

  it('without bots is asked without a condition, and with some leaves them out until it is asked', async () => {
    await send(firefox, 'ada', 'bob', 'eve');
    await stored(3);
    const { page, faults } = await app.signedIn(`/p/${app.stack.projectId}`);
    await shown(page, '3');
    const filters = page.getByRole('group', { name: 'Filters' });
    expect(await filters.textContent()).not.toContain('Bots');
    const question = `${app.stack.baseUrl}/p/${app.stack.projectId}/insights/segmentation`;
    await page.goto(question);
    await page.getByRole('region', { name: 'Answer' }).getByText('Complete until').waitFor();
    expect(await page.getByText('Bots left out').count()).toBe(0);

    await send(gptBot, 'gpt', 'gpt2');
    await stored(5);
    await page.goto(`${app.stack.baseUrl}/p/${app.stack.projectId}`);
    await shown(page, '3');
    expect(await filters.textContent()).toContain('Bots left out');
    await turn(filters, 'counted', () => shown(page, '5'));
    await turn(filters, 'left out', () => shown(page, '3'));

    await page.goto(`${app.stack.baseUrl}/p/${app.stack.projectId}/live`);
    const live = page.locator('.live-figure', { hasText: 'Visitors' });
    const liveShows = (count: string) =>
      expect.poll(() => live.locator('strong').textContent(), { timeout }).toBe(count);
    await liveShows('3');
    await turn(live, 'counted', () => liveShows('5'));
    await turn(live, 'left out', () => liveShows('3'));

    await page.goto(question);
    await page.getByRole('button', { name: 'Bots left out', exact: true }).waitFor();
    expect(faults).toEqual([]);
    const { status, body } = await call(
      app.stack.baseUrl,
      '/shared.insights.v1.InsightsService/Query',
      app.stack.privateKey,
      {
        spec: {
          insightType: 'INSIGHT_TYPE_SEGMENTATION',
          events: [{ event: {}, aggregation: 'AGGREGATION_TYPE_UNIQUE_USERS' }],
        },
        timeRange: {
          from: new Date(Date.now() - 86_400_000).toISOString(),
          to: new Date(Date.now() + 86_400_000).toISOString(),
        },
      },
    );
    expect(status).toBe(200);
    expect(body).toMatchObject({ segmentation: { total: 5 } });
  });

  /** A method of the dashboards, as its admin. */
  async function dashboards(method: string, message: unknown): Promise<Made> {
    const { baseUrl, projectId } = app.stack;
    const path = '/public.auth.v1.AuthService/SignIn';
    const signedIn = await call(baseUrl, path, app.stack.publicKey, app.admin);
    const response = await fetch(`${baseUrl}/dashboard.dashboards.v1.DashboardsService/${method}`, {
      method: 'POST',
      headers: {
        ...{ 'content-type': 'application/json', 'x-project-id': projectId },
        authorization: `Bearer ${signedIn.body['accessToken']}`,
      },
      body: JSON.stringify(message),
    });
    expect(response.status).toBe(200);
    const made: Made = JSON.parse(await response.text());
    return made;
  }

  it('leaves them out of its own boards, read, edited and shared, unless a tile asks about them', async () => {
    const users = {
      insightType: 'INSIGHT_TYPE_SEGMENTATION',
      events: [{ event: {}, aggregation: 'AGGREGATION_TYPE_UNIQUE_USERS' }],
    };
    const filters = [{ property: '$bot', operator: 'FILTER_OPERATOR_EQUALS', value: 'true' }];
    const { dashboard } = await dashboards('Create', {
      displayName: 'Shop',
      tiles: [
        { title: 'Everybody', x: 0, w: 36, h: 12, insight: users },
        {
          title: 'Crawlers',
          x: 36,
          w: 36,
          h: 12,
          insight: { ...users, filterGroups: [{ filters }] },
        },
      ],
    });
    const { token } = await dashboards('CreateShare', { dashboardId: dashboard.id });
    const figures = async (page: Page) =>
      (await page.locator('.big-figure b').allTextContents()).join(' ');
    const shows = (page: Page, text: string) =>
      expect.poll(() => figures(page), { timeout }).toBe(text);
    const turns = async (page: Page) => {
      await shows(page, '3 2');
      expect(await axe(page)).toEqual([]);
      await turn(page, 'counted', () => shows(page, '5 2'));
      await page.emulateMedia({ media: 'print' });
      expect(await page.getByText('Bots counted').isVisible()).toBe(true);
      await page.emulateMedia({ media: null });
      await turn(page, 'left out', () => shows(page, '3 2'));
    };

    const path = `/p/${app.stack.projectId}/boards/${dashboard.id}`;
    const { page, faults } = await app.signedIn(path);
    await turns(page);
    await page.getByRole('link', { name: 'Everybody' }).click();
    await page.getByRole('button', { name: 'Bots left out', exact: true }).waitFor();
    await shows(page, '3');
    expect(faults).toEqual([]);

    // A question that was just changed is asked alone.
    await page.goto(`${app.stack.baseUrl}${path}?edit=yes`);
    await shows(page, '3 2');
    await page.getByRole('button', { name: 'Edit Everybody' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Count cookieless visitors as users').check();
    await dialog.getByRole('button', { name: 'Apply' }).click();
    await dialog.waitFor({ state: 'detached' });
    await turns(page);

    const stranger = await app.newReader();
    await turns(await stranger.openTab(`/s/${token}`));
    expect(stranger.faults).toEqual([]);
  });

  it('says nothing of them on a board whose own filters ask for some', async () => {
    const users = {
      insightType: 'INSIGHT_TYPE_SEGMENTATION',
      events: [{ event: {}, aggregation: 'AGGREGATION_TYPE_UNIQUE_USERS' }],
    };
    const filters = [{ property: '$bot', operator: 'FILTER_OPERATOR_EQUALS', value: 'true' }];
    const { dashboard } = await dashboards('Create', {
      displayName: 'Crawlers alone',
      filters: { filterGroups: [{ filters }] },
      tiles: [{ title: 'All', w: 36, h: 12, insight: users }],
    });
    const { token } = await dashboards('CreateShare', { dashboardId: dashboard.id });
    const path = `/p/${app.stack.projectId}/boards/${dashboard.id}`;
    const { page, faults } = await app.signedIn(path);
    const stranger = await app.newReader();
    for (const one of [page, await stranger.openTab(`/s/${token}`)]) {
      await expect
        .poll(() => one.locator('.big-figure b').allTextContents(), { timeout })
        .toEqual(['2']);
      expect(await one.getByText(/^Bots (left out|counted)$/).count()).toBe(0);
    }
    expect([...faults, ...stranger.faults]).toEqual([]);
  });

  it.each(['visits', 'profiles', 'events'])(
    'lists none of them among its %s, unless it is asked to',
    async (list) => {
      const { page, faults } = await app.signedIn(`/p/${app.stack.projectId}/${list}`);
      const rows = page.getByRole('grid').locator('.table-row');
      const are = (count: number) => expect.poll(() => rows.count(), { timeout }).toBe(count);
      await are(3);
      expect(await rows.filter({ hasText: 'gpt' }).count()).toBe(0);
      expect(await axe(page)).toEqual([]);
      await turn(page, 'counted', () => are(5));
      await turn(page, 'left out', () => are(3));
      expect(faults).toEqual([]);
    },
  );

  it('keeps the focus where a chip goes', async () => {
    const path = `/p/${app.stack.projectId}/events?who=gpt`;
    const { page, faults } = await app.signedIn(path);
    const button = (name: string) => page.getByRole('button', { name, exact: true });
    await button('Remove: User').press('Enter');
    await expect.poll(() => page.locator('.table-row').count(), { timeout }).toBe(3);
    await untilFocused(page, button('Segment'));
    const conditions = '[["$bot",1,1,"true"],["$bot",2,1,"false"]]';
    await page.goto(
      `${app.stack.baseUrl}/p/${app.stack.projectId}/events?filters=${encodeURIComponent(conditions)}`,
    );
    const removes = page.getByRole('button', { name: /^Remove: Bot/ });
    await removes.first().press('Enter');
    await expect.poll(() => removes.count(), { timeout }).toBe(1);
    await untilFocused(page, removes);
    expect(faults).toEqual([]);
  });

  it.each([
    ['overview', '', 'filters'],
    ['users', '/profiles', 'f'],
    ['events', '/events', 'filters'],
  ])(
    'says nothing else of them on %s beside a condition that asks for them',
    async (_, at, name) => {
      const filters = encodeURIComponent('[["$bot",1,1,"true"]]');
      const path = `/p/${app.stack.projectId}${at}?${name}=${filters}`;
      const { page, faults } = await app.signedIn(path);
      await page.getByRole('button', { name: 'Bot is true', exact: true }).waitFor();
      if (at === '') await shown(page, '2');
      else await expect.poll(() => page.locator('.table-row').count(), { timeout }).toBe(2);
      expect(await page.getByText('Bots left out').count()).toBe(0);
      await page.getByRole('button', { name: 'Remove: Bot is true' }).press('Enter');
      await page.getByText('Bots left out').waitFor();
      // Not the button that would count bots.
      await untilFocused(page, page.getByRole('button', { name: 'Filter', exact: true }));
      expect(faults).toEqual([]);
    },
  );
});
