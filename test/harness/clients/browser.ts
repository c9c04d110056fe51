// A real browser for tests, where the machine has one: Chromium, which setup/prepare.mjs installs through apt. Also the
// page of another site, from which a test sends.

import { spawnSync } from 'node:child_process';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type Browser, chromium, type Page } from 'playwright-core';

/** The same names as in setup/prepare.mjs. */
const executable = ['chromium', 'chromium-browser', 'google-chrome']
  .map((name) => spawnSync('which', [name], { encoding: 'utf8' }).stdout?.trim() ?? '')
  .find((path) => path !== '');

/** For `runIf`: tests of a machine without a browser are skipped, and counted as skipped. */
export const hasBrowser = executable !== undefined;

/** Without Chromium's sandbox, which root cannot have: it opens nothing but pages of the test. */
export function startBrowser(args: string[] = []): Promise<Browser> {
  if (executable === undefined) throw new Error('this machine has no browser');
  return chromium.launch({ executablePath: executable, chromiumSandbox: false, args });
}

/** An empty page at `localhost`: for a service at 127.0.0.1 it is another site, not only another port. */
export async function servePage(): Promise<{ url: string; stop(): Promise<void> }> {
  const server = createServer((_, response) => {
    response.writeHead(200, { 'content-type': 'text/html' });
    response.end('<!doctype html><title>shop</title>');
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://localhost:${port}/`,
    async stop() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/** Leaves the page, which sends a beacon of each of these bodies while it is left. */
export async function leaveWithBeacons(
  page: Page,
  url: string,
  bodies: readonly { type: string; bytes: readonly number[] }[],
): Promise<void> {
  // A text, because the names of a browser are not declared here.
  await page.evaluate(`addEventListener('pagehide', () => {
    for (const { type, bytes } of ${JSON.stringify(bodies)}) {
      navigator.sendBeacon(${JSON.stringify(url)}, new Blob([new Uint8Array(bytes)], { type }));
    }
  })`);
  await page.goto('about:blank');
}
