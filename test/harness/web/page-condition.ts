// Waits for a condition in the scripts of a page. Playwright's own wait evaluates the condition as text within the
// page, unless it holds at once, and the pages' Content-Security-Policy forbids that.

import { setTimeout as delay } from 'node:timers/promises';
import type { Page } from 'playwright-core';

const maxWaitMs = 120_000;
const lookEveryMs = 20;

/** `condition` is an expression of JavaScript. Throws where it does not hold within two minutes. */
export async function untilHolds(page: Page, condition: string): Promise<void> {
  const endMs = performance.now() + maxWaitMs;
  while (!(await page.evaluate<boolean>(`Boolean(${condition})`))) {
    if (performance.now() > endMs) throw new Error(`it does not hold in the page: ${condition}`);
    await delay(lookEveryMs);
  }
}
