// E-mail providers over HTTP, with a real mail server: mails through one, and its secrets.

import { createServer } from 'node:net';
import { Code } from '@connectrpc/connect';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
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

describe('a mail server in this machine’s networks', () => {
  const elsewhere = { 'x-forwarded-for': '203.0.113.7' };

  /** An organization, and its admin's clients here and behind a proxy that leaves a trace. */
  async function reached(from = accounts) {
    // Signed up where that proves an address; both processes know the customer.
    const customer = await newCustomer(accounts);
    const { orgId } = customer;
    const here = from.as(bearer(customer));
    const there = from.as({ ...bearer(customer), ...elsewhere });
    const set = (clients: Clients, port: number) =>
      clients.providers.upsert({
        orgId,
        provider: { case: 'smtp', value: { host: 'localhost', port } },
        fromAddress: 'a@example.com',
      });
    return { orgId, here, there, set };
  }

  it('takes mail only if it was named on this machine', async () => {
    const server = await startMailServer({ hideSTARTTLS: true });
    const { orgId, here, there, set } = await reached();
    const invite = async () => {
      const email = `guest-${crypto.randomUUID()}@example.com`;
      await here.orgs.inviteMember({ orgId, email, role: Role.VIEWER });
      await accounts.control.outbox.idle();
    };
    const inside = refused(Code.FailedPrecondition, 'is not in the public internet');
    await set(there, server.port);
    for (const clients of [there, here]) {
      await expect(clients.providers.sendTest({ orgId })).rejects.toMatchObject(inside);
    }
    await invite();
    expect(server.connections()).toBe(0);
    await set(here, server.port);
    await here.providers.sendTest({ orgId });
    await invite();
    expect(server.received).toHaveLength(2);
    // The newest change counts, even one that leaves the host as it was.
    await set(there, server.port);
    await expect(here.providers.sendTest({ orgId })).rejects.toMatchObject(inside);
    await invite();
    expect(server.received).toHaveLength(2);
    await server.close();
  });

  it('takes no more mail once the settings let others in', async () => {
    const server = await startMailServer({ hideSTARTTLS: true });
    const { orgId, here, set } = await reached();
    await set(here, server.port);
    const record = accounts.control.organizations.get(orgId)?.record;
    expect(record?.emailProvider).toMatchObject({ setOnThisMachine: true });
    const env = { MILLRACE_PUBLIC_URL: 'https://app.example.com' };
    const { dataDir } = accounts;
    const exposed = await startAccounts({ brokerUrl: broker.url, env, dataDir });
    const email = `guest-${crypto.randomUUID()}@example.com`;
    expect(record && exposed.control.chooseSender(record)).toMatchObject({
      origin: 'organization',
    });
    expect(record && accounts.control.chooseSender(record)).toMatchObject({
      origin: 'this machine',
    });
    const theirs = await reached(exposed);
    await theirs.set(theirs.here, server.port);
    await theirs.here.orgs.inviteMember({ orgId: theirs.orgId, email, role: Role.VIEWER });
    await exposed.control.outbox.idle();
    expect(server.connections()).toBe(0);
    await exposed.close();
    await server.close();
  });

  it('shows nobody its greeting', async () => {
    const listener = createServer((client) => client.end('554 secret-build 10.0.0.7\r\n'));
    await new Promise<void>((resolve) => listener.listen(0, '127.0.0.1', resolve));
    const address = listener.address();
    const { orgId, here, set } = await reached();
    await set(here, typeof address === 'object' && address !== null ? address.port : 0);
    await expect(here.providers.sendTest({ orgId })).rejects.toMatchObject({
      rawMessage: 'the mail was refused: no mail server answers: SMTP 554',
    });
    await new Promise((resolve) => listener.close(resolve));
  });

  it('keeps one test mail of a customer waiting, and none of others', async () => {
    let release = () => {};
    const gate = new Promise<void>((resolve) => {
      release = resolve;
    });
    const slow = await startMailServer({ hideSTARTTLS: true, onMessage: () => gate });
    const quick = await startMailServer({ hideSTARTTLS: true });
    const mine = await reached();
    await mine.set(mine.here, slow.port);
    const first = mine.here.providers.sendTest({ orgId: mine.orgId });
    await expect.poll(() => slow.connections()).toBe(1);
    await expect(mine.here.providers.sendTest({ orgId: mine.orgId })).rejects.toMatchObject(
      refused(Code.ResourceExhausted, 'under way'),
    );
    const theirs = await reached();
    await theirs.set(theirs.here, quick.port);
    await theirs.here.providers.sendTest({ orgId: theirs.orgId });
    release();
    await first;
    await mine.here.providers.sendTest({ orgId: mine.orgId });
    await slow.close();
    await quick.close();
  });
});

