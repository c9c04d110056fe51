// How long a reader with a slow line waits for the first figure of the overview. This build's pages and those of
// another build (its `dist/web`) are opened in turns, by
// `node setup/run.mjs bench/harness/pages/first-figure.js --before DIR [--pairs N]`. Each opening finds an empty cache
// and the session of somebody who signed in before. One service answers both builds, and both are served alike, so that
// the ratio is that of the pages.

import { createServer, type IncomingMessage, request, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import type { BrowserContext, Page } from 'playwright-core';
import { BodyReceiver } from '../../../platform/http/bodies/received-body.ts';
import { RequestMemory } from '../../../platform/http/bodies/request-memory.ts';
import { createWebPages } from '../../../platform/http/pages/web-pages.ts';
import { batchCreate, newEvent, untilCounted } from '../../../test/harness/clients/client.ts';
import { root } from '../../../test/harness/source-tree.ts';
import { type Login, startWebApp } from '../../../test/harness/web/web-app.ts';
import { printTable } from '../../bench.ts';
import { spreadOf } from '../pairs.ts';

const { values } = parseArgs({
  options: {
    before: { type: 'string', default: join(root, 'dist', 'web') },
    pairs: { type: 'string', default: '7' },
  },
});

/** A weak mobile line: 50 kB/s, and 400 ms from a request to the first byte of its answer. */
const slowLine = {
  offline: false,
  latency: 400,
  downloadThroughput: 50_000,
  uploadThroughput: 50_000,
};
const events = 40;
const warmUps = 1;

/** Serves the pages of `folder`, and hands everything else on to the service as if it came from its own origin. */
async function serve(folder: string, service: string): Promise<{ url: string; stop(): void }> {
  const pages = createWebPages(folder);
  const bodies = new BodyReceiver(new RequestMemory());
  const handOn = (incoming: IncomingMessage, response: ServerResponse): void => {
    const headers = { ...incoming.headers, host: new URL(service).host, origin: service };
    const options = { method: incoming.method ?? 'GET', headers };
    const outgoing = request(service + (incoming.url ?? '/'), options, (answer) => {
      response.writeHead(answer.statusCode ?? 502, answer.headers);
      answer.pipe(response);
    });
    outgoing.on('error', () => response.destroy());
    response.on('close', () => outgoing.destroy());
    incoming.pipe(outgoing);
  };
  const server = createServer((incoming, response) => {
    const [path = '/', query = ''] = (incoming.url ?? '/').split('?');
    const isPage = pages?.(incoming, response, { path, query }, bodies);
    if (!isPage) handOn(incoming, response);
  });
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    stop() {
      server.closeAllConnections();
      server.close();
    },
  };
}

async function signIn(context: BrowserContext, url: string, login: Login): Promise<Page> {
  const page = await context.newPage();
  await page.goto(`${url}/sign-in?to=%2Faccount`);
  await page.getByLabel('E-mail').fill(login.email);
  await page.getByLabel('Password').fill(login.password);
  await page.getByLabel('Password').press('Enter');
  await page.waitForURL('**/account');
  return page;
}

/** Opens the address on the slow line; milliseconds from the navigation to the frame with the first figure. */
async function openSlowly(context: BrowserContext, address: string): Promise<number> {
  const page = await context.newPage();
  const line = await context.newCDPSession(page);
  await line.send('Network.enable');
  await line.send('Network.clearBrowserCache');
  await line.send('Network.emulateNetworkConditions', slowLine);
  await page.goto(address, { waitUntil: 'commit' });
  // A text, because the names of a browser are not declared here. Older pages showed a dash where no figure was yet.
  const tookMs = await page.evaluate<number>(`new Promise((done) => {
    const look = () => {
      if (/[0-9]/.test(document.querySelector('.figure-tile b')?.textContent)) done(performance.now());
      else requestAnimationFrame(look);
    };
    look();
  })`);
  await page.close();
  return tookMs;
}

const web = await startWebApp();
const sides = [
  { name: 'before', folder: values.before, tookMs: [] as number[] },
  { name: 'this build', folder: join(root, 'dist', 'web'), tookMs: [] as number[] },
];
try {
  await batchCreate(
    web.stack,
    Array.from({ length: events }, (_, index) => newEvent({ distinctId: `v${index}` })),
  );
  await untilCounted(web.stack);
  const opened = await Promise.all(
    sides.map(async (side) => {
      const served = await serve(side.folder, web.stack.baseUrl);
      const { context } = await web.newReader();
      await (await signIn(context, served.url, web.admin)).close();
      return { ...side, served, context };
    }),
  );
  for (let pair = 0; pair < warmUps + Number(values.pairs); pair++) {
    for (const { context, served, tookMs } of pair % 2 ? opened.toReversed() : opened) {
      const ms = await openSlowly(context, `${served.url}/p/${web.stack.projectId}`);
      if (pair >= warmUps) tookMs.push(ms);
    }
  }
  for (const { served } of opened) served.stop();
  const [before, now] = sides.map(({ tookMs }) => tookMs);
  const ratios = (now ?? []).map((ms, index) => ms / (before?.[index] ?? Number.NaN));
  const rows = sides.map(({ name, tookMs }) => [name, ...tookMs.map((ms) => ms.toFixed(0))]);
  rows.push(['ratio', ...ratios.map((ratio) => ratio.toFixed(2))]);
  const title = `First figure of the overview on a slow line, ms: median ratio ${spreadOf(ratios).median.toFixed(2)}`;
  const columns = ['pages', ...ratios.map((_, index) => `pair ${index + 1}`)];
  process.stdout.write(`${printTable({ title, columns, rows })}\n`);
} finally {
  await web.stop();
}
