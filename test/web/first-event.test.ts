// From nothing to the first event, by keyboard alone, and what a page shows while events come.

import type { Page } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import { hasBrowser } from '../harness/clients/browser.ts';
import { batchCreate, call, newEvent } from '../harness/clients/client.ts';
import { signalProcess } from '../harness/servers/stack.ts';
import { press, typeInto } from '../harness/web/keyboard.ts';
import { useWebApp } from '../harness/web/use-web-app.ts';
import { patienceMs } from '../harness/web/web-app.ts';

const timeout = patienceMs;
const tabs = 12;

describe.runIf(hasBrowser)('events in the browser', () => {
  const app = useWebApp();

  /** A row of the live page. */
  const row = (page: Page, kind: string, stage: string) =>
    page.locator(`tr[data-stage=${stage}]`, { has: page.getByTitle(kind, { exact: true }) });

  /** The badge of every page says so: a stream tells what comes from then on. */
  const streamIsOpen = (page: Page) => page.locator('.lag[data-state=live]').waitFor();

  /** A new account, and the setup page of its project: by keyboard. */
  async function openSetup(page: Page, email: string): Promise<void> {
    await press(page, 'link', 'Create an account');
    await page.getByRole('heading', { level: 1, name: 'Create an account' }).waitFor();
    await typeInto(page, 'E-mail', email);
    await typeInto(page, 'Password', 'correct horse battery');
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { level: 1, name: 'Setup' }).waitFor();
    await step(page, 'waiting', 'An event stored').waitFor();
    await streamIsOpen(page);
  }

  const step = (page: Page, state: string, name: string) =>
    page.locator(`li[data-state=${state}]`, { hasText: name });

  it('are seen by a newcomer who has a keyboard alone, and so is a refused one with its rule', async () => {
    const { context, openTab, faults } = await app.newReader();
    const page = await openTab('/');
    await openSetup(page, 'newcomer@example.com');
    const publicKey = await page.locator('.setup-key').first().textContent();

    const project = { baseUrl: app.stack.baseUrl, publicKey: publicKey ?? '' };
    const refused = await batchCreate(project, [newEvent({ kind: 'no kind!' })]);
    expect(refused.status).toBe(400);
    const rules = page.getByRole('alert').filter({ hasText: 'Refused, with the rule' });
    await rules.locator('code', { hasText: 'kind_pattern' }).waitFor();

    const accepted = await batchCreate(project, [newEvent({ kind: 'first_of_all' })]);
    expect(accepted.status).toBe(200);
    const stored = step(page, 'done', 'An event stored');
    await stored.waitFor();
    expect(await stored.textContent()).toMatch(/First of all, /);
    const list = await page.locator('.setup-checklist ol').textContent();
    expect(list?.match(/First of all/gi)).toHaveLength(1);
    await step(page, 'done', 'An event accepted').waitFor();

    await step(page, 'waiting', 'A user identified').waitFor();
    const identify = '/sdk.profiles.v1.ProfilesSDKService/Identify';
    await call(project.baseUrl, identify, project.publicKey, { externalId: 'ada' });
    await step(page, 'done', 'A user identified').waitFor();
    expect(faults).toEqual([]);
    await context.close();
  });

  it('of a further project begin in the menu of projects', async () => {
    const { page, context, faults } = await app.signedIn(`/p/${app.stack.projectId}/live`);
    const choose = async (): Promise<void> => {
      await page.getByRole('button', { name: /^Project: / }).press('Enter');
      await page.getByRole('menuitem', { name: 'New project' }).press('Enter');
      await page.getByRole('dialog', { name: 'New project' }).waitFor();
    };
    await choose();
    // Closed, it is asked for no longer, and can be asked for once more from the list.
    await page.getByRole('dialog').getByRole('button', { name: 'Close' }).press('Enter');
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    await page.getByRole('heading', { level: 1, name: 'Projects' }).waitFor();
    await choose();
    await page.getByLabel('Name', { exact: true }).fill('A further one');
    await page.getByRole('button', { name: 'Create project' }).press('Enter');
    await step(page, 'waiting', 'An event stored').waitFor();
    await page.getByRole('button', { name: 'Project: A further one' }).waitFor();
    expect(faults).toEqual([]);
    await context.close();
  });

  it('that do not come after a preflight are told by it, and what to look for', async () => {
    const { context, openTab, faults } = await app.newReader();
    await context.clock.install();
    const page = await openTab('/');
    const preflight = () => {
      const headers = { origin: 'https://shop.example', 'access-control-request-method': 'POST' };
      const path = '/sdk.events.v1.EventsService/BatchCreate';
      return fetch(app.stack.baseUrl + path, { method: 'OPTIONS', headers });
    };
    const healthAnswer = () => page.waitForResponse((answer) => /IngestHealth/.test(answer.url()));
    // One of before the page was opened tells nothing: once there is a second answer, the first is shown.
    await preflight();
    await Promise.all([healthAnswer(), openSetup(page, 'preflight@example.com')]);
    await Promise.all([healthAnswer(), context.clock.fastForward('00:05')]);
    await step(page, 'waiting', 'No request yet').waitFor();

    await preflight();
    await step(page, 'waiting', 'A browser asked whether it may send').waitFor();
    await context.clock.fastForward('00:20');
    const likeliest = page.locator('.setup-faults li').first();
    await expect.poll(() => likeliest.textContent(), { timeout }).toContain('Only a preflight');
    expect(faults).toEqual([]);
    await context.close();
  });

  it('go from arriving to stored, row by row', async () => {
    const { page, context } = await app.signedIn(`/p/${app.stack.projectId}/live`);
    await page.getByRole('heading', { level: 1, name: 'Live' }).waitFor();
    await streamIsOpen(page);
    // The engine stores nothing while it stands still.
    signalProcess(app.stack.pids().engine, 'SIGSTOP');
    try {
      await batchCreate(app.stack, [newEvent({ kind: 'slowly' })]);
      await row(page, 'slowly', 'arriving').waitFor();
    } finally {
      signalProcess(app.stack.pids().engine, 'SIGCONT');
    }
    await row(page, 'slowly', 'stored').waitFor();
    expect(await page.locator('tr', { hasText: 'slowly' }).count()).toBe(1);
    await context.close();
  });

  it('are no figures of before while the stream is silent, and come to a tab whose reader is asleep', async () => {
    const reader = await app.signedIn(`/p/${app.stack.projectId}/live?wall=1`);
    await streamIsOpen(reader.page);
    const second = await reader.openTab(`/p/${app.stack.projectId}/live?wall=1`);
    await streamIsOpen(second);
    const events = (page: Page) => page.locator('.live-figure strong').first();
    await expect.poll(() => events(second).textContent(), { timeout }).toMatch(/^\d/);
    const reading = await reader.context.newCDPSession(reader.page);
    await reading.send('Debugger.enable');
    await reading.send('Debugger.pause');
    await second
      .locator('.live-figure', { hasText: /–.*Not live/ })
      .first()
      .waitFor();
    await streamIsOpen(second);
    await batchCreate(app.stack, [newEvent({ kind: 'to_who_looks' })]);
    await row(second, 'to_who_looks', 'stored').waitFor();
    await reader.context.close();
  });

  it(`come to ${tabs} tabs over one stream`, async () => {
    const live = `/p/${app.stack.projectId}/live`;
    const reader = await app.signedIn('/account');
    let open = 0;
    const isWatch = (request: { url(): string }): boolean => request.url().endsWith('/Watch');
    reader.context.on('request', (request) => {
      if (isWatch(request)) open++;
    });
    const onEnd = (request: { url(): string }): void => {
      if (isWatch(request)) open--;
    };
    reader.context.on('requestfinished', onEnd);
    reader.context.on('requestfailed', onEnd);
    const pages: Page[] = [];
    for (let tab = 0; tab < tabs; tab++) pages.push(await reader.openTab(live));
    await Promise.all(pages.map(streamIsOpen));
    await expect.poll(() => open, { timeout }).toBe(1);
    await batchCreate(app.stack, [newEvent({ kind: 'to_all_tabs' })]);
    await Promise.all(pages.map((page) => row(page, 'to_all_tabs', 'stored').waitFor()));
    await expect.poll(() => open, { timeout }).toBe(1);
    await reader.context.close();
  });
});