it('a stored password goes only to the server and user that it was set for', async () => {
  const { orgId, owner } = await organization();
  const value = {
    host: 'mail.example.com',
    port: 587,
    username: 'u',
    password: 'secret-1',
    useTls: true,
  };
  const set = (changes: object) =>
    owner.providers.upsert({
      orgId,
      provider: { case: 'smtp', value: { ...value, ...changes } },
      fromAddress: 'a@example.com',
    });
  await set({});
  const sealed = () => accounts.control.organizations.get(orgId)?.record.emailProvider;
  const before = sealed();
  await set({ password: '********' });
  expect(sealed()).toMatchObject({
    sealedPassword: before?.kind === 'smtp' ? before.sealedPassword : '',
  });
  for (const moved of [
    { host: 'evil.example.com' },
    { port: 25 },
    { username: 'v' },
    { useTls: false },
  ]) {
    for (const password of ['', '********']) {
      await expect(set({ password, ...moved })).rejects.toMatchObject(
        refused(Code.InvalidArgument, 'smtp.password'),
      );
    }
  }
  await set({ useTls: false });
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

/** A mail server's fields, sound but for these. */
function smtpWith(fields: { host?: string; username?: string; password?: string }) {
  const value = { host: 'a.b', port: 25, username: '', password: 'p', ...fields };
  return { case: 'smtp', value } as const;
}

it.each([
  [{}, 'smtp: is required'],
  [{ provider: { case: 'smtp', value: { host: '', port: 25 } } }, 'smtp.host'],
  [{ provider: { case: 'smtp', value: { host: 'a b', port: 25 } } }, 'smtp.host'],
  [{ provider: { case: 'smtp', value: { host: 'a.b', port: 0 } } }, 'smtp.port'],
  [{ provider: { case: 'smtp', value: { host: 'a.b', port: 65_536 } } }, 'smtp.port'],
  [{ fromAddress: 'no address' }, 'fromAddress'],
  [{ fromAddress: 'A <a@b.c>\r\nBcc: x@y.z' }, 'fromAddress'],
  [{ fromAddress: 'a@b.c, x@y.z' }, 'fromAddress'],
  [{ fromAddress: 'a@b.c, X <x@y.z>' }, 'fromAddress'],
  [{ fromAddress: 'A <a@b.c>, X <x@y.z>' }, 'fromAddress'],
  [{ replyTo: 'a@b.c, x@y.z' }, 'replyTo'],
  [{ replyTo: 'Group: a@b.c;' }, 'replyTo'],
  [{ provider: smtpWith({ username: 'u\r\nMAIL FROM:<x@y.z>' }) }, 'smtp.username'],
  [{ provider: smtpWith({ username: 'u\0v' }) }, 'smtp.username'],
  [{ provider: smtpWith({ username: 'u\u2028v' }) }, 'smtp.username'],
  [{ provider: smtpWith({ username: 'u', password: 'p\nQUIT' }) }, 'smtp.password'],
  [{ provider: smtpWith({ host: 'a.b\r\nc.d' }) }, 'smtp.host'],
  [{ provider: { case: 'resend', value: { apiKey: 're\r\nx: y' } } }, 'resend.apiKey'],
] as const)('refuses %j', async (request, text) => {
  const { orgId, owner } = await organization();
  await expect(
    owner.providers.upsert({ orgId, fromAddress: 'a@b.c', ...request }),
  ).rejects.toMatchObject(refused(Code.InvalidArgument, text));
});
