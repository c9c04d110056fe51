// Watch on a real broker behind the product's access checks: it ends with its credential, and its totals go on.

import { timestampFromMs } from '@bufbuild/protobuf/wkt';
import { Code, ConnectError, createClient } from '@connectrpc/connect';
import { createConnectTransport } from '@connectrpc/connect-node';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  checkAccessFirst,
  createAuthInterceptor,
  credentialEndOf,
  principalOf,
} from '../../platform/access/auth-interceptor.ts';
import { createAuthenticate } from '../../platform/access/authenticate.ts';
import { ProjectDirectory } from '../../platform/access/projects.ts';
import { connectBroker } from '../../platform/broker/nats.ts';
import { oneGroup } from '../../platform/clickhouse/groups.ts';
import { startHttp } from '../../platform/http/http.ts';
import { createLog } from '../../platform/log.ts';
import { Role } from '../../proto/gen/dashboard/orgs/v1/orgs_pb.js';
import { ApiKeyKind, ApiKeyScope } from '../../proto/gen/dashboard/projects/v1/projects_pb.js';
import { ProfilesService } from '../../proto/gen/shared/profiles/v1/profiles_pb.js';
import { watch } from '../../test/harness/clients/watch-client.ts';
import { useBroker } from '../../test/harness/servers/use-servers.ts';
import {
  type AccountsProcess,
  bearer,
  newCustomer,
  startAccounts,
  tokenIn,
} from '../../test/harness/services/accounts.ts';
import { registerQuery } from '../routes.ts';
import { type LiveViews, openLiveViews } from './live-views.ts';

const broker = useBroker();
const log = createLog('silent');
let aheadMs = 0;
const clock = { nowMs: () => Date.now() + aheadMs };
let accounts: AccountsProcess;
let live: LiveViews;
let connections = 0;
let http: Awaited<ReturnType<typeof startHttp>>;
let baseUrl: string;

beforeAll(async () => {
  accounts = await startAccounts({ brokerUrl: broker.url, clock });
  const { connection, control, projects } = accounts;
  const authenticate = createAuthenticate(
    new ProjectDirectory(projects, { clock }),
    control.customerAccess,
  );
  live = openLiveViews({
    nats: connection,
    connect() {
      connections++;
      return connectBroker(broker.url, log);
    },
    shardOf: () => 0,
    clock,
  });
  http = await startHttp({
    ...{ host: '127.0.0.1', port: 0, nodeHttpRoutes: [], serviceAliases: new Map() },
    connect: {
      routes: (router) => {
        registerQuery(router, {
          ...{ live, clock, log, readerOf: principalOf, credentialEndOf, readsPerSecond: 0 },
          // A list that never gets its first row.
          clickhouse: oneGroup({ select: () => new Promise(() => {}), isReady: async () => true }),
          completeUntilMs: async () => undefined,
          timezoneOf: () => 'UTC',
          maxReadMs: 60_000,
        });
        checkAccessFirst(router, authenticate);
      },
      interceptors: [createAuthInterceptor(authenticate)],
    },
  });
  baseUrl = `http://127.0.0.1:${http.port}`;
});
afterAll(async () => {
  await live?.close();
  await http?.close(0);
  await accounts?.close();
});

async function codeOf(ended: Promise<unknown>): Promise<Code> {
  return ConnectError.from(await ended).code;
}

describe('a stream ends unauthenticated', () => {
  it('with its key', async () => {
    const owner = await newCustomer(accounts);
    const { projects } = accounts.as(bearer(owner, owner.projectId));
    const made = await projects.createApiKey({ kind: ApiKeyKind.PRIVATE });
    const headers = { 'x-api-key': made.key };
    const viewer = await watch(baseUrl, headers);
    const transport = createConnectTransport({ baseUrl, httpVersion: '1.1' });
    const list = createClient(ProfilesService, transport).list({}, { headers });
    const listed = (async () => {
      for await (const _ of list) return undefined;
      return undefined;
    })().catch((error: unknown) => error);
    await projects.revokeApiKey({ id: made.apiKey?.id ?? '' });
    expect(await codeOf(viewer.ended)).toBe(Code.Unauthenticated);
    expect(await codeOf(listed)).toBe(Code.Unauthenticated);
  });

  it('when its key expires', async () => {
    const owner = await newCustomer(accounts);
    const { projects } = accounts.as(bearer(owner, owner.projectId));
    const made = await projects.createApiKey({
      ...{ kind: ApiKeyKind.PRIVATE, scope: ApiKeyScope.READ },
      expireTime: timestampFromMs(clock.nowMs() + 60_000),
    });
    const viewer = await watch(baseUrl, { 'x-api-key': made.key });
    const seen = viewer.totals.length;
    await viewer.until(() => viewer.totals.length > seen);
    aheadMs += 60_000;
    expect(await codeOf(viewer.ended)).toBe(Code.Unauthenticated);
    const late = watch(baseUrl, { 'x-api-key': made.key }).catch((error) => error);
    expect(await codeOf(late)).toBe(Code.Unauthenticated);
  });

  it('with its session', async () => {
    const customer = await newCustomer(accounts);
    const viewer = await watch(baseUrl, bearer(customer, customer.projectId));
    await accounts.as().auth.signOut({ refreshToken: customer.refreshToken });
    expect(await codeOf(viewer.ended)).toBe(Code.Unauthenticated);
  });

  it('with its membership, and others go on', async () => {
    const owner = await newCustomer(accounts);
    const { orgId, projectId } = owner;
    const { orgs } = accounts.as(bearer(owner, projectId));
    const member = await newCustomer(accounts);
    await orgs.inviteMember({ orgId, email: member.email, role: Role.VIEWER });
    const token = tokenIn(await accounts.mailsTo(member.email));
    await accounts.as(bearer(member)).orgs.acceptInvite({ token });
    const own = await watch(baseUrl, bearer(owner, projectId));
    const viewer = await watch(baseUrl, bearer(member, projectId));
    await orgs.removeMember({ orgId, customerId: member.customer?.id ?? '' });
    expect(await codeOf(viewer.ended)).toBe(Code.Unauthenticated);
    const seen = own.totals.length;
    await own.until(() => own.totals.length > seen);
    own.close();
  });

  it('when its token expires', async () => {
    const customer = await newCustomer(accounts);
    const viewer = await watch(baseUrl, bearer(customer, customer.projectId));
    aheadMs += 1_000 * (customer.expiresIn + 6);
    expect(await codeOf(viewer.ended)).toBe(Code.Unauthenticated);
  });
});

it('ends unavailable with its process, and no other begins', async () => {
  const customer = await newCustomer(accounts);
  const viewer = await watch(baseUrl, bearer(customer, customer.projectId));
  const before = connections;
  await live.close();
  expect(await codeOf(viewer.ended)).toBe(Code.Unavailable);
  const late = watch(baseUrl, bearer(customer, customer.projectId)).catch((error) => error);
  expect(await codeOf(late)).toBe(Code.Unavailable);
  expect(connections).toBe(before);
});
