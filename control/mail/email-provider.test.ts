// E-mail providers over HTTP, with a real mail server: mails through one, and its secrets.

import { Code } from '@connectrpc/connect';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { Role } from '../../proto/gen/dashboard/orgs/v1/orgs_pb.js';
import { type ReceivedMail, startMailServer } from '../../test/harness/servers/mail-server.ts';
import { useBroker } from '../../test/harness/servers/use-servers.ts';
import {
  type AccountsProcess,
  bearer,
  type Clients,
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

const refused = (code: Code, text = '') => ({ code, rawMessage: expect.stringContaining(text) });

/** A new organization and the clients of its admin. */
async function organization(): Promise<{ orgId: string; owner: Clients }> {
  const customer = await newCustomer(accounts);
  return { orgId: customer.orgId, owner: accounts.as(bearer(customer)) };
}

it('mail goes through the organization’s own server, and its password is never shown', async () => {
  const received: ReceivedMail[] = [];
  const login = { username: 'mailer', password: 'hunter2-hunter2' };
  const server = await startMailServer({ login, allowInsecureAuth: true, hideSTARTTLS: true });
  const { orgId, owner } = await organization();
  const smtp = { host: '127.0.0.1', port: server.port, ...login, useTls: false };
  const provider = { case: 'smtp', value: smtp } as const;
  const fromAddress = 'Shop <shop@example.com>';
  await expect(owner.providers.get({ orgId })).rejects.toMatchObject(refused(Code.NotFound));
  const { emailProvider } = await owner.providers.upsert({ orgId, provider, fromAddress });
  expect(emailProvider).toMatchObject({
    provider: { value: { username: 'mailer', password: '********' } },
    fromAddress,
  });
  expect((await owner.providers.get({ orgId })).emailProvider).toEqual(emailProvider);
  const record = JSON.stringify(accounts.control.organizations.get(orgId)?.record);
  expect(record).toContain('sealed.');
  expect(record).not.toContain('hunter2');
  await owner.providers.sendTest({ orgId });
  received.push(...server.received);
  expect(received).toMatchObject([{ from: 'shop@example.com', user: 'mailer' }]);
  const guest = `guest-${crypto.randomUUID()}@example.com`;
  await owner.orgs.inviteMember({ orgId, email: guest, role: Role.VIEWER });
  await accounts.control.outbox.idle();
  expect(server.received.at(-1)).toMatchObject({ to: [guest] });
  await server.close();
  await expect(owner.providers.sendTest({ orgId })).rejects.toMatchObject(
    refused(Code.Unavailable),
  );
  await owner.providers.delete({ orgId });
  await expect(owner.providers.sendTest({ orgId })).rejects.toMatchObject(refused(Code.NotFound));
});

it('a stored password goes only to the server and user that it was set for', async () => {
  const { orgId, owner } = await organization();
  const value = { host: 'mail.example.com', port: 587, username: 'u', password: 'secret-1' };
  const set = (changes: object) =>
    owner.providers.upsert({
      orgId,
      provider: { case: 'smtp', value: { ...value, ...changes } },
      fromAddress: 'a@example.com',
    });
  await set({});
  const sealed = () => accounts.control.organizations.get(orgId)?.record.emailProvider;
  const before = sealed();
  await set({ password: '********', useTls: true });
  expect(sealed()).toMatchObject({
    useTls: true,
    sealedPassword: before?.kind === 'smtp' ? before.sealedPassword : '',
  });
  for (const moved of [{ host: 'evil.example.com' }, { port: 25 }, { username: 'v' }]) {
    await expect(set({ password: '', ...moved })).rejects.toMatchObject(
      refused(Code.InvalidArgument, 'smtp.password'),
    );
  }
  const resend = (apiKey: string) =>
    owner.providers.upsert({
      orgId,
      provider: { case: 'resend', value: { apiKey } },
      fromAddress: 'a@example.com',
    });
  await expect(resend('')).rejects.toMatchObject(refused(Code.InvalidArgument, 'resend.apiKey'));
  expect((await resend('re_1')).emailProvider?.provider.value).toMatchObject({
    apiKey: '********',
  });
  await resend('');
});

it.each([
  [{}, 'smtp: is required'],
  [{ provider: { case: 'smtp', value: { host: '', port: 25 } } }, 'smtp.host'],
  [{ provider: { case: 'smtp', value: { host: 'a b', port: 25 } } }, 'smtp.host'],
  [{ provider: { case: 'smtp', value: { host: 'a.b', port: 0 } } }, 'smtp.port'],
  [{ provider: { case: 'smtp', value: { host: 'a.b', port: 65_536 } } }, 'smtp.port'],
  [{ fromAddress: 'no address' }, 'fromAddress'],
  [{ fromAddress: 'A <a@b.c>\r\nBcc: x@y.z' }, 'fromAddress'],
] as const)('refuses %j', async (request, text) => {
  const { orgId, owner } = await organization();
  await expect(
    owner.providers.upsert({ orgId, fromAddress: 'a@b.c', ...request }),
  ).rejects.toMatchObject(refused(Code.InvalidArgument, text));
});
