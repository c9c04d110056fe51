// Who may send to a project and what is left out: an admin types it in the settings, and the service follows at once.

import { describe, expect, it } from 'vitest';
import { hasBrowser } from '../harness/clients/browser.ts';
import { eventually, newEvent } from '../harness/clients/client.ts';
import { useWebApp } from '../harness/web/use-web-app.ts';

describe.runIf(hasBrowser)('senders in the settings', () => {
  const app = useWebApp();

  it('are pages of the allowed origins, without what is excluded', async () => {
    const { context, openTab, faults } = await app.newReader();
    const page = await openTab('/');
    await page.getByRole('link', { name: 'Create an account' }).click();
    await page.getByLabel('E-mail').fill('senders@example.com');
    await page.getByLabel('Password').fill('correct horse battery');
    await page.getByLabel('Password').press('Enter');
    await page.getByRole('heading', { level: 1, name: 'Setup' }).waitFor();
    const [, project] = /\/p\/([^/?]+)/.exec(page.url()) ?? [];
    await page.goto(`${app.stack.baseUrl}/p/${project}/setup`);
    const key = (await page.locator('.setup-key').first().textContent()) ?? '';
    await page.goto(`${app.stack.baseUrl}/p/${project}/settings`);

    const origins = page.locator('section.card', { hasText: 'Origins whose pages may send' });
    await origins.getByRole('textbox').fill('not an origin');
    await origins.getByRole('button', { name: 'Save' }).click();
    await origins.getByText('must be an origin such as').waitFor();
    await origins.getByRole('textbox').fill('https://Shop.example/\n*.shop.example');
    await origins.getByRole('button', { name: 'Save' }).click();
    await page.getByText('Saved', { exact: true }).waitFor();
    await expect
      .poll(() => origins.getByRole('textbox').inputValue())
      .toBe('https://shop.example\n*.shop.example');
    const exclusions = page.locator('section.card', { hasText: 'Exclusions' });
    await exclusions.getByLabel('Paths').fill('/admin/*');
    const saved = page.waitForResponse((response) => response.url().endsWith('/Update'));
    await exclusions.getByRole('button', { name: 'Save' }).click();
    expect((await saved).status()).toBe(200);

    const send = async (origin: string) => {
      const $pathname = { stringValue: '/admin/x' };
      const response = await fetch(`${app.stack.baseUrl}/m`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', 'x-api-key': key, origin },
        body: JSON.stringify({ events: [newEvent(), newEvent({ autoProperties: { $pathname } })] }),
      });
      return response.json();
    };
    expect(await send('https://stranger.example')).toMatchObject({ code: 'permission_denied' });
    const answer = { accepted: 1, dropped: 1, droppedByReason: { excluded_path: 1 } };
    expect(await send('https://www.shop.example')).toEqual(answer);

    // The service's own page is none of the allowed origins, and shows all the same that events arrive.
    await page.goto(`${app.stack.baseUrl}/p/${project}/setup`);
    await page.getByRole('button', { name: 'Send a test event' }).click();
    await page.getByText(/^Accepted after/).waitFor();
    await page.goto(`${app.stack.baseUrl}/p/${project}/settings`);

    await page.getByRole('button', { name: 'New key' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Type').selectOption('read');
    await dialog.getByLabel('Last day').fill('2031-06-15');
    await dialog.getByRole('button', { name: 'Create key' }).click();
    const readKey = await page.getByText(/^prv_[0-9A-Za-z]{42}$/).textContent();
    await page.getByRole('dialog').getByRole('button', { name: 'I have copied it' }).click();
    await page.getByRole('row', { name: 'private reads' }).getByText('16 Jun 2031').waitFor();
    const ask = (path: string) =>
      fetch(`${app.stack.baseUrl}/${path}`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', 'x-api-key': readKey ?? '' },
        body: '{"events":[]}',
      });
    expect((await ask('sdk.events.v1.EventsService/BatchCreate')).status).toBe(403);
    // Exclusions are told within about a second, whether somebody looks or not.
    const health = async () =>
      (await ask('shared.activity.v1.ActivityService/IngestHealth')).text();
    await eventually(health, (answer) => answer.includes('excluded_path'));
    await page.goto(`${app.stack.baseUrl}/p/${project}/events?tab=refused`);
    await page.getByText('A page of another origin sent it').first().waitFor();
    await page.getByText('Events of pages with an excluded path').waitFor();
    // What is no origin, and the first try of the test event.
    expect(faults).toEqual([
      expect.stringContaining('400 (Bad Request)'),
      expect.stringContaining('403 (Forbidden)'),
    ]);
    await context.close();
  });
});
