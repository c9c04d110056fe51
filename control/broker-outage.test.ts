// The accounts service while its broker stands still, dies, is empty or is not there.

import { Code } from '@connectrpc/connect';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { buckets } from '../platform/broker/buckets.ts';
import { connectBroker } from '../platform/broker/nats.ts';
import { ensureTopology } from '../platform/broker/topology.ts';
import { createLog } from '../platform/log.ts';
import { Role } from '../proto/gen/dashboard/orgs/v1/orgs_pb.js';
import { ApiKeyKind } from '../proto/gen/dashboard/projects/v1/projects_pb.js';
import { asOperator, startBroker } from '../test/harness/servers/broker.ts';
import type { ChildServer } from '../test/harness/servers/child-server.ts';
import {
  type AccountsProcess,
  bearer,
  newCustomer,
  startAccounts,
} from '../test/harness/services/accounts.ts';

const log = createLog('silent');
/** Longer than a busy machine takes to confirm what is asked for while the broker runs. */
const staleAfterMs = 10_000;
let broker: ChildServer;
let accounts: AccountsProcess;

beforeEach(async () => {
  broker = await startBroker();
  accounts = await startAccounts({
    brokerUrl: broker.url,
    control: { staleAfterMs },
    staleAfterMs,
  });
});

afterEach(async () => {
  broker.resume();
  await accounts.close();
  await broker.stop();
});

const codeOf = (call: Promise<unknown>): Promise<Code | 'ok'> =>
  call.then(
    () => 'ok',
    (error) => error.code,
  );

it('a broker that stands still: nobody gets in by records that may be out of date, until it goes on', async () => {
  const session = await newCustomer(accounts);
  const { orgId, projectId } = session;
  const me = accounts.as(bearer(session, projectId));
  const key = await me.projects.createApiKey({ kind: ApiKeyKind.PRIVATE });
  const orgKey = await me.orgs.createOrgKey({ orgId, role: Role.VIEWER });
  const withKey = async () => {
    const response = await fetch(`${accounts.baseUrl}/shared.profiles.v1.ProfilesService/Get`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-api-key': key.key },
      body: '{}',
    });
    return response.status;
  };
  expect(await withKey()).toBe(200);
  broker.pause();
  // Memory is still fresh: reads go on.
  expect(await codeOf(me.orgs.get({ orgId }))).toBe('ok');
  await expect.poll(() => codeOf(me.orgs.get({ orgId }))).toBe(Code.Unavailable);
  await expect.poll(withKey).toBe(503);
  expect(accounts.control.customerAccess.isOrgKey(orgKey.key)).toBe('unconfirmed');
  broker.resume();
  await expect.poll(() => codeOf(me.orgs.get({ orgId }))).toBe('ok');
  await expect.poll(withKey).toBe(200);
});

it('a broker that dies in mid-request: unavailable, in time, and nothing is half done', async () => {
  const session = await newCustomer(accounts);
  const { orgId } = session;
  const me = accounts.as(bearer(session));
  await broker.kill9();
  const codes = await Promise.all([
    codeOf(me.orgs.update({ orgId, displayName: 'Lost' })),
    codeOf(accounts.as().auth.signUp({ email: 'late@example.com', password: 'correct horse' })),
    codeOf(accounts.as().auth.refreshToken({ refreshToken: session.refreshToken })),
  ]);
  expect(codes).toEqual([Code.Unavailable, Code.Unavailable, Code.Unavailable]);
  await broker.restart();
  const again = () =>
    accounts.as().auth.signUp({ email: 'late@example.com', password: 'correct horse' });
  await expect.poll(() => codeOf(again()), { interval: 500 }).toBe('ok');
  await accounts.as().auth.refreshToken({ refreshToken: session.refreshToken });
  const update = () => me.orgs.update({ orgId, displayName: 'Found' });
  await expect.poll(() => codeOf(update()), { interval: 100 }).toBe('ok');
});

it('no start if the broker lost a bucket, or its customers', async () => {
  await newCustomer(accounts);
  await asOperator(broker, ({ streams }) => streams.purge(`KV_${buckets.customers}`));
  await expect(startAccounts({ brokerUrl: broker.url, dataDir: accounts.dataDir })).rejects.toThrow(
    'the broker has lost its customers',
  );
  await asOperator(broker, ({ streams }) => streams.delete(`KV_${buckets.organizations}`));
  const connection = await connectBroker(broker.url, log);
  await expect(
    ensureTopology(connection, { eventsMaxBytes: 16 * 1_048_576, shards: 1 }),
  ).rejects.toThrow(/KV_orgs/);
  await connection.close();
});

it('no broker at the start: the error is one sentence', async () => {
  await expect(connectBroker('nats://127.0.0.1:1', log, { firstConnectMs: 500 })).rejects.toThrow(
    'the broker at nats://127.0.0.1:1 cannot be used',
  );
});

it('two processes make 50 keys at once and none is lost', async () => {
  const other = await startAccounts({ brokerUrl: broker.url, dataDir: accounts.dataDir });
  const session = await newCustomer(accounts);
  const headers = bearer(session, session.projectId);
  await expect.poll(() => codeOf(other.as(headers).projects.get({}))).toBe('ok');
  const made = await Promise.all(
    Array.from({ length: 50 }, (_, index) =>
      (index % 2 === 0 ? accounts : other)
        .as(headers)
        .projects.createApiKey({ kind: ApiKeyKind.PRIVATE }),
    ),
  );
  // A list holds the other process's last change as soon as the broker has told of it.
  const missing = async (): Promise<unknown[]> => {
    const { apiKeys } = await accounts.as(headers).projects.listApiKeys({});
    const ids = new Set(apiKeys.map(({ id }) => id));
    return made.filter(({ apiKey }) => !ids.has(apiKey?.id ?? ''));
  };
  await expect.poll(missing).toEqual([]);
  await other.close();
});
