// What no page may do, remembered while it happens.

import type { BrowserContext, Page } from 'playwright-core';

/** How far the content has moved by itself since the page was opened, as the browser scores it: 1 is the window. */
export async function layoutShift(page: Page): Promise<number> {
  return Number(await page.evaluate('globalThis.layoutShift'));
}

/** On a busy machine the service says so, and the page asks again by itself: a test waits for what comes of it. */
const busyAnswer = /the server responded with a status of 429 /;

/** The list grows while pages of the context run. */
export async function rememberFaults(context: BrowserContext, origin: string): Promise<string[]> {
  const faults: string[] = [];
  // A text, because the names of a browser are not declared here.
  await context.addInitScript(`addEventListener('securitypolicyviolation', (event) => {
    console.error('policy: ' + event.violatedDirective + ' ' + event.blockedURI + ' ' + event.sample);
  });
  globalThis.layoutShift = 0;
  new PerformanceObserver((list) => {
    for (const { value, hadRecentInput } of list.getEntries())
      if (!hadRecentInput) globalThis.layoutShift += value;
  }).observe({ type: 'layout-shift', buffered: true })`);
  context.on('request', (request) => {
    const url = request.url();
    const isOwn = url.startsWith(`${origin}/`) || /^(?:data|blob):/.test(url);
    if (!isOwn) faults.push(`a request to ${url}`);
  });
  context.on('console', (message) => {
    const isFault = message.type() === 'error' || message.type() === 'warning';
    if (isFault && !busyAnswer.test(message.text()))
      faults.push(`${message.text()} (${message.location().url})`);
  });
  context.on('weberror', (error) => faults.push(String(error.error())));
  return faults;
}
