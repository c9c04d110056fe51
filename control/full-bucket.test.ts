// A bucket that somebody fills: new records are refused and the operator hears of it, while everybody's keys can still
// be revoked.

import { Code } from '@connectrpc/connect';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type BucketName, buckets } from '../platform/broker/buckets.ts';
import { openBucket } from '../platform/broker/record-bucket.ts';
import { metricValue } from '../platform/metrics.ts';
import { ApiKeyKind } from '../proto/gen/dashboard/projects/v1/projects_pb.js';
import { useBroker } from '../test/harness/servers/use-servers.ts';
import {
  type AccountsProcess,
  bearer,
  newCustomer,
  startAccounts,
} from '../test/harness/services/accounts.ts';

const broker = useBroker();
let accounts: AccountsProcess;
let isDiskScarce = false;

beforeAll(async () => {
  accounts = await startAccounts({ brokerUrl: broker.url, isDiskScarce: () => isDiskScarce });
});

afterAll(() => accounts.close());

async function shrink(name: BucketName, maxBytes: number): Promise<void> {
  const manager = await accounts.connection.jetstreamManager();
  const { config } = await manager.streams.info(`KV_${name}`);
  await manager.streams.update(config.name, { ...config, max_bytes: maxBytes });
  await accounts.rooms.ask();
}

const count = (name: string, bucket: BucketName): Promise<number> =>
  metricValue(accounts.metrics, name, { bucket });

/** Writes as the operator does, past the room that is kept back, until the bucket is as full as this. */
async function fillTo(name: BucketName, share: number): Promise<void> {
  const bucket = await openBucket(accounts.connection, name, () => undefined);
  const manager = await accounts.connection.jetstreamManager();
  for (let made = 0; ; made++) {
    const { state, config } = await manager.streams.info(`KV_${name}`);
    if (state.bytes >= share * config.max_bytes) break;
    const filling = { schemaVersion: 1, text: 'x'.repeat(400) };
    await bucket.create(`filling-${share}-${made}`, filling);
  }
  await accounts.rooms.ask();
}

const full = { code: Code.ResourceExhausted };
const raw = { rawMessage: expect.stringContaining('no room for more') };

it('takes no new records, and every revocation, until it is empty again', async () => {
  const attacker = await newCustomer(accounts);
  const victim = await newCustomer(accounts);
  const as = accounts.as(bearer(victim, victim.projectId));
  const { apiKey } = await as.projects.createApiKey({ kind: ApiKeyKind.PUBLIC });
  const maxBytes = 64 * 1_024;
  await shrink('projects', maxBytes);
  expect(await count('millrace_bucket_alarms_total', 'projects')).toBe(0);

  const { orgId } = attacker;
  const fill = async (): Promise<never> => {
    for (;;) {
      const displayName = '😀'.repeat(150);
      await accounts.as(bearer(attacker)).projects.create({ orgId, displayName });
    }
  };
  await expect(fill()).rejects.toMatchObject({ ...full, ...raw });

  await fillTo('projects', 0.9);
  expect(await count('millrace_bucket_alarms_total', 'projects')).toBe(1);
  expect(await count('millrace_bucket_refusals_total', 'projects')).toBe(1);
  expect(await count('millrace_bucket_used_ratio', 'projects')).toBeGreaterThan(0.8);
  expect(accounts.rooms.isReady()).toBe(true);

  const kind = ApiKeyKind.PUBLIC;
  await expect(as.projects.createApiKey({ kind })).rejects.toMatchObject(full);
  await as.projects.revokeApiKey({ id: apiKey?.id ?? '' });
  expect((await as.projects.listApiKeys({})).apiKeys).toHaveLength(1);

  await shrink('projects', 2 * maxBytes);
  expect(await count('millrace_bucket_alarms_total', 'projects')).toBe(1);
  await as.projects.createApiKey({ kind });
});

it('takes no new records while the disk is nearly full, and every revocation', async () => {
  const customer = await newCustomer(accounts);
  const as = accounts.as(bearer(customer, customer.projectId));
  const kind = ApiKeyKind.PUBLIC;
  const { apiKey } = await as.projects.createApiKey({ kind });
  const tiles = [{ w: 1, h: 1, content: { case: 'markdown', value: 'text' } as const }];
  const { dashboard } = await as.dashboards.create({ displayName: 'Board', tiles });
  const dashboardId = dashboard?.id ?? '';
  const { share } = await as.dashboards.createShare({ dashboardId });
  isDiskScarce = true;
  try {
    await expect(as.projects.createApiKey({ kind })).rejects.toMatchObject({ ...full, ...raw });
    await expect(newCustomer(accounts)).rejects.toMatchObject(full);
    await as.projects.revokeApiKey({ id: apiKey?.id ?? '' });
    const more = as.dashboards.create({ displayName: 'More' });
    await expect(more).rejects.toMatchObject({ ...full, ...raw });
    await expect(as.dashboards.createShare({ dashboardId })).rejects.toMatchObject(full);
    await as.dashboards.revokeShare({ id: share?.id ?? '' });
    await as.dashboards.upsert({ id: dashboardId, revision: 1, tiles: [] });
    await as.dashboards.delete({ id: dashboardId });
    const { email } = customer;
    const session = await accounts.as().auth.signIn({ email, password: 'correct horse' });
    isDiskScarce = false;
    await accounts.as(bearer(session, customer.projectId)).projects.createApiKey({ kind });
  } finally {
    isDiskScarce = false;
  }
});

it('refuses sign-ups where sessions, customers or addresses have no room, and signs in who is in', async () => {
  const { email, refreshToken } = await newCustomer(accounts);
  for (const name of ['customers', 'owners', 'sessions'] as const) {
    await shrink(name, 64 * 1_024);
    await fillTo(name, 0.9);
    const refused = accounts.as().auth.signUp({
      email: `full-${name}@example.com`,
      password: 'correct horse',
    });
    await expect(refused, name).rejects.toMatchObject({ ...full, ...raw });
    if (name !== 'sessions') await shrink(name, 1_048_576);
  }
  const refreshed = await accounts.as().auth.refreshToken({ refreshToken });
  // A new session takes the place of the customer's oldest, which is over.
  const session = await accounts.as().auth.signIn({ email, password: 'correct horse' });
  await expect(
    accounts.as().auth.refreshToken({ refreshToken: refreshed.refreshToken }),
  ).rejects.toMatchObject({ code: Code.Unauthenticated });
  await accounts.as(bearer(session)).auth.signOut({ refreshToken: session.refreshToken });
  await expect(
    accounts.as().auth.refreshToken({ refreshToken: session.refreshToken }),
  ).rejects.toMatchObject({ code: Code.Unauthenticated });
});

it('makes the process unready where nothing more is certain to be written', async () => {
  expect(accounts.rooms.isReady()).toBe(true);
  await fillTo(buckets.sessions, 0.96);
  expect(accounts.rooms.isReady()).toBe(false);
  await shrink('sessions', 1_048_576);
  expect(accounts.rooms.isReady()).toBe(true);
});
