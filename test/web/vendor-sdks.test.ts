// The SDKs of other vendors in the pages: a project switches one on, and the setup page has its line.

import { describe, expect, it } from 'vitest';
import { hasBrowser } from '../harness/clients/browser.ts';
import { useWebApp } from '../harness/web/use-web-app.ts';

describe.runIf(hasBrowser)('SDKs of other vendors in the browser', () => {
  const app = useWebApp();

  it('are switched on in the settings, and have a tab with the project’s key', async () => {
    const { context, openTab, faults } = await app.newReader();
    const page = await openTab('/');
    await page.getByRole('link', { name: 'Create an account' }).click();
    await page.getByLabel('E-mail').fill('switcher@example.com');
    await page.getByLabel('Password').fill('correct horse battery');
    await page.getByLabel('Password').press('Enter');
    await page.getByRole('heading', { level: 1, name: 'Setup' }).waitFor();
    const [, project] = /\/p\/([^/?]+)/.exec(page.url()) ?? [];
    await page.goto(`${app.stack.baseUrl}/p/${project}/setup?tab=posthog`);
    const line = page.getByText('posthog.init(');
    await line.waitFor();
    const key = await page.locator('.setup-key').first().textContent();
    expect(await line.textContent()).toContain(key);
    await page.getByText('does not take requests of PostHog yet').waitFor();
    await page.getByRole('link', { name: 'its settings' }).click();
    await page.getByRole('checkbox', { name: 'PostHog' }).check();
    const card = page.locator('section.card', { hasText: 'SDKs of other vendors' });
    await card.getByRole('button', { name: 'Save' }).click();
    await page.getByText('Saved', { exact: true }).waitFor();
    await page.goto(`${app.stack.baseUrl}/p/${project}/setup?tab=posthog`);
    await line.waitFor();
    expect(await page.getByText('does not take requests').count()).toBe(0);
    const sent = await fetch(`${app.stack.baseUrl}/e/`, {
      method: 'POST',
      body: JSON.stringify({
        api_key: key,
        batch: [{ event: 'signed up', properties: { distinct_id: 'ada' } }],
      }),
    });
    expect(sent.status).toBe(200);
    await page.locator('li[data-state=done]', { hasText: 'An event stored' }).waitFor();
    expect(faults).toEqual([]);
    await context.close();
  });
});
