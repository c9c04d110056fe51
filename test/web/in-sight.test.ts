// What a board and a question count stays in sight while its reader scrolls, on screens of two sizes, and what has the
// focus is never behind it.

import type { Page } from 'playwright-core';
import { beforeAll, describe, expect, it } from 'vitest';
import { hasBrowser } from '../harness/clients/browser.ts';
import { batchCreate, newEvent, untilCounted } from '../harness/clients/client.ts';
import { axe } from '../harness/web/accessibility.ts';
import { untilHolds } from '../harness/web/page-condition.ts';
import { useWebApp } from '../harness/web/use-web-app.ts';
import type { Reader } from '../harness/web/web-app.ts';

const sizes = [
  ['a desk', 1280],
  ['a phone', 360],
] as const;

/** The events of the tests are a program's. */
const boardChips = ['Bots left out', 'in Buyers'];

describe.runIf(hasBrowser)('the chips', () => {
  const web = useWebApp();
  let visitor: Reader & { page: Page };
  let segment: string;
  let board: string;

  beforeAll(async () => {
    await batchCreate(web.stack, [newEvent({ kind: 'view', distinctId: 'ada' })]);
    await untilCounted(web.stack);
    segment = await segmentOf('Buyers');
    const insight = { insightType: 'INSIGHT_TYPE_TRENDS', events: [{ event: { kind: 'view' } }] };
    const { dashboard } = await web.manage('/dashboard.dashboards.v1.DashboardsService/Create', {
      displayName: 'Shop',
      tiles: [0, 1, 2, 3, 4].map((place) => ({
        ...{ title: `Views ${place}`, w: 36, h: 18, y: place * 18, insight },
      })),
    });
    board = String(Reflect.get(Object(dashboard), 'id'));
    visitor = await web.signedIn('/account');
  });

  async function segmentOf(displayName: string): Promise<string> {
    const made = await web.manage('/dashboard.segments.v1.SegmentsService/Create', {
      displayName,
      condition: { groups: [{ tests: [{ did: { event: { kind: 'view' }, atLeast: 1 } }] }] },
    });
    return String(Reflect.get(Object(made['segment']), 'id'));
  }

  async function open(path: string, width: number): Promise<Page> {
    const { page } = visitor;
    await page.setViewportSize({ width, height: 640 });
    await page.goto(`${web.stack.baseUrl}/p/${web.stack.projectId}${path}`);
    return page;
  }
  /** Scrolled to the page's end, the texts of the chips that nothing covers. */
  const chipsAtTheEnd = (page: Page) =>
    page.evaluate<string[]>(`{
      (document.fullscreenElement ?? document.documentElement).scrollTo(0, 1e6);
      [...document.querySelectorAll('.in-sight .chip')].filter((chip) => {
        const { x, y, width, height } = chip.getBoundingClientRect();
        return chip.contains(document.elementFromPoint(x + width / 2, y + height / 2));
      }).map((chip) => chip.textContent.trim());
    }`);
  /** What gets the focus from the page's end upwards, and is then behind what stays in sight. */
  const hiddenFocus = (page: Page) =>
    page.evaluate<string[]>(`{
      const [head] = document.querySelectorAll('.in-sight');
      const bar = head.offsetHeight > 0 ? head : head.lastElementChild;
      [...document.querySelectorAll('main a[href], main button, main [tabindex="0"]')]
        .filter((one) => !head.contains(one) && one.checkVisibility()).toReversed()
        .filter((one) => {
          one.focus();
          const { top, bottom } = one.getBoundingClientRect();
          const end = bar.getBoundingClientRect().bottom;
          return document.activeElement === one && top < end - 1 && bottom > 0 && bottom <= end;
        }).map((one) => one.textContent || one.ariaLabel);
    }`);
  const width = (page: Page) => page.evaluate<number>('document.documentElement.scrollWidth');
  /** None scrolls beside the page. */
  const ownScroll = (page: Page) =>
    page.evaluate<boolean>(`[...document.querySelectorAll('.in-sight, .in-sight > .row')]
      .some((one) => getComputedStyle(one).overflowY !== 'visible')`);

  it.each(sizes)('of a board stay on %s', async (_, widthPx) => {
    const page = await open(`/boards/${board}?segments=${segment}`, widthPx);
    await page.getByRole('article', { name: 'Views 4' }).locator('svg').first().waitFor();
    await page.getByText('in Buyers').first().waitFor();
    await expect.poll(() => chipsAtTheEnd(page)).toEqual(boardChips);
    expect(await page.evaluate<number>('window.scrollY')).toBeGreaterThan(200);
    expect(await axe(page)).toEqual([]);
    await expect.poll(() => hiddenFocus(page)).toEqual([]);
    expect(await width(page)).toBeLessThanOrEqual(widthPx);
    expect(await ownScroll(page)).toBe(false);
    expect(visitor.faults).toEqual([]);
  });

  it.each(sizes)('of a board in full screen stay at its edge on %s', async (_, widthPx) => {
    const page = await open(`/boards/${board}?segments=${segment}`, widthPx);
    await page.getByRole('article', { name: 'Views 4' }).locator('svg').first().waitFor();
    await page.getByText('in Buyers').first().waitFor();
    const more = page.getByRole('button', { name: 'More', exact: true });
    if (widthPx < 760) await more.press('Enter');
    await page.getByRole('button', { name: 'Full screen' }).press('Enter');
    await untilHolds(page, 'document.fullscreenElement !== null');
    await expect.poll(() => chipsAtTheEnd(page)).toEqual(boardChips);
    const scrolled = await page.evaluate<number>('document.fullscreenElement.scrollTop');
    expect(scrolled).toBeGreaterThan(200);
    // No further from it than the board's own room.
    const top = page.evaluate<number>(`Math.min(...[...document.querySelectorAll('.in-sight .chip')]
      .map((chip) => chip.getBoundingClientRect().top))`);
    expect(await top).toBeLessThan(60);
    await expect.poll(() => hiddenFocus(page)).toEqual([]);
    await page.evaluate('document.exitFullscreen()');
    expect(visitor.faults).toEqual([]);
  });

  it.each(sizes)('of a question stay on %s', async (_, widthPx) => {
    const group = (...filters: object[]) => ({ operator: 2, filters });
    const is = (property: string, value: string) => ({ property, operator: 1, value });
    const question = {
      ...{ insightType: 1, events: [{ event: { kind: 'view' } }], segments: [segment] },
      filterGroups: [group(is('plan', 'pro'), is('plan', 'free')), group(is('seats', '3'))],
      breakdowns: [{ property: 'plan' }, { property: 'seats' }],
    };
    const asked = encodeURIComponent(JSON.stringify(question));
    const page = await open(`/insights/trends?q=${asked}`, widthPx);
    const chips = ['plan is pro or plan is free', 'seats is 3', 'in Buyers'];
    await page.getByRole('list', { name: 'Filters' }).getByText('in Buyers').waitFor();
    await page.getByRole('region', { name: 'Answer' }).locator('.loading').waitFor({
      state: 'detached',
    });
    await expect.poll(() => chipsAtTheEnd(page)).toEqual(chips);
    expect(await axe(page)).toEqual([]);
    await expect.poll(() => hiddenFocus(page)).toEqual([]);
    expect(await width(page)).toBeLessThanOrEqual(widthPx);
    expect(await ownScroll(page)).toBe(false);
    expect(visitor.faults).toEqual([]);
  });

  it.each(sizes)(
    'of a board scroll away on %s of little height, which they would fill',
    async (_, widthPx) => {
      const page = await open(`/boards/${board}?segments=${segment}`, widthPx);
      await page.setViewportSize({ width: widthPx, height: 440 });
      await page.getByRole('article', { name: 'Views 4' }).locator('svg').first().waitFor();
      await page.getByText('in Buyers').first().waitFor();
      await expect.poll(() => chipsAtTheEnd(page)).toEqual([]);
      expect(await page.evaluate<number>('window.scrollY')).toBeGreaterThan(200);
      expect(await axe(page)).toEqual([]);
      expect(visitor.faults).toEqual([]);
    },
  );

  it('of many conditions scroll away on a phone, which they would fill', async () => {
    const seats = [1, 2, 3, 4, 5, 6, 7, 8].map((value) => ({
      filters: [{ property: 'seats', operator: 1, value: `those of row ${value}` }],
    }));
    const question = {
      ...{ insightType: 1, events: [{ event: { kind: 'view' } }], filterGroups: seats },
    };
    const asked = encodeURIComponent(JSON.stringify(question));
    const page = await open(`/insights/trends?q=${asked}`, 360);
    await page
      .getByRole('list', { name: 'Filters' })
      .getByText('seats is those of row 8')
      .waitFor();
    await page.getByRole('region', { name: 'Answer' }).locator('.loading').waitFor({
      state: 'detached',
    });
    await expect.poll(() => chipsAtTheEnd(page)).toEqual([]);
    expect(visitor.faults).toEqual([]);
  });

  it.each([360, 320])(
    'of two lists scroll away on %i px, too, which they would fill',
    async (px) => {
      const seats = [1, 2, 3].map((value) => ['seats', 1, 0, `${value}`]);
      const more = ['Readers', 'Guests', 'Members'].map((name) => segmentOf(`${name} ${px}`));
      const segments = [segment, ...(await Promise.all(more))];
      const asked = new URLSearchParams({
        filters: JSON.stringify(seats),
        segments: `${segments}`,
      });
      const page = await open(`?${asked}`, px);
      await page.locator('.page-head').getByText('seats is 3').waitFor();
      await page.locator('.overview[aria-busy=false]').waitFor();
      await expect.poll(() => chipsAtTheEnd(page)).toEqual([]);
      const padding = 'getComputedStyle(document.documentElement).scrollPaddingTop';
      expect(await page.evaluate(padding)).toBe('60px');
      // Higher than the head is thrice.
      await page.setViewportSize({ width: px, height: 1800 });
      await expect.poll(async () => (await chipsAtTheEnd(page)).length).toBeGreaterThan(6);
      expect(visitor.faults).toEqual([]);
    },
  );

  it('of a board are on paper, too', async () => {
    const page = await open(`/boards/${board}?segments=${segment}`, 1280);
    await page.getByText('in Buyers').first().waitFor();
    await page.emulateMedia({ media: 'print' });
    await expect.poll(() => page.getByText('in Buyers').first().isVisible()).toBe(true);
    expect(await page.getByRole('button', { name: 'Remove: in Buyers' }).isVisible()).toBe(false);
    await page.emulateMedia({ media: null });
  });
});
