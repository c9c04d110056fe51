import { gzipSync } from 'node:zlib';
import { Code } from '@connectrpc/connect';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { useBroker } from '../test/harness/servers/use-servers.ts';
import {
  type AccountsProcess,
  bearer,
  newCustomer,
  startAccounts,
} from '../test/harness/services/accounts.ts';
import { emailField, mailboxField } from './request-fields.ts';

describe('an e-mail address', () => {
  it('is one text whatever its capitals and the composition of its characters', () => {
    expect(emailField('email', ' Jose\u0301@Example.COM ')).toBe('jos\u00e9@example.com');
  });

  it('has at most 254 characters as it is sent and as it is kept', () => {
    const domain = '@example.org';
    expect(emailField('email', `${'a'.repeat(64)}${domain}`)).toHaveLength(76);
    const rule = 'email: must be an e-mail address of at most 254 characters';
    for (const text of [
      `a${'\u0301'.repeat(254)}${domain}`,
      // Each of these becomes three characters.
      `\u1e9b\u0323@${'\ufb2c'.repeat(100)}.org`,
      `a@${'b'.repeat(254)}`,
    ]) {
      expect(() => emailField('email', text)).toThrow(rule);
    }
  });
});

describe('a mailbox', () => {
  it.each([
    'a@example.org',
    'Ada <a@example.org>',
    'Ada Lovelace<a@example.org>',
    '<a@example.org>',
  ])('may be %s', (mailbox) => expect(mailboxField('fromAddress', ` ${mailbox} `)).toBe(mailbox));

  it.each([
    'Ada <a@example.org',
    'Ada a@example.org>',
    'Ada <a@example.org> <b@example.org',
    'Ada <a@<b@example.org>>',
    'Ada <>',
    'Ada\r\nBcc: <a@example.org>',
    `${'x'.repeat(151)} <a@example.org>`,
  ])('is not %j', (mailbox) => {
    expect(() => mailboxField('fromAddress', mailbox)).toThrow('fromAddress: ');
  });
});

describe('a body of few bytes', () => {
  const broker = useBroker();
  let accounts: AccountsProcess;

  beforeAll(async () => {
    accounts = await startAccounts({ brokerUrl: broker.url });
  });

  afterAll(() => accounts.close());

  const marks = (count: number): string =>
    `a${'\u0301'.repeat(count / 2)}${'\u0323'.repeat(count / 2)}@example.org`;

  async function codeOf(method: string, body: object, headers: Record<string, string>) {
    const response = await fetch(`${accounts.baseUrl}/${method}`, {
      method: 'POST',
      headers: { ...headers, 'content-type': 'application/json', 'content-encoding': 'gzip' },
      body: gzipSync(JSON.stringify(body)),
    });
    const answer: unknown = await response.json();
    return Reflect.get(Object(answer), 'code');
  }

  it.each([20_000, 40_000])('cannot have %i combining marks normalized', async (count) => {
    const { orgId, ...customer } = await newCustomer(accounts);
    const [email, good] = [marks(count), 'a@example.org'];
    const password = 'correct horse';
    const calls: [string, object][] = [
      ['public.auth.v1.AuthService/SignUp', { email, password }],
      ['public.auth.v1.AuthService/SignUp', { email: good, password: email }],
      ['public.auth.v1.AuthService/SignIn', { email, password }],
      ['public.auth.v1.AuthService/SignIn', { email: good, password: email }],
      ['public.auth.v1.AuthService/SignInWithMagicLink', { email }],
      ['dashboard.orgs.v1.OrgsService/InviteMember', { orgId, email, role: 'ROLE_VIEWER' }],
      ['dashboard.customers.v1.CustomersService/Update', { password, currentPassword: email }],
    ];
    const normalize = vi.spyOn(String.prototype, 'normalize');
    try {
      for (const [method, body] of calls) {
        expect(await codeOf(method, body, bearer(customer)), method).toBe('invalid_argument');
      }
      const longest = Math.max(0, ...normalize.mock.contexts.map((text) => String(text).length));
      expect(longest).toBeLessThanOrEqual(1_024);
    } finally {
      normalize.mockRestore();
    }
  });

  it('cannot give a mail server a name of several lines, or one that fills a record', async () => {
    const { orgId, ...customer } = await newCustomer(accounts);
    for (const username of ['a\r\nMAIL FROM:<b@example.org>', 'x'.repeat(470_000)]) {
      const value = { host: 'mail.example.org', port: 25, username, password: 'secret' };
      const provider = { case: 'smtp', value } as const;
      const request = { orgId, fromAddress: 'a@example.org', provider };
      const upsert = accounts.as(bearer(customer)).providers.upsert(request);
      await expect(upsert).rejects.toMatchObject({ code: Code.InvalidArgument });
    }
  });

  it('cannot have spaces searched', async () => {
    const { orgId, ...customer } = await newCustomer(accounts);
    const request = {
      orgId,
      fromAddress: `a${' '.repeat(100_000)}b`,
      provider: { case: 'resend', value: { apiKey: 'key' } } as const,
    };
    await expect(accounts.as(bearer(customer)).providers.upsert(request)).rejects.toMatchObject({
      code: Code.InvalidArgument,
    });
  });
});
