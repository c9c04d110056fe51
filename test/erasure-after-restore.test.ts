// A person is erased and a project deleted after a backup was taken, and the backup is restored: the log of erasures,
// which names nobody, has both done once more.

import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { admin } from './harness/backups/admin-run.ts';
import { batchCreate, call, eventually, newEvent, rows } from './harness/clients/client.ts';
import { type Customer, newCustomer } from './harness/clients/new-customer.ts';
import { identify, profileOf } from './harness/clients/profile-client.ts';
import { removeFolder } from './harness/remove-folder.ts';
import { type Stack, startStack } from './harness/servers/stack.ts';

const directory = mkdtempSync(join(tmpdir(), 'millrace-restored-'));
const inDirectory = (name: string): string => join(directory, name);
const [from, to, place, log] = [
  ...[inDirectory('from'), inDirectory('to')],
  ...[inDirectory('backup'), inDirectory('log')],
] as const;
let stack: Stack | undefined;
afterAll(async () => {
  await stack?.stop();
  await removeFolder(directory);
});

const dora = 'dora-k5t1';
const [ada, anonymousAda, eve, bob] = ['ada-x7k2', 'anon-m3v8', 'eve-h2w9', 'bob-p6t4'];
const erasureMs = 400_000;

async function eventsOf(running: Stack): Promise<Record<string, number>> {
  const found = await rows<{ id: string; n: number }>(
    running.clickhouseUrl,
    'SELECT distinct_id AS id, count() AS n FROM events GROUP BY id ORDER BY id',
  );
  return Object.fromEntries(found.map(({ id, n }) => [id, n]));
}

const ask = (running: Stack, method: string, message: object) =>
  call(
    running.baseUrl,
    `/shared.profiles.v1.ProfilesService/${method}`,
    running.privateKey,
    message,
  );

async function erase(running: Stack, externalId: string): Promise<string> {
  const { body } = await ask(running, 'DeleteDataSubject', { externalId });
  const requestId = String(body['requestId']);
  await untilErased(running, requestId);
  return requestId;
}

async function untilErased(running: Stack, requestId: string): Promise<void> {
  await eventually(
    async () => (await ask(running, 'GetDeletionRequest', { requestId })).body,
    ({ status }) => status === 'COMPLIANCE_REQUEST_STATUS_COMPLETED',
    erasureMs,
  );
}

const projects = 'dashboard.projects.v1.ProjectsService';

/** Returns the project's id once nothing of it is left. */
async function deleteProjectOf(customer: Customer): Promise<string> {
  const [own] = (await customer.call(`${projects}/List`, {})).body['projects'] as Project[];
  const { id = '', orgId = '', displayName = '' } = own ?? {};
  const asked = await customer.call(`${projects}/Delete`, { id, orgId, displayName });
  expect(asked.status).toBe(200);
  await eventually(
    async () => JSON.stringify((await customer.call(`${projects}/ListDeletions`, { orgId })).body),
    (text) => text.includes('completeTime'),
    erasureMs,
  );
  return id;
}

interface Project {
  id: string;
  orgId: string;
  displayName: string;
}

it('erases again what a restored backup has of erased persons', {
  timeout: 1_800_000,
}, async () => {
  stack = await startStack({ dataDir: from });
  const events = [ada, anonymousAda, eve, bob].map((distinctId) => newEvent({ distinctId }));
  expect((await batchCreate(stack, events)).status).toBe(200);
  const customer = await newCustomer(stack.baseUrl);
  const { key } = customer;
  const hers = await batchCreate(stack, [newEvent({ distinctId: dora })], { key });
  expect(hers.status).toBe(200);
  await identify(stack, { externalId: ada, anonymousId: anonymousAda, traits: { plan: 'pro' } });
  const running = stack;
  await eventually(
    () => profileOf(running, ada),
    (found) => found?.merged?.length === 1,
  );
  await eventually(
    () => eventsOf(running),
    (found) => Object.keys(found).length === 5,
  );
  const before = await erase(stack, eve);
  expect((await admin(from, ['backup', place])).error).toBe('');
  const after = await erase(stack, ada);
  const deleted = await deleteProjectOf(customer);
  expect(await eventsOf(running)).toEqual({ [bob]: 1 });
  const listed = await admin(from, ['erasures']);
  expect(listed.error).toBe('');
  const lines = listed.out.trimEnd().split('\n');
  expect(lines.map((line) => JSON.parse(line).requestId)).toEqual([before, after, deleted]);
  for (const name of [ada, anonymousAda, eve, dora, customer.email])
    expect(listed.out).not.toContain(name);
  writeFileSync(log, listed.out);
  await stack.stop();
  stack = undefined;

  expect((await admin(to, ['restore', place])).error).toBe('');
  const restored = await startStack({ dataDir: to });
  stack = restored;
  expect(await eventsOf(restored)).toEqual({ [ada]: 1, [anonymousAda]: 1, [bob]: 1, [dora]: 1 });
  expect((await batchCreate(restored, [newEvent({ distinctId: dora })], { key })).status).toBe(200);
  const repeated = await admin(to, ['repeat-erasures', log]);
  expect(repeated.error).toBe('');
  expect(repeated.out).toMatch(/^asked for once more: 2, known before: 1;/);
  await untilErased(restored, after);
  await eventually(
    () => eventsOf(restored),
    (found) => Object.keys(found).join() === bob,
    erasureMs,
  );
  expect((await batchCreate(restored, [newEvent({})], { key })).status).toBe(401);
  expect(await profileOf(restored, ada)).toBeUndefined();
  const twice = await admin(to, ['repeat-erasures', log]);
  expect(twice.out).toMatch(/^asked for once more: 0, known before: 3;/);
  expect(await admin(to, ['check'])).toMatchObject({ code: 0, error: '' });

  writeFileSync(log, `${lines[0]}\n{"requestId": "ada"}\n`);
  expect(await admin(to, ['repeat-erasures', log])).toMatchObject({
    code: 1,
    error: 'millrace: line 2 is none that the command erasures has printed\n',
  });
});
