// Lists and fields in a real browser: profiles in the order of a column, paths as people read them, and fields that
// hold something already.

import type { Page, Request } from 'playwright-core';
import { beforeAll, describe, expect, it } from 'vitest';
import { FilterOperator } from '../../proto/gen/common/v1/filter_pb.js';
import { hasBrowser } from '../harness/clients/browser.ts';
import {
  batchCreate,
  eventually,
  listActivity,
  newEvent,
  untilCounted,
} from '../harness/clients/client.ts';
import { axe } from '../harness/web/accessibility.ts';
import { untilFocused } from '../harness/web/keyboard.ts';
import { useWebApp } from '../harness/web/use-web-app.ts';
import { patienceMs, type Reader } from '../harness/web/web-app.ts';

const timeout = patienceMs;
const raw = '/caf%C3%A9/a%2Fb';
const readable = '/café/a%2Fb';
/** Turns the direction of writing where it is decoded. */
const turning = '/x%E2%80%AEy';
const many = 130;

describe.runIf(hasBrowser)('lists and fields', () => {
  const app = useWebApp();
  let reader: Reader & { page: Page };
  const seen = (distinctId: string, minutesAgo: number, count: number) =>
    Array.from({ length: count }, () =>
      newEvent({
        distinctId,
        occurTime: new Date(Date.now() - minutesAgo * 60_000).toISOString(),
        autoProperties: { $pathname: { stringValue: distinctId === 'amy' ? raw : turning } },
      }),
    );

  beforeAll(async () => {
    const events = [
      ...[seen('zed', 30, 1), seen('amy', 20, 3), seen('bob', 10, 2)].flat(),
      ...Array.from({ length: many }, (_, index) => seen(`visitor ${index}`, 60, 1)).flat(),
    ];
    // A person's agent: pages leave bots out.
    const agent = 'Mozilla/5.0 (X11; Linux x86_64; rv:143.0) Gecko/20100101 Firefox/143.0';
    const headers = { 'user-agent': agent };
    expect((await batchCreate(app.stack, events, { headers })).status).toBe(200);
    for (const externalId of ['zed', 'amy', 'bob']) {
      const path = '/sdk.profiles.v1.ProfilesSDKService/Identify';
      const body = JSON.stringify({ externalId, traits: { name: externalId } });
      const headers = { 'content-type': 'application/json', 'x-api-key': app.stack.publicKey };
      await fetch(app.stack.baseUrl + path, { method: 'POST', headers, body });
    }
    await eventually(
      () => listActivity(app.stack, { pageSize: 1_000 }),
      (list) => list.events.length === events.length,
    );
    await untilCounted(app.stack);
    reader = await app.signedIn('/account');
  });

  async function go(path: string): Promise<Page> {
    const { page } = reader;
    await page.goto(`${app.stack.baseUrl}/p/${app.stack.projectId}${path}`);
    return page;
  }
  /** The names of the first three rows. */
  const first = (page: Page) => async () => {
    const names = page.locator('.table-row > :first-child');
    return (await names.allTextContents()).slice(0, 3);
  };

  it('of profiles: those seen last come first, and each head sorts by its column', async () => {
    const page = await go('/profiles');
    const head = (name: string) => page.getByRole('columnheader', { name });
    await expect.poll(first(page), { timeout }).toEqual(['bob', 'amy', 'zed']);
    expect(await head('Last seen').getAttribute('aria-sort')).toBe('descending');
    await head('Events').getByRole('button').click();
    await expect.poll(first(page), { timeout }).toEqual(expect.arrayContaining(['amy', 'bob']));
    await expect.poll(async () => (await first(page)())[0], { timeout }).toBe('amy');
    expect(await head('Events').getAttribute('aria-sort')).toBe('descending');
    expect(await head('Last seen').getAttribute('aria-sort')).toBe('none');
    await head('Who').getByRole('button').press('Enter');
    await expect.poll(first(page), { timeout }).toEqual(['amy', 'bob', 'zed']);
    // The keyboard stays where it was: once more turns the order round.
    await untilFocused(page, head('Who').getByRole('button'));
    await page.keyboard.press('Enter');
    await expect.poll(first(page), { timeout }).toEqual(['zed', 'bob', 'amy']);
    expect(await head('Who').getAttribute('aria-sort')).toBe('descending');
    await page.reload({ waitUntil: 'commit' });
    await expect.poll(first(page), { timeout }).toEqual(['zed', 'bob', 'amy']);
    expect(await axe(page)).toEqual([]);
  });

  it('of profiles are read page by page as one scrolls', async () => {
    const page = await go('/profiles');
    await page.getByText('100 users loaded, more as you scroll').waitFor();
    const table = page.getByRole('grid', { name: 'Users' });
    await table.evaluate((element) => element.scrollTo({ top: 1e6 }));
    await page.getByText(`${many + 3} users`, { exact: true }).waitFor();
  });

  it('of users and of visits fit a usual screen, and a wider one fades where it goes on', async () => {
    const { page } = reader;
    const before = page.viewportSize() ?? { width: 1440, height: 900 };
    await page.setViewportSize({ width: 1280, height: 860 });
    const ofTable = <T>(expression: string) =>
      page.evaluate<T>(`((table) => ${expression})(document.querySelector('.table'))`);
    const fade = () => ofTable<string>(`getComputedStyle(table).getPropertyValue('--fade-end')`);
    for (const path of ['/profiles', '/visits']) {
      await go(path);
      await page.locator('.table-row').first().waitFor();
      expect(await ofTable('table.scrollWidth - table.clientWidth')).toBe(0);
      // A name in two lines is higher than its head.
      const names = `[...table.querySelectorAll('[role=columnheader]')]`;
      expect(
        await ofTable(`Math.max(...${names}.map((name) => name.offsetHeight))`),
      ).toBeLessThanOrEqual(34);
      expect(await fade()).toBe('0px');
    }
    await go(`/profiles?columns=${encodeURIComponent('["one","two","three"]')}`);
    await expect.poll(fade, { timeout }).toBe('40px');
    await ofTable('table.scrollTo({ left: 1e6 })');
    await expect.poll(fade, { timeout }).toBe('0px');
    await page.setViewportSize(before);
  });

  it('of visits have those with an event that meets the conditions', async () => {
    const ofPath = (path: string) =>
      encodeURIComponent(JSON.stringify([['$pathname', 1, 1, path]]));
    const page = await go(`/visits?filters=${ofPath(raw)}`);
    const rows = page.locator('.table-row');
    const chip = page.getByRole('button', { name: `Pathname is ${readable}`, exact: true });
    await chip.waitFor();
    await expect.poll(() => rows.count(), { timeout }).toBe(3);
    expect(await axe(page)).toEqual([]);
    await go(`/visits?filters=${ofPath('/nowhere')}`);
    await page.getByRole('button', { name: 'Clear filters' }).press('Enter');
    await page.getByText(/visits loaded|visits: all/).waitFor();
  });

  it('of profiles that are too many to sort are there all the same, the newest first', async () => {
    const { page } = reader;
    const text = JSON.stringify({ error: { code: 'resource_exhausted', message: 'too many' } });
    const body = Buffer.concat([Buffer.from([2, 0, 0, 0, text.length]), Buffer.from(text)]);
    const contentType = 'application/connect+proto';
    /** The tag of order_by. */
    const ordered = Buffer.from([0xa0, 0x01]);
    const pattern = '**/shared.profiles.v1.ProfilesService/List';
    await page.route(pattern, (route) =>
      route.request().postDataBuffer()?.includes(ordered)
        ? route.fulfill({ contentType, body })
        : route.continue(),
    );
    await go('/profiles');
    await page.getByText('They are too many to sort: the newest come first.').waitFor();
    await page.locator('.table-row').first().waitFor();
    expect(await page.getByRole('columnheader').getByRole('button').count()).toBe(0);
    expect(await page.getByRole('columnheader', { name: 'Lifetime value' }).count()).toBe(1);
    await page.unroute(pattern);
  });

  it('of pages are read by people, and filter by what was stored', async () => {
    const page = await go('');
    const pages = page.getByRole('region', { name: 'Pages' });
    await pages.getByText(turning).waitFor();
    await pages.getByRole('button', { name: readable }).click();
    await page.waitForURL((url) => (url.searchParams.get('filters') ?? '').includes(raw));
    await page.getByRole('button', { name: `Pathname is ${readable}`, exact: true }).waitFor();
    await go('/events');
    await page.getByRole('gridcell', { name: readable }).first().click();
    const drawer = page.getByRole('dialog');
    await drawer.getByText(raw, { exact: true }).waitFor();
    await drawer.getByText(readable).waitFor();
    await page.keyboard.press('Escape');
    await page.getByRole('gridcell', { name: turning }).first().waitFor();
    await go('/profiles?sort=events');
    await page.getByRole('gridcell', { name: 'amy' }).first().click();
    await page.locator('.visit').getByText(readable).first().waitFor();
    await go('/visits');
    await page.getByRole('gridcell', { name: readable }).first().waitFor();
  });

  it.each([
    ['/visits', '**/*.ActivityService/ListVisits'],
    ['/profiles', '**/*.ProfilesService/List'],
  ])(
    'of %s that a busy service did not answer are asked again by themselves',
    async (path, calls) => {
      // A refused call is a fault of the console.
      const { page, context } = await app.signedIn('/account');
      let asked = 0;
      await page.route(calls, (route) => {
        asked += 1;
        return asked === 1 ? route.fulfill(busyAnswer(route.request())) : route.continue();
      });
      await page.goto(`${app.stack.baseUrl}/p/${app.stack.projectId}${path}`);
      await page.getByRole('alert').getByText('The page asks again by itself in 5 s.').waitFor();
      await page.getByRole('gridcell').first().waitFor();
      expect([await page.getByRole('alert').count(), asked]).toEqual([0, 2]);
      await context.close();
    },
  );

  it('of events: what is typed takes the place of what the field held, and an unknown kind is marked', async () => {
    const page = await go('/insights/trends');
    const field = page.getByRole('combobox', { name: 'Event' }).first();
    const unknown = page.getByText('No event with this name was ever stored.');
    await field.fill('page_view');
    await page.getByRole('heading', { level: 1 }).click();
    expect(await unknown.count()).toBe(0);
    // The title, with the raw name beside it; either of them is understood, letter by letter.
    const raw = page.locator('.combo-value', { hasText: /^page_view$/ });
    await expect.poll(() => field.inputValue()).toBe('Page view');
    await raw.waitFor();
    await field.fill('page view');
    await page.getByRole('heading', { level: 1 }).click();
    await unknown.waitFor();
    expect([await field.inputValue(), await raw.count()]).toEqual(['page view', 0]);
    await field.fill('Page view');
    await page.getByRole('heading', { level: 1 }).click();
    await raw.waitFor();
    await expect.poll(() => field.inputValue()).toBe('Page view');
    await field.click();
    await untilFocused(page, field);
    await page.keyboard.type('purch');
    await expect.poll(() => field.inputValue()).toBe('purch');
    await unknown.waitFor();
    // A second press puts the caret where it is wanted.
    await field.click();
    await field.press('End');
    await page.keyboard.type('ase');
    await expect.poll(() => field.inputValue()).toBe('purchase');
    await field.fill('page_view');
    await unknown.waitFor({ state: 'detached' });
    expect(await axe(page)).toEqual([]);
  });

  it('of events: keep what is typed in the moment in which the address takes the question', async () => {
    const page = await go('/insights/trends');
    const field = page.getByRole('combobox', { name: 'Event' }).first();
    await field.waitFor();
    // Once the page is drawn for the new address, and before anything else: turns of the microtask queue alone.
    await page.evaluate(`{
      const own = history.pushState;
      history.pushState = (...args) => {
        own.apply(history, args);
        history.pushState = own;
        (async () => {
          for (let turn = 0; turn < 50; turn++) await undefined;
          const input = document.querySelector('input[role=combobox]');
          globalThis.heldBefore = input.value;
          input.value = 'purchase';
          input.dispatchEvent(new Event('input', { bubbles: true }));
        })();
      };
    }`);
    await field.fill('page_view');
    await expect.poll(() => new URL(page.url()).searchParams.get('q')).toContain('purchase');
    expect(await page.evaluate('heldBefore')).toBe('page_view');
    expect(await field.inputValue()).toBe('purchase');
  });

  it('of events: keep what is typed in the moment in which the time of what was typed before is over', async () => {
    const page = await go('/insights/trends');
    await page.getByRole('combobox', { name: 'Event' }).first().waitFor();
    // The time that a page waits for another letter is over where the test says so, unless the page has called it off.
    await page.evaluate(`(async () => {
      const own = { set: window.setTimeout, clear: window.clearTimeout };
      const waiting = new Map();
      window.setTimeout = (run, ms, ...rest) => {
        const isTyping = ms === 450;
        const id = own.set.call(window, isTyping ? () => {} : run, ms, ...rest);
        if (isTyping) waiting.set(id, run);
        return id;
      };
      window.clearTimeout = (id) => {
        waiting.delete(id);
        own.clear.call(window, id);
      };
      const type = (text) => {
        const input = document.querySelector('input[role=combobox]');
        input.value = text;
        input.dispatchEvent(new Event('input', { bubbles: true }));
      };
      type('page_view');
      while (waiting.size === 0) await new Promise((drawn) => own.set.call(window, drawn, 5));
      type('purchase');
      // Once the page is drawn, and before anything else: turns of the microtask queue alone.
      for (let turn = 0; turn < 50; turn++) await undefined;
      window.setTimeout = own.set;
      window.clearTimeout = own.clear;
      for (const run of waiting.values()) run();
    })()`);
    await expect.poll(() => new URL(page.url()).searchParams.get('q')).toContain('purchase');
    expect(await page.getByRole('combobox', { name: 'Event' }).first().inputValue()).toBe(
      'purchase',
    );
  });

  it('of a filter with many values scroll, so that it can be applied', async () => {
    const { page } = reader;
    const height = 720;
    await page.setViewportSize({ width: 1280, height });
    const values = Array.from({ length: 8 }, (_, index) => `plan ${index}`);
    const filters = JSON.stringify([['plan', FilterOperator.IN, 0, ...values]]);
    await go(`/events?filters=${encodeURIComponent(filters)}`);
    const condition = `plan is one of ${values.join(', ')}`;
    await page.getByRole('button', { name: condition, exact: true }).press('Enter');
    const dialog = page.getByRole('dialog', { name: 'Filter' });
    const apply = dialog.getByRole('button', { name: 'Apply' });
    await apply.scrollIntoViewIfNeeded();
    expect(await dialog.evaluate((one) => one.scrollHeight > one.clientHeight)).toBe(true);
    const { y = 0, height: own = height } = (await apply.boundingBox()) ?? {};
    expect([y > 0, y + own < height]).toEqual([true, true]);
    await apply.click();
    await dialog.waitFor({ state: 'detached' });
  });

  it.each([
    ['a desk', 1280],
    ['a phone', 360],
  ])('of a filter is in groups, and scrolls alone, on %s', async (_, width) => {
    const { page } = reader;
    const height = 640;
    await page.setViewportSize({ width, height });
    await go('/events');
    await page.getByRole('button', { name: 'Filter', exact: true }).press('Enter');
    const dialog = page.getByRole('dialog', { name: 'Filter' });
    const list = dialog.getByRole('listbox', { name: 'Property' });
    await list.waitFor();
    const names = await list
      .getByRole('group')
      .evaluateAll((all) => all.map((one) => one.getAttribute('aria-label')));
    const order = ['Pages', 'Sources', 'Places', 'Devices', 'Events', 'Users'];
    expect(names).toEqual(order.filter((name) => names.includes(name)));
    expect(names.length).toBeGreaterThan(1);
    expect(await axe(page)).toEqual([]);
    const overflow = 'getComputedStyle(document.querySelector("dialog[open]")).overflowY';
    expect(await page.evaluate<string>(overflow)).toBe('visible');
    const box = await list.boundingBox();
    expect((box?.y ?? height) + (box?.height ?? 0)).toBeLessThanOrEqual(height);
    await dialog.getByRole('button', { name: 'Close' }).click();
  });

  it('none of them broke a rule of the pages', () => {
    expect(reader.faults).toEqual([]);
  });
});

/** As the service says it: a stream's failure is in its last frame. The words are seen before the page asks again. */
function busyAnswer(request: Request) {
  const [code, message] = ['resource_exhausted', 'the service is busy'];
  const contentType = request.headers()['content-type'] ?? '';
  if (contentType === 'application/proto')
    return { status: 429, headers: { 'retry-after': '5' }, json: { code, message } };
  const end = JSON.stringify({ error: { code, message }, metadata: { 'retry-after': ['5'] } });
  const head = Buffer.alloc(5);
  head.writeUInt8(2);
  head.writeUInt32BE(end.length, 1);
  return { contentType, body: Buffer.concat([head, Buffer.from(end)]) };
}
