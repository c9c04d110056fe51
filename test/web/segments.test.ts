// Segments in a real browser: one is made by keyboard and counted while it is typed; questions, lists and boards are of
// its people alone; the people behind a number become one of as many.

import type { Page } from 'playwright-core';
import { beforeAll, describe, expect, it } from 'vitest';
import { hasBrowser } from '../harness/clients/browser.ts';
import {
  batchCreate,
  eventually,
  listActivity,
  newEvent,
  untilCounted,
} from '../harness/clients/client.ts';
import { identify, profileOf } from '../harness/clients/profile-client.ts';
import { axe } from '../harness/web/accessibility.ts';
import { untilFocused } from '../harness/web/keyboard.ts';
import { useWebApp } from '../harness/web/use-web-app.ts';
import { patienceMs, type Reader } from '../harness/web/web-app.ts';

const timeout = patienceMs;

/** Ada bought twice, Bob once, Eve and Kim never. Who comes from a browser is no bot. */
function knownEvents(): object[] {
  const event = (distinctId: string, kind: string) => newEvent({ distinctId, kind });
  return [
    ...['ada', 'bob', 'eve', 'kim'].map((person) => event(person, 'page_view')),
    ...['ada', 'ada', 'bob'].map((person) => event(person, 'purchase')),
  ];
}

