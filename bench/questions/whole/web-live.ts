// What a reader of the web app feels, in a real browser on the same machine: how soon an event is on the live page
// after its sender has the acknowledgement; whether the page stays quick at a thousand events a second; and how many
// rows of a hundred thousand are in the document while the explorer is scrolled to its end.

import { createHash } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import type { Page } from 'playwright-core';
import {
  batchCreate,
  eventually,
  listActivity,
  newEvent,
} from '../../../test/harness/clients/client.ts';
import { untilHolds } from '../../../test/harness/web/page-condition.ts';
import { startWebApp, type WebApp } from '../../../test/harness/web/web-app.ts';
import { type Bench, check, type Mode, type Table } from '../../bench.ts';

const sizes = {
  smoke: { single: 3, loadSeconds: 2, listed: 1_000 },
  real: { single: 200, loadSeconds: 30, listed: 100_000 },
} as const;

/** Longer than a batch waits, so that no event rides on another's. */
const pauseMs = 130;
const perSecond = 1_000;
const requestsPerSecond = 20;
const bytesInMib = 1_048_576;

type OpenPage = { page: Page; go: (path: string) => Promise<void> };

/** Signed in; `go` opens a path of the project and waits for its heading. */
async function openReader(web: WebApp): Promise<OpenPage> {
  const { page } = await web.signedIn('/account');
  const go = async (path: string): Promise<void> => {
    await page.goto(`${web.stack.baseUrl}/p/${web.stack.projectId}${path}`);
    await page.waitForSelector('main h1');
  };
  return { page, go };
}

export const webLiveBench: Bench = {
  name: 'web-live',
  question: 'How quick is the web app for its reader?',
  async run(mode) {
    const web = await startWebApp();
    try {
      const reader = await openReader(web);
      const tables = [
        await showSingle(web, reader, mode),
        await showLoad(web, reader, mode),
        await scrollList(web, reader, mode),
      ];
      const { single, listed } = sizes[mode];
      const resultHash = createHash('sha256').update(`${single} seen, ${listed} listed`);
      return { tables, resultHash: resultHash.digest('hex') };
    } finally {
      await web.stop();
    }
  },
};

/** Events one by one, on a page that is drawn: the frame after the row is in the document counts. */
async function showSingle({ stack }: WebApp, { page, go }: OpenPage, mode: Mode): Promise<Table> {
  await openLive(page, go);
  // A text, because the names of a browser are not declared here.
  await page.evaluate(`window.shownMs = {};
    const look = () => {
      const now = performance.timeOrigin + performance.now();
      for (const cell of document.querySelectorAll('.live-table tbody td:nth-child(4)'))
        window.shownMs[cell.textContent] ??= now;
      requestAnimationFrame(look);
    };
    look();`);
  const acknowledgedMs = new Map<string, number>();
  for (let count = 0; count < sizes[mode].single; count++) {
    const distinctId = `single-${count}`;
    await batchCreate(stack, [newEvent({ distinctId })]);
    acknowledgedMs.set(distinctId, Date.now());
    await delay(pauseMs);
  }
  await untilHolds(page, `window.shownMs['single-${sizes[mode].single - 1}'] !== undefined`);
  const shownMs = await page.evaluate<Record<string, number>>('window.shownMs');
  const tookMs = [...acknowledgedMs].map(([id, sinceMs]) => (shownMs[id] ?? Number.NaN) - sinceMs);
  check(!tookMs.some(Number.isNaN), 'each event is on the page');
  const sorted = tookMs.sort((one, other) => one - other);
  const at = (share: number): string =>
    (sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))] ?? 0).toFixed(0);
  return {
    title: `${tookMs.length} events one by one: from the acknowledgement to the frame with the row; below 0 the row was first`,
    columns: ['live page', 'p50 ms', 'p95 ms', 'highest ms'],
    rows: [['one event', at(0.5), at(0.95), at(1)]],
  };
}

