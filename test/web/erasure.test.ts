// What an admin does on a person's page when that person asks what is held of them, or to be erased: by keyboard, in a
// real browser on the whole product.

import { readFileSync } from 'node:fs';
import { create, toBinary } from '@bufbuild/protobuf';
import { timestampFromMs } from '@bufbuild/protobuf/wkt';
import { describe, expect, it } from 'vitest';
import {
  ComplianceRequestStatus,
  GetDeletionRequestResponseSchema,
} from '../../proto/gen/shared/profiles/v1/profiles_pb.js';
import { hasBrowser } from '../harness/clients/browser.ts';
import { batchCreate, newEvent } from '../harness/clients/client.ts';
import { identify, profileOf } from '../harness/clients/profile-client.ts';
import { useWebApp } from '../harness/web/use-web-app.ts';
import { patienceMs } from '../harness/web/web-app.ts';

const timeout = patienceMs;
/** The answer of a request that was completed before. */
const openedAgain = toBinary(
  GetDeletionRequestResponseSchema,
  create(GetDeletionRequestResponseSchema, {
    status: ComplianceRequestStatus.PROCESSING,
    ...{ requestedAt: timestampFromMs(1_000), firstCompletedAt: timestampFromMs(2_000) },
  }),
);
/** An erasure waits for what is queued, and for the engine's deletions. */
const erasureMs = 400_000;

describe.runIf(hasBrowser)('in the browser', () => {
  const app = useWebApp();

  /** The address of a person's page, once all of it is stored. */
  async function person(externalId: string): Promise<string> {
    await batchCreate(app.stack, [newEvent({ distinctId: externalId })]);
    await identify(app.stack, { externalId, traits: { plan: 'pro' } });
    const find = () => profileOf(app.stack, externalId);
    await expect.poll(async () => (await find())?.activity.totalEvents, { timeout }).toBe('1');
    return `/p/${app.stack.projectId}/profiles/${(await find())?.id}`;
  }

  it('what is held of a person is taken away as a file', async () => {
    const { page, context, faults } = await app.signedIn(await person('grace'));
    const button = page.getByRole('button', { name: 'Export user data' });
    const [file] = await Promise.all([page.waitForEvent('download'), button.press('Enter')]);
    const lines = readFileSync(await file.path(), 'utf8')
      .trimEnd()
      .split('\n');
    expect(file.suggestedFilename()).toBe('grace-held.ndjson');
    expect(lines).toHaveLength(3);
    expect(JSON.parse(lines[1] ?? '')).toMatchObject({ events: [{ distinctId: 'grace' }] });
    expect(JSON.parse(lines[2] ?? '')).toMatchObject({ totals: { ids: '1', events: '1' } });
    expect(lines[0]).toContain('pro');
    await button.waitFor();
    expect(faults).toEqual([]);
    await context.close();
  });

  it('an export that fails leaves no file, and says why', async () => {
    const address = await person('linus');
    const { page, context } = await app.signedIn(`/p/${app.stack.projectId}/profiles`);
    const json = { code: 'internal', message: 'not now' };
    await page.route('**/GetDataSubject', (route) => route.fulfill({ status: 500, json }));
    await page.goto(new URL(address, app.stack.baseUrl).href, { waitUntil: 'commit' });
    await page.getByRole('button', { name: 'Export user data' }).press('Enter');
    await page.getByText('No file was kept: not now').waitFor();
    await page.getByRole('button', { name: 'Export user data' }).waitFor();
    await context.close();
  });

  it('a person is erased, and the address tells how far that is', async () => {
    const { page, context, faults } = await app.signedIn(await person('ada'));
    const ask = async (name: RegExp): Promise<void> => {
      await page.getByRole('button', { name: 'Remove', exact: true }).press('Enter');
      await page.getByRole('menuitem', { name }).press('Enter');
    };
    // Each says in the menu what it does.
    await ask(/^Delete user.*Events stay/);
    await page.getByRole('dialog', { name: 'Delete ada' }).press('Escape');
    await ask(/^Erase user data.*for good, events too/);
    const dialog = page.getByRole('dialog', { name: 'Erase ada' });
    await dialog.getByRole('button', { name: 'Cancel' }).press('Enter');
    await dialog.waitFor({ state: 'detached' });
    expect(await profileOf(app.stack, 'ada')).toBeDefined();
    await ask(/^Erase/);
    await dialog.getByRole('button', { name: 'Erase user data' }).press('Enter');
    await page.getByRole('heading', { level: 1, name: 'Erasure of a user' }).waitFor();
    const state = page.getByRole('region', { name: 'State of the request' });
    await state.getByText('completed', { exact: true }).waitFor({ timeout: erasureMs });
    expect(await profileOf(app.stack, 'ada')).toBeUndefined();
    await page.reload({ waitUntil: 'commit' });
    await state.getByText('completed', { exact: true }).waitFor();
    await state.getByText('Events erased').waitFor();
    await page.route('**/GetDeletionRequest', (route) =>
      route.fulfill({ contentType: 'application/proto', body: Buffer.from(openedAgain) }),
    );
    await page.reload({ waitUntil: 'commit' });
    await state.getByText('Rows that came late are deleted.').waitFor();
    await state.getByText('Ended first').waitFor();
    expect(faults).toEqual([]);
    await context.close();
  });

  it('a request that is not found, and one that could not be asked for, say so', async () => {
    const profile = `/p/${app.stack.projectId}/profiles/${'0'.repeat(32)}`;
    const { page, context } = await app.signedIn(`${profile}?erasure=nothing`);
    await page.getByText('There is nothing here.').waitFor();
    await page.getByRole('button', { name: 'Ask again' }).press('Enter');
    await page.getByText('There is nothing here.').waitFor();
    await page.getByRole('link', { name: 'All users' }).press('Enter');
    await page.getByRole('heading', { level: 1, name: 'Users' }).waitFor();
    await context.close();
  });
});
