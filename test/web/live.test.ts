// The live page's figures beside its rows: what arrives now counts, whenever it occurred, and who it was.

import type { Page } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import { hasBrowser } from '../harness/clients/browser.ts';
import {
  batchCreate,
  eventually,
  listActivity,
  newEvent,
  untilCounted,
} from '../harness/clients/client.ts';
import { useWebApp } from '../harness/web/use-web-app.ts';
import { patienceMs } from '../harness/web/web-app.ts';

const timeout = patienceMs;
const hourMs = 3_600_000;
/** An agent that is no bot's. */
const headers = {
  'user-agent': 'Mozilla/5.0 (X11; Linux x86_64; rv:143.0) Gecko/20100101 Firefox/143.0',
};

describe.runIf(hasBrowser)('the live page', () => {
  const app = useWebApp();

  const figureOf = (page: Page, name: string) =>
    page.locator('.live-figure', { has: page.getByRole('heading', { name, exact: true }) });

  const shown = (page: Page, name: string) =>
    expect.poll(() => figureOf(page, name).locator('strong').textContent(), { timeout });

  it('counts what its rows show: events that arrive now and occurred yesterday', async () => {
    const { page, context, faults } = await app.signedIn(`/p/${app.stack.projectId}/live`);
    await page.locator('.lag[data-state=live]').waitFor();
    const places = page.locator('.live-places');
    await places.getByText('No event of a visitor was stored').waitFor();
    await places.getByText('the service has no geo database').waitFor();

    const occurTime = new Date(Date.now() - 20 * hourMs).toISOString();
    const events = ['ada', 'bob', 'eve'].flatMap((distinctId) =>
      Array.from({ length: 4 }, () => newEvent({ distinctId, occurTime })),
    );
    expect((await batchCreate(app.stack, events, { headers })).status).toBe(200);
    await expect
      .poll(() => page.locator('tr[data-stage=stored]').count(), { timeout })
      .toBe(events.length);
    // Beside rows of some seconds ago: no figure of the last second has them.
    await page
      .locator('td.number', { hasText: /^([3-9]|[1-5]\d) s$/ })
      .first()
      .waitFor();
    await shown(page, 'Events').toBe('12');
    await expect
      .poll(() => figureOf(page, 'Events').textContent(), { timeout })
      .toMatch(/the last minute · 0\.2 a second/);
    await shown(page, 'Visitors').toBe('3');
    await places.getByRole('list', { name: 'Visitors by country' }).getByText('Unknown').waitFor();

    // A page that opens later has seen none of them arrive.
    expect((await batchCreate(app.stack, [newEvent({ occurTime })], { headers })).status).toBe(200);
    const isStored = () => listActivity(app.stack, {});
    await eventually(isStored, (list) => list.events.length === events.length + 1);
    await untilCounted(app.stack);
    await page.reload();
    await shown(page, 'Events').toMatch(/^[1-9]/);
    await expect
      .poll(() => figureOf(page, 'Events').textContent(), { timeout })
      .toContain('the last minute');

    // A server tells a place: the note on those that are missing is not that there is none.
    await places.getByText('the service has no geo database').waitFor();
    const german = newEvent({ occurTime, autoProperties: { $country: { stringValue: 'DE' } } });
    const key = app.stack.privateKey;
    expect((await batchCreate(app.stack, [german], { key, headers })).status).toBe(200);
    await places.getByText('Germany', { exact: true }).waitFor();
    await places.getByText('the service has no geo database').waitFor({ state: 'detached' });
    await places.getByText('is not known: their addresses').waitFor();
    expect(faults).toEqual([]);
    await context.close();
  });

  it('moves nothing when it says that bots are there, and says it within its card', async () => {
    const { page, context, faults } = await app.signedIn(`/p/${app.stack.projectId}/live`);
    await page.locator('.lag[data-state=live]').waitFor();
    await shown(page, 'Visitors').toMatch(/\d/);
    const card = figureOf(page, 'Visitors');
    const chip = card.locator('.chip');
    const heights = async (): Promise<number[]> => {
      const all: number[] = [];
      for (const width of [320, 360, 768, 800, 900, 1000, 1280]) {
        await page.setViewportSize({ width, height: 800 });
        all.push((await card.boundingBox())?.height ?? 0);
      }
      return all;
    };
    expect(await chip.isVisible()).toBe(false);
    const before = await heights();
    expect((await batchCreate(app.stack, [newEvent({ distinctId: 'curl' })])).status).toBe(200);
    await expect.poll(() => chip.isVisible(), { timeout }).toBe(true);
    expect(await heights()).toEqual(before);
    for (const width of [320, 360, 768, 800, 900, 1000]) {
      await page.setViewportSize({ width, height: 800 });
      const [outer, inner] = [await card.boundingBox(), await chip.boundingBox()];
      if (!outer || !inner) throw new Error('there is no chip');
      // The card's own padding.
      expect(outer.x + outer.width - (inner.x + inner.width)).toBeGreaterThanOrEqual(16);
    }
    expect(faults).toEqual([]);
    await context.close();
  });
});