describe.runIf(hasBrowser)('segments', () => {
  const web = useWebApp();
  let visitor: Reader & { page: Page };

  beforeAll(async () => {
    const sent = await batchCreate(web.stack, knownEvents(), { key: web.stack.privateKey });
    expect(sent.status).toBe(200);
    await eventually(
      () => listActivity(web.stack, {}),
      (list) => list.events.length === 7,
    );
    await identify(web.stack, { externalId: 'eve', traits: { plan: 'pro' } });
    await eventually(
      () => profileOf(web.stack, 'eve'),
      (eve) => eve?.properties?.['plan'] === 'pro',
    );
    await untilCounted(web.stack);
    visitor = await web.signedIn('/account');
  });

  const open = async (page: Page, path: string): Promise<void> => {
    await page.goto(`${web.stack.baseUrl}/p/${web.stack.projectId}${path}`);
    await page.waitForSelector('main h1');
  };
  const button = (page: Page, name: string) => page.getByRole('button', { name, exact: true });
  const chooseSegment = async (page: Page, menu: string, name: string): Promise<void> => {
    await button(page, menu).click();
    await page.getByRole('menuitemcheckbox', { name, exact: true }).click();
  };

  it('are made by keyboard, and counted while they are typed', async () => {
    const { page } = visitor;
    await open(page, '/segments');
    await page.getByRole('heading', { name: 'No segment yet' }).waitFor();
    expect(await axe(page)).toEqual([]);
    await page.getByRole('link', { name: 'New segment' }).press('Enter');
    await page.getByLabel('Name', { exact: true }).fill('Buyers');
    await page.getByText('4 of 4 users, 100%').waitFor();
    await page.getByRole('combobox', { name: 'Event' }).fill('purchase');
    await page.getByText('2 of 4 users, 50%').waitFor();
    await page.getByLabel('Times', { exact: true }).fill('2');
    await page.getByText('1 of 4 users, 25%').waitFor();
    expect(await axe(page)).toEqual([]);
    // Another condition, whose first field has the focus as soon as it is there.
    await button(page, 'Add a condition').press('Enter');
    const items = page.getByRole('menuitem');
    await untilFocused(page, items.first());
    await items.nth(0).press('ArrowDown');
    await items.nth(1).press('ArrowDown');
    await untilFocused(page, items.nth(2));
    await page.keyboard.press('Enter');
    const focused = () => page.evaluate('document.activeElement.labels?.[0]?.textContent');
    await expect.poll(focused).toBe('Property');
    await page.keyboard.type('plan');
    await page.getByRole('combobox', { name: 'Value' }).fill('pro');
    await page.getByText('0 of 4 users, 0%').waitFor();
    await page.getByLabel('How the conditions combine').selectOption('any');
    await page.getByText('2 of 4 users, 50%').waitFor();
    expect(await axe(page)).toEqual([]);
    await button(page, 'Remove condition 2').press('Enter');
    await expect
      .poll(() => page.evaluate('document.activeElement.ariaLabel'))
      .toBe('Add a condition');
    await button(page, 'Create segment').press('Enter');
    await page.getByRole('heading', { level: 1, name: 'Buyers' }).waitFor();
    const people = page.getByRole('region', { name: 'Users' });
    await expect.poll(() => people.getByRole('listitem').count(), { timeout }).toBe(1);
    expect(await axe(page)).toEqual([]);
    expect(visitor.faults).toEqual([]);
  });

  it('are what lists, questions, their groups and boards are of', async () => {
    const { page } = visitor;
    await open(page, '/profiles');
    await chooseSegment(page, 'Segment', 'Buyers');
    await page.getByText('1 user', { exact: true }).waitFor();
    const chosen = new URL(page.url()).searchParams.get('segments') ?? '';
    expect(chosen).not.toBe('');
    await open(page, '/events');
    await page.getByText('7 events: all of them.').waitFor();
    await chooseSegment(page, 'Segment', 'Buyers');
    await page.getByText('3 events: all of them.').waitFor();
    expect(await button(page, 'Export').count()).toBe(1);
    // Who comes anew by the address finds the same.
    await page.reload({ waitUntil: 'commit' });
    await page.getByText('in Buyers').waitFor();
    await page.getByText('3 events: all of them.').waitFor();
    // Turned by keyboard, it is of everybody else.
    await button(page, 'in Buyers').press('Enter');
    await page.getByText('4 events: all of them.').waitFor();
    expect(new URL(page.url()).searchParams.get('segments')).toBe(`!${chosen}`);
    expect(await axe(page)).toEqual([]);
    await page.reload({ waitUntil: 'commit' });
    await page.getByText('4 events: all of them.').waitFor();
    await button(page, 'not in Buyers').click();
    await page.getByText('3 events: all of them.').waitFor();
    await button(page, 'Remove: in Buyers').click();
    await page.getByText('7 events: all of them.').waitFor();
    await open(page, '/insights/segmentation');
    await page.getByRole('combobox', { name: 'Event' }).fill('purchase');
    await page.getByText('3', { exact: true }).first().waitFor();
    await chooseSegment(page, 'Split by a segment', 'Buyers');
    await page.getByText('in Buyers', { exact: true }).first().waitFor();
    await page.getByText('not in Buyers', { exact: true }).first().waitFor();
    await chooseSegment(page, 'Segment', 'Buyers');
    await page.getByText('not in Buyers', { exact: true }).first().waitFor({ state: 'detached' });
    expect(new URL(page.url()).searchParams.get('q')).toContain(`"segments":["${chosen}"]`);
    expect(await axe(page)).toEqual([]);
    await open(page, '/boards/overview');
    const visitors = page.getByRole('group', { name: 'Visitors', exact: true });
    await visitors.getByText('4', { exact: true }).waitFor();
    await chooseSegment(page, 'Segment', 'Buyers');
    await visitors.getByText('1', { exact: true }).waitFor();
    await button(page, 'in Buyers').click();
    await visitors.getByText('3', { exact: true }).waitFor();
    await open(page, `/profiles?segments=!${chosen}`);
    await page.getByText('3 users', { exact: true }).waitFor();
    await open(page, `?segments=!${chosen}`);
    await page.getByRole('button', { name: /^Visitors 3 / }).waitFor();
    await open(page, `?segments=${chosen}`);
    await button(page, 'Visitors')
      .or(page.getByRole('button', { name: /^Visitors 1 / }))
      .waitFor();
    expect(visitor.faults).toEqual([]);
  });

  it('list the people behind a number, as many as it counts', async () => {
    const { page } = visitor;
    const q = JSON.stringify({
      insightType: 'INSIGHT_TYPE_SEGMENTATION',
      events: [{ event: { kind: 'purchase' }, aggregation: 'AGGREGATION_TYPE_UNIQUE_USERS' }],
      breakdowns: [{ property: '$browser' }],
    });
    await open(page, `/insights/segmentation?q=${encodeURIComponent(q)}`);
    await page.locator('.bars button').first().click();
    await button(page, 'Save as segment').click();
    await page.getByText('It lists 2 users as they are now.').waitFor();
    await page.getByLabel('Name', { exact: true }).fill('Bought');
    expect(await axe(page)).toEqual([]);
    await button(page, 'Create segment').click();
    await page.getByRole('heading', { level: 1, name: 'Bought' }).waitFor();
    await page.getByText('2 of 4 users, 50%').waitFor();
    const people = page.getByRole('region', { name: 'Users' });
    await expect.poll(() => people.getByRole('listitem').count(), { timeout }).toBe(2);
    expect(visitor.faults).toEqual([]);
  });

  it('are counted in the list, changed, deleted and missed, on a phone too', async () => {
    const { page } = visitor;
    await page.setViewportSize({ width: 360, height: 740 });
    await open(page, '/segments');
    await page
      .getByRole('row', {
        name: /^Buyers did purchase at least 2 times in the last 30 days Users 1 /,
      })
      .waitFor();
    await page.getByRole('row', { name: /^Bought one of 2 listed users Users 2 / }).waitFor();
    expect(await axe(page)).toEqual([]);
    await page.getByRole('link', { name: 'Buyers' }).click();
    await page.getByLabel('Times', { exact: true }).fill('');
    await page.getByText('Say how often.').waitFor();
    await expect.poll(() => button(page, 'Save the segment').isDisabled()).toBe(true);
    await page.getByLabel('Times', { exact: true }).fill('1');
    await button(page, 'Save the segment').click();
    const people = page.getByRole('region', { name: 'Users' });
    await expect.poll(() => people.getByRole('listitem').count(), { timeout }).toBe(2);
    const id = new URL(page.url()).pathname.split('/').at(-1);
    await button(page, 'Delete the segment').click();
    expect(await axe(page)).toEqual([]);
    await button(page, 'Delete it').click();
    await page.getByRole('row', { name: /^Bought / }).waitFor();
    expect(await page.getByRole('row', { name: /^Buyers / }).count()).toBe(0);
    expect(visitor.faults).toEqual([]);
    await open(page, `/segments/${id}`);
    await page.getByRole('alert').waitFor();
    await open(page, `/events?segments=${id}`);
    await page.getByText('in a deleted segment').waitFor();
    await page.getByRole('alert').waitFor();
    await button(page, 'Remove: in a deleted segment').click();
    await page.getByText('7 events: all of them.').waitFor();
    visitor.faults.splice(0);
    await page.setViewportSize({ width: 1280, height: 800 });
  });

  it('that cannot be read say why, and are asked for again', async () => {
    const { page } = visitor;
    const fault = { code: 'internal', message: 'not now' };
    let isRefused = true;
    await page.route('**/*.SegmentsService/List', (route) =>
      isRefused ? route.fulfill({ status: 400, json: fault }) : route.continue(),
    );
    await open(page, '/segments');
    await page.getByRole('alert').getByText(fault.message).waitFor();
    isRefused = false;
    await button(page, 'Ask again').click();
    await page.getByRole('row', { name: /^Bought / }).waitFor();
    // Nobody knows whether such a one was deleted.
    isRefused = true;
    const someId = '0198c0de-0000-7000-8000-000000000001';
    await open(page, `/events?segments=${someId}`);
    await page.getByText('in a segment', { exact: true }).waitFor();
    const events = [{ event: { kind: 'page_view' } }];
    const q = JSON.stringify({ insightType: 'INSIGHT_TYPE_TRENDS', events, segments: [someId] });
    await open(page, `/insights/trends?q=${encodeURIComponent(q)}`);
    await page.getByRole('list', { name: 'Filters' }).getByText('in a segment').waitFor();
    expect(await page.getByText('in a deleted segment').count()).toBe(0);
  });
});