async function showLoad({ stack }: WebApp, { page, go }: OpenPage, mode: Mode): Promise<Table> {
  await openLive(page, go);
  const cdp = await page.context().newCDPSession(page);
  await cdp.send('Performance.enable');
  await page.evaluate(`window.frames1 = []; window.until = performance.now() + 1000; window.count = 0;
    const step = (now) => {
      window.count += 1;
      if (now >= window.until) { window.frames1.push(window.count); window.count = 0; window.until += 1000; }
      requestAnimationFrame(step);
    };
    requestAnimationFrame(step);`);
  let heapBytes = 0;
  const events = Array.from({ length: perSecond / requestsPerSecond }, () => 0);
  const sending: Promise<unknown>[] = [];
  const begunMs = Date.now();
  const requests = sizes[mode].loadSeconds * requestsPerSecond;
  for (let request = 0; request < requests; request++) {
    sending.push(
      batchCreate(
        stack,
        events.map(() => newEvent()),
      ),
    );
    if (request % requestsPerSecond === 0) heapBytes = Math.max(heapBytes, await heapOf(cdp));
    await delay(Math.max(0, begunMs + (request + 1) * (1_000 / requestsPerSecond) - Date.now()));
  }
  await Promise.all(sending);
  const frames = await page.evaluate<number[]>('window.frames1');
  // The stream gives a viewer 50 rows a second: a smoke run is over before there are 200.
  const rows = await page.locator('.live-table tbody tr').count();
  check(mode === 'smoke' ? rows > 0 && rows <= 200 : rows === 200, 'the page keeps 200 rows');
  const sorted = frames.sort((one, other) => one - other);
  return {
    title: `${perSecond} events/s for ${sizes[mode].loadSeconds} s: frames in each second, and the greatest heap`,
    columns: ['live page', 'frames/s, lowest', 'frames/s, median', 'heap MiB'],
    rows: [
      [
        '1,000 events/s',
        String(sorted[0] ?? 0),
        String(sorted[Math.floor(sorted.length / 2)] ?? 0),
        (heapBytes / bytesInMib).toFixed(0),
      ],
    ],
  };
}

async function heapOf(cdp: {
  send(method: 'Performance.getMetrics'): Promise<{ metrics: { name: string; value: number }[] }>;
}): Promise<number> {
  const { metrics } = await cdp.send('Performance.getMetrics');
  return metrics.find(({ name }) => name === 'JSHeapUsedSize')?.value ?? 0;
}

/** Adds what is missing to the events before, then scrolls until the service has no further page. */
async function scrollList({ stack }: WebApp, { page, go }: OpenPage, mode: Mode): Promise<Table> {
  const kind = 'listed';
  const { listed } = sizes[mode];
  for (let sent = 0; sent < listed; sent += 1_000) {
    await batchCreate(
      stack,
      Array.from({ length: 1_000 }, () => newEvent({ kind })),
    );
  }
  // Messages of a project are stored in the order in which they came.
  const { sessionId } = newEvent();
  await batchCreate(stack, [newEvent({ sessionId })]);
  const isListed = ({ events }: { events: unknown[] }): boolean => events.length > 0;
  await eventually(() => listActivity(stack, { sessionId }), isListed, 120_000);
  // Events of a program are those of a bot.
  await go(`/events?kind=${kind}&bots=1`);
  await page.waitForSelector('.table-row');
  const begunMs = Date.now();
  const mostRows = await page.evaluate<number>(`new Promise((done) => {
    let most = 0;
    const step = () => {
      most = Math.max(most, document.querySelectorAll('.table-row').length);
      const table = document.querySelector('.table');
      table.scrollTop = table.scrollHeight;
      if (document.querySelector('.events').textContent.includes('all of them')) done(most);
      else requestAnimationFrame(step);
    };
    step();
  })`);
  const text = await page.textContent('.events [role=status]');
  check(text?.startsWith(`${listed.toLocaleString('en-US')} events`) ?? false, 'all are listed');
  return {
    title: `${listed} events, scrolled to the end page by page`,
    columns: ['explorer', 'rows in the document', 'seconds to the end'],
    rows: [['scrolled', String(mostRows), ((Date.now() - begunMs) / 1_000).toFixed(1)]],
  };
}

async function openLive(page: Page, go: OpenPage['go']): Promise<void> {
  await go('/live');
  await page.waitForSelector('.lag[data-state=live]');
}
