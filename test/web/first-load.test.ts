// What a page asks for before its first figure, in a real browser: nothing waits for what it does not need.

import type { Page } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import { hasBrowser } from '../harness/clients/browser.ts';
import { batchCreate, newEvent, untilCounted } from '../harness/clients/client.ts';
import { useWebApp } from '../harness/web/use-web-app.ts';
import { patienceMs } from '../harness/web/web-app.ts';

const timeout = patienceMs;

describe.runIf(hasBrowser)('the first load of the overview', () => {
  const app = useWebApp();

  /** An empty tab of somebody who signed in before, and the paths that it asks for. */
  async function signedInBefore() {
    const reader = await app.signedIn('/account');
    const page = await reader.context.newPage();
    await reader.page.close();
    const asked: string[] = [];
    page.on('request', (request) => asked.push(new URL(request.url()).pathname));
    const times = (path: string) => asked.filter((one) => one.includes(path)).length;
    return { ...reader, page, times };
  }

  const firstFigure = (page: Page) => page.locator('.figure-tile b').first();

  it('asks for the session, its projects and the code of the page while that of the app is on its way, each once', async () => {
    await batchCreate(app.stack, [newEvent({ distinctId: 'ada' })]);
    await untilCounted(app.stack);
    const { page, context, faults, times } = await signedInBefore();
    let sendApp = (): void => {};
    const isSent = new Promise<void>((send) => {
      sendApp = send;
    });
    await page.route('**/assets/app-*.js', async (route) => {
      await isSent;
      await route.continue();
    });
    const { baseUrl, projectId } = app.stack;
    await page.goto(`${baseUrl}/p/${projectId}`, { waitUntil: 'commit' });
    const ofSession = '/public.auth.v1.AuthService/RefreshToken';
    for (const path of [ofSession, '/assets/overview-page-', '/assets/shared-', '/assets/app-'])
      await expect.poll(() => times(path), { timeout }).toBe(1);
    const ofReader = ['OrgsService/List', 'ProjectsService/List'];
    for (const path of ofReader) await expect.poll(() => times(path), { timeout }).toBe(1);
    sendApp();
    await firstFigure(page).waitFor();
    expect([...ofReader, ofSession, '/assets/app-'].map(times)).toEqual([1, 1, 1, 1]);
    expect(faults).toEqual([]);
    await context.close();
  });

  it('shows figures before anything else of the project is known', async () => {
    const { page, context } = await signedInBefore();
    const { baseUrl, projectId } = app.stack;
    // Never answered.
    await page.route('**/InsightsService/*', () => {});
    await page.goto(`${baseUrl}/p/${projectId}`, { waitUntil: 'commit' });
    await firstFigure(page).waitFor();
    await context.close();
  });

  it('of a stranger loads no code of the page, and leads to the sign-in', async () => {
    const { context } = await app.newReader();
    const page = await context.newPage();
    const asked: string[] = [];
    page.on('request', (request) => asked.push(new URL(request.url()).pathname));
    const { baseUrl, projectId } = app.stack;
    await page.goto(`${baseUrl}/p/${projectId}?range=30d`, { waitUntil: 'commit' });
    await page.waitForURL(`**/sign-in?to=${encodeURIComponent(`/p/${projectId}?range=30d`)}`);
    await page.getByRole('heading', { level: 1, name: 'Sign in' }).waitFor();
    expect(asked.filter((path) => /overview-page|RefreshToken/.test(path))).toEqual([]);
    await context.close();
  });
});
