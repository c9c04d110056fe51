// Shares of dashboards over HTTP on a real broker: what is stored and what is refused. Showing a shared dashboard is
// tested beside query/boards/shared/render-shared.ts.

import { timestampFromMs } from '@bufbuild/protobuf/wkt';
import { Code } from '@connectrpc/connect';
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { sha256 } from '../../platform/access/ids.ts';
import { overviewId } from '../../platform/dashboards/overview-dashboard.ts';
import { useBroker } from '../../test/harness/servers/use-servers.ts';
import {
  type AccountsProcess,
  bearer,
  type Clients,
  newCustomer,
  startAccounts,
} from '../../test/harness/services/accounts.ts';

const broker = useBroker();
let nowMs = Date.UTC(2026, 6, 1);
let accounts: AccountsProcess;
let owner: Awaited<ReturnType<typeof newCustomer>>;
let dashboards: Clients['dashboards'];
let dashboardId: string;

beforeAll(async () => {
  accounts = await startAccounts({
    brokerUrl: broker.url,
    clock: { nowMs: () => nowMs },
    control: { changeLimits: { perCustomer: 1_000, perOrganization: 1_000 } },
  });
  owner = await newCustomer(accounts);
  dashboards = accounts.as(bearer(owner, owner.projectId)).dashboards;
});

beforeEach(async () => {
  const { dashboard } = await dashboards.create({ displayName: 'Board' });
  dashboardId = dashboard?.id ?? '';
});

afterAll(() => accounts.close());

const listed = async (id = dashboardId) =>
  (await dashboards.listShares({ dashboardId: id })).shares;
const stored = async (): Promise<string> => {
  const kv = await accounts.connection.jetstream().views.kv('dashboard_lists', { bindOnly: true });
  return (await kv.get(owner.projectId))?.string() ?? '';
};

it('a share is listed without its token, of which only the hash is stored', async () => {
  const expireTime = timestampFromMs(nowMs + 86_400_000);
  const { share, token } = await dashboards.createShare({
    dashboardId,
    displayName: 'For the board room',
    expireTime,
    password: 'correct horse',
  });
  expect(token).toMatch(/^shr_[\w-]{43}$/);
  expect(share).toMatchObject({ dashboardId, displayName: 'For the board room', expireTime });
  expect(share).toMatchObject({ hasPassword: true, createTime: timestampFromMs(nowMs) });
  expect(await listed()).toEqual([share]);
  const text = await stored();
  for (const secret of [token, token.slice(4), 'correct horse']) expect(text).not.toContain(secret);
  expect(text).toContain(sha256(token));
  expect(text).toContain('$argon2id$v=19$m=65536,t=3,p=1$');
});

it('a share ends with its revocation, and all with their dashboard', async () => {
  const { share } = await dashboards.createShare({ dashboardId });
  const { share: kept, token } = await dashboards.createShare({ dashboardId });
  await dashboards.revokeShare({ id: share?.id ?? '' });
  expect(await listed()).toEqual([kept]);
  const notFound = { code: Code.NotFound };
  await expect(dashboards.revokeShare({ id: share?.id ?? '' })).rejects.toMatchObject(notFound);
  await dashboards.delete({ id: dashboardId });
  expect(await stored()).not.toContain(sha256(token));
  await expect(listed()).rejects.toMatchObject(notFound);
  await expect(dashboards.createShare({ dashboardId })).rejects.toMatchObject(notFound);
});

it('the built-in dashboard has shares too, which a foreign project neither sees nor ends', async () => {
  const { share } = await dashboards.createShare({ dashboardId: overviewId });
  const stranger = await newCustomer(accounts, 'stranger');
  const theirs = accounts.as(bearer(stranger, stranger.projectId)).dashboards;
  expect((await theirs.listShares({ dashboardId: overviewId })).shares).toEqual([]);
  const notFound = { code: Code.NotFound };
  await expect(theirs.listShares({ dashboardId })).rejects.toMatchObject(notFound);
  await expect(theirs.revokeShare({ id: share?.id ?? '' })).rejects.toMatchObject(notFound);
  expect(await listed(overviewId)).toEqual([share]);
});

it('a dashboard has 20 shares at most, however many ask at once', async () => {
  const made = await Promise.allSettled(
    Array.from({ length: 25 }, () => dashboards.createShare({ dashboardId })),
  );
  const refused = made.flatMap((one) => (one.status === 'rejected' ? [one.reason.code] : []));
  expect(refused).toEqual(Array(5).fill(Code.FailedPrecondition));
  expect(await listed()).toHaveLength(20);
});

it('a share that has ended takes no place of another', async () => {
  const expireTime = timestampFromMs(nowMs + 1_000);
  const { share: ended } = await dashboards.createShare({ dashboardId, expireTime });
  for (let count = 1; count < 20; count++) await dashboards.createShare({ dashboardId });
  const full = { code: Code.FailedPrecondition };
  await expect(dashboards.createShare({ dashboardId })).rejects.toMatchObject(full);
  nowMs += 1_000;
  const { share } = await dashboards.createShare({ dashboardId });
  await expect(dashboards.createShare({ dashboardId })).rejects.toMatchObject(full);
  const ids = (await listed()).map(({ id }) => id);
  expect(ids).toHaveLength(20);
  expect(ids).toContain(share?.id);
  expect(ids).not.toContain(ended?.id);
});

it('a share keeps the origins of the sites that may show it in a frame, each once', async () => {
  const { share } = await dashboards.createShare({
    dashboardId,
    embedOrigins: ['https://Example.com/', 'https://example.com', 'http://localhost:3000'],
  });
  expect(share?.embedOrigins).toEqual(['https://example.com', 'http://localhost:3000']);
  expect(await listed()).toEqual([share]);
});

it.each([
  [['https://a.example', 'https://b.example', 'http://c.example'], 'embedOrigins[2]: must be an'],
  [['https://a.example; script-src *'], 'embedOrigins[0]: must be an https origin'],
  [[`https://${'a'.repeat(255)}.example`], 'embedOrigins[0]: must be an https origin'],
  [Array.from({ length: 11 }, (_, at) => `https://${at}.example`), 'embedOrigins: must have at'],
])('the origins %j are refused', async (embedOrigins, message) => {
  await expect(dashboards.createShare({ dashboardId, embedOrigins })).rejects.toMatchObject({
    code: Code.InvalidArgument,
    rawMessage: expect.stringContaining(message),
  });
  expect(await listed()).toEqual([]);
});

it.each([
  ['an end in the past', { expireTime: timestampFromMs(nowMs) }, 'expireTime'],
  ['a short password', { password: 'short' }, 'password'],
  ['a long name', { displayName: 'n'.repeat(151) }, 'displayName'],
])('%s is refused', async (_, fields, field) => {
  const asked = dashboards.createShare({ dashboardId, ...fields });
  await expect(asked).rejects.toMatchObject({
    code: Code.InvalidArgument,
    rawMessage: expect.stringContaining(`${field}: must`),
  });
  expect(await listed()).toEqual([]);
});

it('an account whose address nobody has proven shares nothing', async () => {
  const customer = await newCustomer(accounts);
  await accounts.control.customers.change(customer.customer?.id ?? '', (record) => ({
    ...record,
    emailVerified: false,
  }));
  const theirs = accounts.as(bearer(customer, customer.projectId)).dashboards;
  await expect(theirs.createShare({ dashboardId: overviewId })).rejects.toMatchObject({
    code: Code.FailedPrecondition,
  });
});
