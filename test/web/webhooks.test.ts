// A webhook from its form to a delivery that is sent once more, in a real browser, to a receiver on loopback.

import { Webhook } from 'standardwebhooks';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { hasBrowser } from '../harness/clients/browser.ts';
import { batchCreate, newEvent } from '../harness/clients/client.ts';
import { useWebApp } from '../harness/web/use-web-app.ts';
import { patienceMs } from '../harness/web/web-app.ts';
import { type Receiver, startReceiver } from '../harness/webhooks/receiver.ts';

const timeout = patienceMs;

describe.runIf(hasBrowser)('a webhook', () => {
  const app = useWebApp(() => ({ MILLRACE_WEBHOOK_ALLOW: '127.0.0.0/8' }));
  let receiver: Receiver;
  beforeAll(async () => {
    receiver = await startReceiver();
  });
  afterAll(() => receiver?.close());

  it('is made, shows its secret once, is tried, and delivers again from its log', async () => {
    const { page, faults } = await app.signedIn(`/p/${app.stack.projectId}/webhooks`);
    await page.getByRole('button', { name: 'New webhook' }).click();
    await page.getByLabel('Name', { exact: true }).fill('To the test');
    await page.getByLabel('Endpoint').fill(receiver.url('/200'));
    await page.getByLabel('When').selectOption({ label: 'A message was sent' });
    await page.getByLabel('Its id').fill('room-1');
    await page.getByRole('button', { name: 'Create webhook' }).click();
    const shown = page.getByRole('region', { name: 'Secret' });
    const secret = (await shown.textContent())?.trim() ?? '';
    expect(secret).toMatch(/^whsec_/);
    await page.getByRole('button', { name: 'I have copied it' }).click();

    await page.getByRole('gridcell', { name: 'To the test' }).click();
    await page.getByRole('heading', { level: 1, name: 'To the test' }).waitFor();
    expect(await page.content()).not.toContain(secret);
    await page.getByRole('button', { name: 'Send a test' }).click();
    await page.getByRole('button', { name: 'Send it' }).click();
    await expect.poll(() => receiver.received.length, { timeout }).toBe(1);
    const log = page.getByRole('grid', { name: 'Deliveries' });
    const delivered = log.getByRole('row', { name: 'delivered' });
    await delivered.first().click();
    await page.getByRole('button', { name: 'Redeliver' }).click();

    await expect.poll(() => receiver.received.length, { timeout }).toBe(2);
    await expect.poll(() => delivered.count(), { timeout }).toBe(2);
    const [first, second] = receiver.received;
    expect(second?.headers['webhook-id']).toBe(first?.headers['webhook-id']);
    for (const { body, headers } of receiver.received) {
      expect(() => new Webhook(secret).verify(body, signed(headers))).not.toThrow();
    }
    expect(faults).toEqual([]);
  });

  it('belongs to the organization, says so, and its log can be of one project', async () => {
    const { projectId } = app.stack;
    const { page, context, faults } = await app.signedIn(`/p/${projectId}/webhooks`);
    await page.getByText(/belong to the organization .*, not to one project/).waitFor();
    const ids = { room_id: 'room-1', message_id: 'm1' };
    const customProperties = Object.fromEntries(
      Object.entries(ids).map(([key, stringValue]) => [key, { stringValue }]),
    );
    const before = receiver.received.length;
    await batchCreate(app.stack, [newEvent({ kind: 'message_sent', customProperties })]);
    await expect.poll(() => receiver.received.length, { timeout }).toBe(before + 1);
    await page.getByRole('gridcell', { name: 'To the test' }).click();
    const rows = page
      .getByRole('grid', { name: 'Deliveries' })
      .getByRole('row', { name: 'message_sent' });
    await expect.poll(() => rows.count(), { timeout }).toBe(before + 1);
    await page.getByRole('combobox', { name: 'Project' }).selectOption(projectId);
    await expect.poll(() => rows.count(), { timeout }).toBe(1);
    expect(new URL(page.url()).searchParams.get('of')).toBe(projectId);
    expect(faults).toEqual([]);
    await context.close();
  });

  it('hears of kinds and properties that are chosen by keyboard on a phone, and are changed by mouse', async () => {
    const { page, context, faults } = await app.signedIn(`/p/${app.stack.projectId}/webhooks`);
    await page.setViewportSize({ width: 390, height: 844 });
    await page.getByRole('button', { name: 'New webhook', exact: true }).press('Enter');
    await page.getByLabel('Name', { exact: true }).fill('Large orders');
    await page.getByLabel('Endpoint').fill(receiver.url('/204'));
    await page.getByRole('button', { name: 'Any event' }).press('Enter');
    await page.getByRole('combobox', { name: 'Event' }).fill('purchase');
    await page.getByRole('combobox', { name: 'Event' }).press('Enter');
    await page.getByRole('button', { name: 'Remove: purchase' }).waitFor();
    await page.getByRole('button', { name: 'Filter', exact: true }).press('Enter');
    await page.getByRole('combobox', { name: 'Property' }).fill('amount');
    await page.getByLabel('Condition').selectOption({ label: 'is at least' });
    await page.getByRole('combobox', { name: 'Value' }).fill('100');
    await page.getByRole('button', { name: 'Apply' }).press('Enter');
    await page.getByRole('button', { name: 'amount is at least 100', exact: true }).waitFor();
    const overflow = await page
      .getByRole('dialog')
      .evaluate((dialog) => dialog.scrollWidth - dialog.clientWidth);
    expect(overflow).toBe(0);
    await page.getByRole('button', { name: 'Create webhook' }).press('Enter');
    await page.getByRole('button', { name: 'I have copied it' }).press('Enter');

    await page.setViewportSize({ width: 1440, height: 900 });
    await page.getByRole('gridcell', { name: 'Large orders' }).click();
    await page.getByText(/Purchase · where amount is at least 100/).waitFor();
    await page.getByRole('button', { name: 'More' }).click();
    await page.getByRole('menuitem', { name: 'Change it' }).click();
    await page.getByRole('button', { name: 'Remove: amount is at least 100' }).click();
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByText(/· Purchase$/).waitFor();
    const posts = () => receiver.received.filter(({ path }) => path === '/204');
    const amount = { amount: { doubleValue: 5 } };
    const send = () =>
      batchCreate(app.stack, [newEvent({ kind: 'purchase', customProperties: amount })]);
    await expect
      .poll(async () => (await send()) && posts().length, { timeout, interval: 500 })
      .toBeGreaterThan(0);
    expect(JSON.parse(posts()[0]?.body ?? '')).toMatchObject({
      eventType: 'event',
      data: { kind: 'purchase', amount: 5 },
    });
    expect(faults).toEqual([]);
    await context.close();
  });

  it('shows its log where an answer takes longer than until it is asked for again', async () => {
    const { page, context } = await app.signedIn('/account');
    await page.route('**/logs?*', async (route) => {
      await new Promise((done) => setTimeout(done, 3_500));
      await route.continue();
    });
    await page.goto(`${app.stack.baseUrl}/p/${app.stack.projectId}/webhooks`);
    await page.getByRole('gridcell', { name: 'To the test' }).click();
    const log = page.getByRole('grid', { name: 'Deliveries' });
    await log.getByRole('row', { name: 'delivered' }).first().waitFor();
    await context.close();
  });

  it('says why the secret of new ones could not be changed', async () => {
    const { page, context } = await app.signedIn('/account');
    const json = { message: 'not now' };
    await page.route('**/secret/rotate', (route) => route.fulfill({ status: 500, json }));
    await page.goto(`${app.stack.baseUrl}/p/${app.stack.projectId}/webhooks`);
    await page.getByRole('button', { name: 'New secret for new webhooks' }).click();
    await page.getByText('not now').waitFor();
    await context.close();
  });
});

/** The headers that a receiver checks. */
function signed(headers: NodeJS.Dict<string | string[]>): Record<string, string> {
  const names = ['webhook-id', 'webhook-timestamp', 'webhook-signature'];
  return Object.fromEntries(names.map((name) => [name, String(headers[name])]));
}
