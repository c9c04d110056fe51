// What a reader waits for who opens the overview of a project with millions of events: from the click to the last tile,
// in a real browser on the same machine. An event is stored before each click, so that no answer is a kept one.

import { createHash } from 'node:crypto';
import type { Page } from 'playwright-core';
import { createClient } from '../../../demo/sending/client.ts';
import { deliveriesOf } from '../../../demo/sending/deliveries.ts';
import { countReadable } from '../../../demo/sending/readable.ts';
import { sendAll } from '../../../demo/sending/send.ts';
import { rfc3339 } from '../../../demo/visits/event.ts';
import { streamVisits } from '../../../demo/visits/visitors.ts';
import { dayMs } from '../../../platform/clock.ts';
import { batchCreate, newEvent } from '../../../test/harness/clients/client.ts';
import type { Stack } from '../../../test/harness/servers/stack.ts';
import { startWebApp } from '../../../test/harness/web/web-app.ts';
import { type Bench, check, type Mode, type Table } from '../../bench.ts';
import { spreadOf } from '../../harness/pairs.ts';

const sizes = {
  smoke: { events: 2_000, visitors: 400, clicks: 2, warmUps: 0 },
  real: { events: 5_000_000, visitors: 250_000, clicks: 9, warmUps: 2 },
} as const;

const spanMs = 60 * dayMs;
const seed = 7;
const connections = 16;
const maxWaitMs = 120_000;

export const webOverviewBench: Bench = {
  name: 'web-overview',
  question: 'How long does a reader wait for the overview of five million events?',
  async run(mode) {
    const { events, clicks, warmUps } = sizes[mode];
    // The visits are sent as pages send them, and sixty days are more than a public key may go back.
    const web = await startWebApp({ MILLRACE_PUBLIC_MAX_AGE_DAYS: '0' });
    try {
      const stored = await fill(web.stack, mode);
      check(stored >= events, 'the events are counted');
      const { page } = await web.signedIn('/account');
      const project = `/p/${web.stack.projectId}`;
      await page.goto(`${web.stack.baseUrl}${project}/live?range=30d`);
      const tookMs: number[] = [];
      for (let click = 0; click < warmUps + clicks; click++) {
        await storeOne(page, web.stack, click);
        const ms = await openOverview(page, project);
        if (click >= warmUps) tookMs.push(ms);
        await page.goBack();
      }
      const resultHash = createHash('sha256').update(`${clicks} overviews are whole`);
      return { tables: [tableOf(events, tookMs)], resultHash: resultHash.digest('hex') };
    } finally {
      await web.stop();
    }
  },
};

/** Visits to a shop over sixty days, by the demo's own way; the number of events once all are counted. */
async function fill(stack: Stack, mode: Mode): Promise<number> {
  const { events, visitors } = sizes[mode];
  const nowMs = Date.now();
  const client = createClient({ baseUrl: stack.baseUrl, connections });
  try {
    const deliveries = deliveriesOf(streamVisits({ seed, events, visitors, nowMs, spanMs }));
    const sent = await sendAll(deliveries, {
      ...{ client, target: stack, connections, eventsPerSecond: 0 },
      onProgress() {},
    });
    const counted = { kind: '', range: { from: rfc3339(nowMs - spanMs), to: rfc3339(nowMs + 1) } };
    return await countReadable(client, counted, sent.acknowledged, maxWaitMs, stack.privateKey);
  } finally {
    await client.close();
  }
}

/** Resolves when the live page says that the event is stored and everything before it counted. */
async function storeOne(page: Page, stack: Stack, click: number): Promise<void> {
  const distinctId = `click-${click}`;
  await page.waitForSelector('.lag[data-state=live]');
  await batchCreate(stack, [newEvent({ distinctId })]);
  await page.locator('.live-table tr', { hasText: distinctId }).first().waitFor();
  await page.waitForSelector('.lag:has-text("Up to date")');
}

/** Milliseconds from the click to the frame in which no tile waits any more. */
async function openOverview(page: Page, project: string): Promise<number> {
  // The range goes with the link.
  const selector = JSON.stringify(`nav a[href="${project}?range=30d"]`);
  const tookMs = await page.evaluate<number>(`new Promise((done) => {
    const begunMs = performance.now();
    document.querySelector(${selector}).click();
    const look = () => {
      const isWhole = document.querySelector('.overview[aria-busy=false]') && !document.querySelector('.loading');
      if (isWhole) done(performance.now() - begunMs);
      else requestAnimationFrame(look);
    };
    look();
  })`);
  check(
    (await page.locator('.rankings tbody tr, .rankings li').count()) > 8,
    'the tiles have rows',
  );
  return tookMs;
}

function tableOf(events: number, tookMs: readonly number[]): Table {
  const { median, min, max } = spreadOf(tookMs);
  return {
    title: `${events.toLocaleString('en-US')} events of 60 days, 30 days shown with those before: ${tookMs.length} clicks`,
    columns: ['overview', 'median ms', 'min', 'max'],
    rows: [['from the click to the last tile', ...[median, min, max].map((ms) => ms.toFixed(0))]],
  };
}
