// A reader who has a keyboard and nothing else.

import type { Locator, Page } from 'playwright-core';
import { patienceMs } from './web-app.ts';

const maxStops = 80;

/** Presses Tab until the focus is there; throws where it never comes there. */
export async function tabTo(page: Page, target: Locator): Promise<void> {
  await target.waitFor({ timeout: patienceMs });
  const focused = target.and(page.locator(':focus'));
  for (let stop = 0; stop < maxStops; stop++) {
    if ((await focused.count()) > 0) return;
    await page.keyboard.press('Tab');
  }
  throw new Error(`Tab does not lead to ${target}`);
}

/** Waits until the focus is there: what is typed sooner goes elsewhere. */
export async function untilFocused(page: Page, target: Locator): Promise<void> {
  await target.and(page.locator(':focus')).waitFor();
}

/** Waits until fields that appeared have taken the focus, if they do. */
export async function untilSettled(page: Page): Promise<void> {
  await page.evaluate(`new Promise((done) =>
    requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(done))))`);
}

/** Goes to a field and types. */
export async function typeInto(page: Page, label: string, text: string): Promise<void> {
  await tabTo(page, page.getByLabel(label, { exact: true }));
  await page.keyboard.type(text);
}

/** Goes to a button or a link and presses Enter. */
export async function press(page: Page, role: 'button' | 'link', name: string): Promise<void> {
  await tabTo(page, page.getByRole(role, { name, exact: true }));
  await page.keyboard.press('Enter');
}
