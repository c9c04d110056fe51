// Who gets an organization's mail, and by which server, with real accounts and a real mail server.

import { afterAll, beforeAll, expect, it } from 'vitest';
import { mailServerOfTest, useBroker } from '../../test/harness/servers/use-servers.ts';
import {
  type AccountsProcess,
  bearer,
  newCustomer,
  startAccounts,
} from '../../test/harness/services/accounts.ts';

const broker = useBroker();
let accounts: AccountsProcess;

beforeAll(async () => {
  accounts = await startAccounts({ brokerUrl: broker.url });
});

afterAll(async () => {
  await accounts.close();
});

const mailTo = (to: string) => ({ to, subject: 'A webhook', text: 'x\n', html: '<p>x</p>\n' });

it('its admins are those of proven addresses', async () => {
  const { organizationMail, customers, organizations } = accounts.control;
  const { orgId, email, customer } = await newCustomer(accounts);
  const other = await newCustomer(accounts);
  const found = organizations.get(orgId);
  if (found === undefined) throw new Error('no organization');
  const customerId = other.customer?.id ?? '';
  const withMember = async (role: 'member' | 'admin') => {
    const { record, revision } = organizations.get(orgId) ?? found;
    const members = [...found.record.members, { customerId, role }];
    await organizations.update(orgId, { ...record, members }, revision);
    return organizationMail.organization(orgId)?.admins.map((admin) => admin.email);
  };
  expect(await withMember('member')).toEqual([email]);
  expect(await withMember('admin')).toEqual([email, other.email]);
  await customers.change(customerId, (record) => ({ ...record, emailVerified: false }));
  expect(organizationMail.organization(orgId)?.admins).toEqual([
    { customerId: customer?.id, email },
  ]);
  expect(organizationMail.organization('org_nobody')).toBeUndefined();
});

it('goes through its own server, else the instance’s', async () => {
  const { organizationMail } = accounts.control;
  const customer = await newCustomer(accounts);
  const { orgId, email } = customer;
  expect(await organizationMail.send(orgId, mailTo(email))).toEqual({ kind: 'sent' });
  expect((await accounts.mailsTo(email)).at(-1)).toContain('Subject: A webhook');
  const server = await mailServerOfTest({ hideSTARTTLS: true });
  await accounts.as(bearer(customer)).providers.upsert({
    orgId,
    provider: { case: 'smtp', value: { host: 'localhost', port: server.port } },
    fromAddress: 'shop@example.com',
  });
  expect(await organizationMail.send(orgId, mailTo(email))).toEqual({ kind: 'sent' });
  expect(server.received).toMatchObject([{ from: 'shop@example.com', to: [email] }]);
  expect(await organizationMail.send('org_nobody', mailTo(email))).toMatchObject({
    kind: 'refused',
  });
});
