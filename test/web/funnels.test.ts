// A funnel is asked in a real browser by mouse, by keyboard and on a phone: in any order, in one visit, without an
// event between, and over time. The figures are those of known events.

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
import { useWebApp } from '../harness/web/use-web-app.ts';
import { patienceMs, type Reader } from '../harness/web/web-app.ts';

const timeout = patienceMs;
const dayMs = 86_400_000;
/** Two days ago: no window is open. */
const startMs = Math.floor(Date.now() / dayMs) * dayMs - 3 * dayMs;
const dayAt = (days: number) => new Date(startMs + days * dayMs).toISOString().slice(0, 10);
const range = `from=${dayAt(-1)}&to=${dayAt(1)}`;

/** Ann signs up and buys in one visit, Bob in two with an error between, Cat buys first, Dan signs up only. */
function knownEvents(): object[] {
  const event = (distinctId: string, kind: string, minute: number, sessionId: string) =>
    newEvent({
      ...{ distinctId, kind, sessionId },
      occurTime: new Date(startMs + minute * 60_000).toISOString(),
    });
  const visits = Array.from({ length: 5 }, () => String(newEvent().sessionId));
  const [one = '', two = '', three = '', four = '', five = ''] = visits;
  return [
    event('ann', 'joined', 0, one),
    event('ann', 'bought', 5, one),
    event('bob', 'joined', 0, two),
    event('bob', 'failed', 30, two),
    event('bob', 'bought', 100, three),
    event('cat', 'bought', 0, four),
    event('cat', 'joined', 10, four),
    event('dan', 'joined', 0, five),
  ];
}

const joinedAndBought = JSON.stringify({
  insightType: 3,
  events: [{ event: { kind: 'joined' } }, { event: { kind: 'bought' } }],
});

describe.runIf(hasBrowser)('a funnel', () => {
  const app = useWebApp();
  let reader: Reader & { page: Page };

  beforeAll(async () => {
    const sent = await batchCreate(app.stack, knownEvents());
    expect(sent.status).toBe(200);
    await eventually(
      () => listActivity(app.stack, {}),
      (list) => list.events.length === 8,
    );
    await untilCounted(app.stack);
    reader = await app.signedIn('/account');
  });

  async function open(page: Page): Promise<void> {
    const { baseUrl, projectId } = app.stack;
    await page.goto(
      `${baseUrl}/p/${projectId}/insights/funnel?${range}&q=${encodeURIComponent(joinedAndBought)}`,
    );
    await steps(page, ['4', '2']);
  }

  /** Users of each step. */
  async function steps(page: Page, users: string[]): Promise<void> {
    const shown = () => page.locator('.funnel .funnel-bar b').allTextContents();
    await expect.poll(shown, { timeout }).toEqual(users);
  }

  it('is asked in other orders, in one visit, and without an event between', async () => {
    const { page } = reader;
    await open(page);
    await page.getByText('50% converted: 2 of 4 users').waitFor();
    const follow = page.getByLabel('Steps follow');
    expect(await follow.isVisible()).toBe(false);
    await page.getByText('Order, exclusions, over time').click();
    await follow.selectOption({ label: 'In any order' });
    await steps(page, ['4', '3']);
    await page.getByRole('heading', { name: '2 of the 2 steps' }).waitFor();
    await follow.selectOption({ label: 'In their order, and nothing between them' });
    await steps(page, ['4', '1']);
    await follow.selectOption({ label: 'In their order' });
    await steps(page, ['4', '2']);
    await page.getByLabel('All steps in one visit').check();
    await steps(page, ['4', '1']);
    await page.getByLabel('All steps in one visit').uncheck();
    await steps(page, ['4', '2']);
    await page.getByRole('button', { name: 'Exclude an event' }).click();
    await page.getByRole('combobox', { name: 'Without' }).fill('failed');
    await steps(page, ['4', '1']);
    await page.getByRole('button', { name: 'Remove exclusion 1' }).click();
    await steps(page, ['4', '2']);
    expect(reader.faults).toEqual([]);
  });

  it('has the rate of each step from the first one and from the step before', async () => {
    const { page } = reader;
    const { baseUrl, projectId } = app.stack;
    const events = ['joined', 'failed', 'bought'].map((kind) => ({ event: { kind } }));
    const asked = encodeURIComponent(JSON.stringify({ insightType: 3, events }));
    await page.goto(`${baseUrl}/p/${projectId}/insights/funnel?${range}&q=${asked}`);
    await steps(page, ['4', '1', '1']);
    await page.getByText('25% converted: 1 of 4 users').waitFor();
    const figures = await page.locator('.funnel .funnel-bar').allTextContents();
    expect(figures[2]).toMatch(/1 user · 25% · 100% of the step before/);
    // The raw name of a step's event is not below the buttons of the step.
    await page.locator('.combo-value', { hasText: 'failed' }).click({ trial: true });
  });

  it('is drawn over time, by keyboard and on a phone', async () => {
    const { page, context } = await app.signedIn('/account');
    await page.setViewportSize({ width: 360, height: 740 });
    await open(page);
    await page.getByRole('button', { name: 'Change insight' }).click();
    await page.getByText('Order, exclusions, over time').press('Enter');
    const overTime = page.getByLabel('Over time, by the time of the first step');
    await overTime.press('Space');
    const chart = page.getByRole('img', { name: /over time/ });
    await chart.waitFor();
    await page.getByRole('button', { name: 'Time', exact: true }).click();
    await page.getByLabel('Bucket').selectOption({ label: 'Day' });
    await page.getByRole('button', { name: 'Show the answer' }).click();
    await page.getByText('Table', { exact: true }).first().click();
    const day = new Date(startMs).toUTCString().slice(5, 16).replace(/^0/, '');
    const cells = page.getByRole('row', { name: day }).first().getByRole('cell');
    await expect
      .poll(() => cells.allTextContents(), { timeout })
      .toEqual([day, '4', '2', '50%', '0']);
    const width = await page.evaluate<number>('document.documentElement.scrollWidth');
    expect(width).toBeLessThanOrEqual(360);
    await page.reload({ waitUntil: 'commit' });
    await chart.waitFor();
    await page.getByRole('button', { name: 'Change insight' }).click();
    expect(await overTime.isChecked()).toBe(true);
    await context.close();
  });
});
