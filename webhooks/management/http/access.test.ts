// Who may call the management interface, by real keys and tokens of real accounts.

import { request } from 'node:http';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { useBroker } from '../../../test/harness/servers/use-servers.ts';
import { bearer, newCustomer } from '../../../test/harness/services/accounts.ts';
import {
  content,
  type Management,
  type ManagementAdmin,
  newManagementAdmin,
  outcome,
  startManagement,
} from '../../../test/harness/webhooks/management.ts';

const broker = useBroker();
let management: Management;
let admin: ManagementAdmin;
let webhookPath: string;

beforeAll(async () => {
  management = await startManagement(broker.url);
  admin = await newManagementAdmin(management);
  webhookPath = `${admin.path}/${(await admin.create()).text('webhook.id')}`;
});

afterAll(() => management.accounts.close());

const roles = { viewer: 1, member: 2, admin: 3 } as const;

const orgsOf = ({ token }: { token: string }) =>
  management.accounts.as(bearer({ accessToken: token })).orgs;

/** The statuses of a list, the log, a creation and a rotation. */
async function statuses(authorization: string): Promise<number[]> {
  const sent = { authorization };
  const answers = [
    await management.call('GET', admin.path, sent),
    await management.call('GET', `${webhookPath}/logs`, sent),
    await management.call('POST', admin.path, { ...sent, body: { content } }),
    await management.call('POST', `${admin.path}/secret/rotate`, sent),
  ];
  return answers.map(({ status }) => status);
}

it.each([
  ['viewer', [200, 200, 403, 403]],
  ['member', [200, 200, 403, 403]],
  ['admin', [200, 200, 201, 200]],
] as const)('a key with the role %s', async (role, expected) => {
  const { key } = await orgsOf(admin).createOrgKey({ orgId: admin.orgId, role: roles[role] });
  expect(await statuses(key)).toEqual(expected);
});

it('an operator of the instance is an admin everywhere, and only where the organization exists', async () => {
  const operator = await newManagementAdmin(management);
  expect(await statuses(operator.token)).toEqual([404, 404, 404, 404]);
  const { customer } = await management.accounts
    .as(bearer({ accessToken: operator.token }))
    .customers.get({});
  await management.accounts.control.customers.change(customer?.id ?? '', (record) => {
    return { ...record, superAdmin: true };
  });
  expect(await statuses(operator.token)).toEqual([200, 200, 201, 200]);
  const elsewhere = await operator.call('GET', '/v1/organizations/none/webhooks');
  expect(outcome(elsewhere)).toBe('404 not_found: there is no such organization');
});

it('a foreign organization looks like none, whatever is asked of it', async () => {
  const { key } = await orgsOf(admin).createOrgKey({ orgId: admin.orgId, role: roles.admin });
  const foreign = await newManagementAdmin(management);
  for (const path of [foreign.path, '/v1/organizations/none/webhooks']) {
    const sent = { authorization: key, body: '{', headers: { 'content-type': 'text/xml' } };
    expect(outcome(await management.call('POST', path, sent))).toBe(
      '404 not_found: there is no such organization',
    );
  }
});

it('nobody else: no credential, a broken one, a key of a project', async () => {
  const { projectId, accessToken } = await newCustomer(management.accounts);
  const { key } = await management.accounts
    .as(bearer({ accessToken }, projectId))
    .projects.createApiKey({ kind: 2 });
  const notValid =
    '401 unauthenticated: the credential is not valid here: send an organization key or a token';
  for (const credential of ['org_x', 'x', 'a.b', key]) {
    const answer = await management.call('GET', admin.path, { authorization: credential });
    expect(outcome(answer)).toBe(
      credential === 'a.b'
        ? '401 unauthenticated: the token is not valid, or not any more'
        : notValid,
    );
    expect(answer.headers.get('www-authenticate')).toBe('Bearer');
  }
  const none = await management.call('GET', admin.path);
  expect(outcome(none)).toMatch(/^401 unauthenticated: no credential/);
  const basic = { headers: { authorization: 'Basic eA==' } };
  expect((await management.call('GET', admin.path, basic)).status).toBe(401);
});

it('an account whose address is not proven may look and take away, and leave nothing behind', async () => {
  const made = await admin.create();
  const { customer } = await management.accounts
    .as(bearer({ accessToken: admin.token }))
    .customers.get({});
  const prove = (emailVerified: boolean) =>
    management.accounts.control.customers.change(customer?.id ?? '', (record) => {
      return { ...record, emailVerified };
    });
  await prove(false);
  expect(await statuses(admin.token)).toEqual([200, 200, 400, 400]);
  const path = `${admin.path}/${made.text('webhook.id')}`;
  expect(outcome(await admin.call('PATCH', path, { content: { name: 'a' } }))).toContain(
    '400 failed_precondition: your e-mail address is not proven yet',
  );
  expect(outcome(await admin.call('DELETE', path))).toBe('204');
  await prove(true);
});

it('a key that is revoked, and a session that ended, are out at once', async () => {
  const { key, orgKey } = await orgsOf(admin).createOrgKey({ orgId: admin.orgId, role: 3 });
  const sent = { authorization: key };
  expect((await management.call('GET', admin.path, sent)).status).toBe(200);
  await orgsOf(admin).revokeOrgKey({ orgId: admin.orgId, id: orgKey?.id ?? '' });
  expect((await management.call('GET', admin.path, sent)).status).toBe(401);
  const { orgId, refreshToken, accessToken } = await newCustomer(management.accounts);
  const path = `/v1/organizations/${orgId}/webhooks`;
  const listed = () => management.call('GET', path, { authorization: accessToken });
  expect((await listed()).status).toBe(200);
  await management.accounts.as().auth.signOut({ refreshToken });
  expect((await listed()).status).toBe(401);
});

it('a key that is revoked while its body arrives changes nothing', async () => {
  const { key, orgKey } = await orgsOf(admin).createOrgKey({ orgId: admin.orgId, role: 3 });
  const body = JSON.stringify({ content: { ...content, name: 'Too late' } });
  const begun = request(`${management.accounts.baseUrl}${admin.path}`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${key}`,
      'content-type': 'application/json',
      'content-length': body.length,
    },
  });
  const answered = new Promise<number | undefined>((resolve) => {
    begun.once('response', (response) => resolve(response.resume().statusCode));
  });
  begun.write(body.slice(0, 10));
  // Its access has been checked once the body is waited for: the port holds memory for it.
  await expect.poll(() => management.accounts.heldBytes()).toBeGreaterThan(0);
  await orgsOf(admin).revokeOrgKey({ orgId: admin.orgId, id: orgKey?.id ?? '' });
  begun.end(body.slice(10));
  expect(await answered).toBe(401);
  const { json } = await admin.call('GET', `${admin.path}?name=late`);
  expect(json).toEqual({ webhooks: [] });
});
