// AuthService over HTTP on a real broker: passwords, sessions, magic links, and the secrets they leave behind. OAuth is
// sign-in/sign-in-with-oauth.test.ts's.

import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { Code } from '@connectrpc/connect';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { useBroker } from '../../test/harness/servers/use-servers.ts';
import {
  type AccountsProcess,
  bearer,
  newCustomer,
  startAccounts,
  tokenIn,
} from '../../test/harness/services/accounts.ts';

const broker = useBroker();
let accounts: AccountsProcess;
let nowMs = Date.UTC(2026, 0, 1);
const clock = { nowMs: () => nowMs };

beforeAll(async () => {
  accounts = await startAccounts({
    brokerUrl: broker.url,
    clock,
    env: { MILLRACE_SIGNUP: 'open' },
    control: { onlyThisMachine: () => false },
  });
});

afterAll(async () => {
  await accounts.close();
});

const refused = (code: Code, text = '') => ({ code, rawMessage: expect.stringContaining(text) });

describe('passwords', () => {
  it('sign-up makes a customer with an organization and a project, and signs them in', async () => {
    const session = await accounts.as().auth.signUp({
      email: ' Ada@Example.com ',
      password: 'correct horse',
      displayName: 'Ada',
      organizationName: 'Engines',
    });
    expect(session.expiresIn).toBe(900);
    expect(session.customer).toMatchObject({ email: 'ada@example.com', displayName: 'Ada' });
    const me = accounts.as(bearer(session));
    const { orgs } = await me.orgs.list({});
    expect(orgs).toMatchObject([{ displayName: 'Engines', role: 3 }]);
    const { projects } = await me.projects.list({});
    expect(projects).toMatchObject([{ orgId: orgs[0]?.id, timezone: 'UTC' }]);
    const inProject = accounts.as(bearer(session, projects[0]?.id));
    const { apiKeys } = await inProject.projects.listApiKeys({});
    expect(apiKeys).toMatchObject([{ kind: 1, key: expect.stringMatching(/^pub_/) }]);
  });

  it('one address in any capitals has one account', async () => {
    const { email } = await newCustomer(accounts);
    const again = accounts
      .as()
      .auth.signUp({ email: email.toUpperCase(), password: 'other horse' });
    await expect(again).rejects.toMatchObject(refused(Code.AlreadyExists));
  });

  it('one domain in Unicode and in punycode is one account, and so it is for a record of old', async () => {
    const name = crypto.randomUUID();
    const { auth } = accounts.as();
    const [unicode, ascii] = [`${name}@bücher.example`, `${name}@xn--bcher-kva.example`];
    const made = await auth.signUp({ email: unicode, password: 'correct horse' });
    expect(made.customer?.email).toBe(ascii);
    await expect(auth.signUp({ email: ascii, password: 'other horse' })).rejects.toMatchObject(
      refused(Code.AlreadyExists),
    );
    await accounts.control.customers.change(made.customer?.id ?? '', (record) => ({
      ...record,
      email: unicode,
    }));
    const again = await startAccounts({ brokerUrl: broker.url, clock, dataDir: accounts.dataDir });
    for (const email of [unicode, ascii]) {
      await expect(
        again.as().auth.signUp({ email, password: 'other horse' }),
      ).rejects.toMatchObject(refused(Code.AlreadyExists));
      const session = await again.as().auth.signIn({ email, password: 'correct horse' });
      expect(session.customer?.id).toBe(made.customer?.id);
    }
    await again.close();
  });

  it('of many sign-ups with one address at once, one makes the account', async () => {
    const email = `race-${crypto.randomUUID()}@example.com`;
    const tries = Array.from({ length: 8 }, () =>
      accounts.as().auth.signUp({ email, password: 'correct horse' }),
    );
    const results = await Promise.allSettled(tries);
    expect(results.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
    for (const result of results) {
      if (result.status === 'rejected')
        expect(result.reason).toMatchObject(refused(Code.AlreadyExists));
    }
  });

  it('a sign-up that a crash cut short goes on at the next sign-in, and makes nothing twice', async () => {
    const { customers: people, passwords, organizations } = accounts.control;
    const email = `cut-${crypto.randomUUID()}@example.com`;
    const passwordHash = await passwords.hash('correct horse');
    const made = await people.create({
      email,
      emailVerified: false,
      displayName: 'Cut',
      passwordHash,
    });
    if (made === 'taken') throw new Error('taken');
    const { id, starting } = made.record;
    const organizationId = starting?.organizationId ?? '';
    // The organization is made, then the process dies.
    await organizations.create(organizationId, {
      schemaVersion: 1,
      id: organizationId,
      displayName: 'Half done',
      createTime: '2026-01-01T00:00:00Z',
      updateTime: '2026-01-01T00:00:00Z',
      members: [{ customerId: id, role: 'admin' }],
    });
    for (let time = 0; time < 2; time++) {
      const me = accounts.as(
        bearer(await accounts.as().auth.signIn({ email, password: 'correct horse' })),
      );
      expect((await me.orgs.list({})).orgs).toMatchObject([{ displayName: 'Half done' }]);
      expect((await me.projects.list({})).projects).toMatchObject([{ id: starting?.projectId }]);
    }
  });

  it('the right password signs in; a wrong one and an unknown address get the same answer', async () => {
    const { email } = await newCustomer(accounts);
    const { auth } = accounts.as();
    await expect(auth.signIn({ email, password: 'correct horse' })).resolves.toMatchObject({
      customer: { email },
    });
    const wrong = await auth.signIn({ email, password: 'wrong horse' }).catch(String);
    const unknown = await auth
      .signIn({ email: `x${email}`, password: 'wrong horse' })
      .catch(String);
    expect(wrong).toContain('[unauthenticated]');
    expect(unknown).toBe(wrong);
  });

  it('an unknown address takes as long as a wrong password', async () => {
    const { email } = await newCustomer(accounts);
    const time = async (address: string) => {
      const started = performance.now();
      await accounts
        .as()
        .auth.signIn({ email: address, password: 'wrong horse' })
        .catch(() => {});
      return performance.now() - started;
    };
    const times = { known: [] as number[], unknown: [] as number[] };
    for (let round = 0; round < 7; round++) {
      times.known.push(await time(email));
      times.unknown.push(await time(`nobody${round}@example.com`));
    }
    // Neighbours add to a measurement and never take from it. Without a hash to check in its place, an unknown address
    // would be answered some 50 times faster.
    expect(Math.min(...times.unknown)).toBeGreaterThan(Math.min(...times.known) / 3);
  });

  it.each([
    [{ email: '', password: 'correct horse' }, 'email: is required'],
    [{ email: 'nobody', password: 'correct horse' }, 'email: must be an e-mail address'],
    [{ email: 'a@b c', password: 'correct horse' }, 'email: must be an e-mail address'],
    [{ email: 'a@b.c\nBcc: x@y.z', password: 'correct horse' }, 'email: must be an e-mail address'],
    [{ email: 'a@b.c', password: '1234567' }, 'password: must have 8 to 128 characters'],
    [{ email: 'a@b.c', password: 'x'.repeat(129) }, 'password: must have 8 to 128 characters'],
    [{ email: 'a@b.c', password: 'Password1' }, 'password: is one that everybody tries first'],
    [{ email: 'a@b.c', password: ' '.repeat(8) }, 'password: is one that everybody tries first'],
    [{ email: 'a@b/ü', password: 'correct horse' }, 'email: must have a domain of the DNS'],
    [{ email: 'a@b.c', password: 'correct horse', displayName: 'x'.repeat(151) }, 'displayName: '],
    [{ email: 'a@b.c', password: 'correct horse', displayName: 'a\u0007b' }, 'displayName: '],
  ])('refuses %j', async (request, text) => {
    await expect(accounts.as().auth.signUp(request)).rejects.toMatchObject(
      refused(Code.InvalidArgument, text),
    );
  });

  it('a new password ends all sessions, this one included', async () => {
    const session = await newCustomer(accounts);
    nowMs += 1;
    const me = accounts.as(bearer(session));
    const { email } = session;
    await expect(
      me.customers.update({ password: 'battery staple', currentPassword: 'wrong horse' }),
    ).rejects.toMatchObject(refused(Code.InvalidArgument, 'currentPassword'));
    await me.customers.update({ password: 'battery staple', currentPassword: 'correct horse' });
    await expect(me.orgs.list({})).rejects.toMatchObject(refused(Code.Unauthenticated));
    const { auth } = accounts.as();
    const { refreshToken } = session;
    await expect(auth.refreshToken({ refreshToken })).rejects.toMatchObject(
      refused(Code.Unauthenticated),
    );
    await expect(auth.signIn({ email, password: 'correct horse' })).rejects.toMatchObject(
      refused(Code.Unauthenticated),
    );
    const again = await auth.signIn({ email, password: 'battery staple' });
    await accounts.as(bearer(again)).orgs.list({});
  });
});

describe('sessions', () => {
  it('each refresh token is good once, and a parallel tab does not end the session', async () => {
    const { auth } = accounts.as();
    const first = await newCustomer(accounts);
    const second = await auth.refreshToken({ refreshToken: first.refreshToken });
    expect(second.refreshToken).not.toBe(first.refreshToken);
    nowMs += 9_000;
    await expect(auth.refreshToken({ refreshToken: first.refreshToken })).rejects.toMatchObject(
      refused(Code.Unauthenticated),
    );
    const third = await auth.refreshToken({ refreshToken: second.refreshToken });
    await accounts.as(bearer(third)).orgs.list({});
  });

  it('a spent token that comes back later ends the session', async () => {
    const { auth } = accounts.as();
    const first = await newCustomer(accounts);
    const second = await auth.refreshToken({ refreshToken: first.refreshToken });
    nowMs += 10_001;
    await expect(auth.refreshToken({ refreshToken: first.refreshToken })).rejects.toMatchObject(
      refused(Code.Unauthenticated),
    );
    await expect(auth.refreshToken({ refreshToken: second.refreshToken })).rejects.toMatchObject(
      refused(Code.Unauthenticated),
    );
  });

  it('a token spent long ago ends the session however many came after it', async () => {
    const { auth } = accounts.as();
    const first = await newCustomer(accounts);
    let last = first.refreshToken;
    for (let turn = 0; turn < 3; turn++) {
      nowMs += 6_000;
      last = (await auth.refreshToken({ refreshToken: last })).refreshToken;
    }
    await auth.refreshToken({ refreshToken: first.refreshToken }).catch(() => {});
    await expect(auth.refreshToken({ refreshToken: last })).rejects.toMatchObject(
      refused(Code.Unauthenticated),
    );
  });

  it('a made-up token of a known session ends nothing', async () => {
    const { auth } = accounts.as();
    const { refreshToken } = await newCustomer(accounts);
    const [family] = refreshToken.split('.');
    const guess = `${family}.${'A'.repeat(22)}.${'A'.repeat(43)}`;
    nowMs += 20_000;
    await expect(auth.refreshToken({ refreshToken: guess })).rejects.toMatchObject(
      refused(Code.Unauthenticated),
    );
    await auth.refreshToken({ refreshToken });
  });

  it('of three tabs that refresh at once, one gets the next token, and the session lives', async () => {
    const { auth } = accounts.as();
    const { refreshToken } = await newCustomer(accounts);
    const results = await Promise.allSettled([
      auth.refreshToken({ refreshToken }),
      auth.refreshToken({ refreshToken }),
      auth.refreshToken({ refreshToken }),
    ]);
    const won = results.flatMap((result) => (result.status === 'fulfilled' ? [result.value] : []));
    expect(won).toHaveLength(1);
    await auth.refreshToken({ refreshToken: won[0]?.refreshToken ?? '' });
  });

  it('a session lives 90 days from its last use, and ends with a sign-out', async () => {
    const { auth } = accounts.as();
    const first = await newCustomer(accounts);
    nowMs += 89 * 24 * 3_600_000;
    const second = await auth.refreshToken({ refreshToken: first.refreshToken });
    nowMs += 89 * 24 * 3_600_000;
    const third = await auth.refreshToken({ refreshToken: second.refreshToken });
    await auth.signOut({ refreshToken: third.refreshToken });
    await expect(auth.refreshToken({ refreshToken: third.refreshToken })).rejects.toMatchObject(
      refused(Code.Unauthenticated),
    );
    await auth.signOut({ refreshToken: 'garbage' });
    const other = await newCustomer(accounts);
    nowMs += 90 * 24 * 3_600_000;
    await expect(auth.refreshToken({ refreshToken: other.refreshToken })).rejects.toMatchObject(
      refused(Code.Unauthenticated),
    );
  });

  it('an access token lives for 15 minutes', async () => {
    const session = await newCustomer(accounts);
    nowMs += 900_000;
    await accounts.as(bearer(session)).orgs.list({});
    nowMs += 6_000;
    await expect(accounts.as(bearer(session)).orgs.list({})).rejects.toMatchObject(
      refused(Code.Unauthenticated),
    );
  });
});

describe('magic links', () => {
  it('a link signs in once, and makes the account if there is none', async () => {
    const email = `link-${crypto.randomUUID()}@example.com`;
    const { auth } = accounts.as();
    const asked = await auth.signInWithMagicLink({ email });
    expect(asked.accessToken).toBe('');
    const mails = await accounts.mailsTo(email);
    expect(mails).toHaveLength(1);
    expect(mails[0]).toContain('multipart/alternative');
    const token = tokenIn(mails);
    const session = await auth.signInWithMagicLink({ token });
    expect(session.customer).toMatchObject({ email });
    const { orgs } = await accounts.as(bearer(session)).orgs.list({});
    expect(orgs).toHaveLength(1);
    await expect(auth.signInWithMagicLink({ token })).rejects.toMatchObject(
      refused(Code.Unauthenticated),
    );
  });

  it('of many requests that redeem one link at once, one signs in', async () => {
    const { email } = await newCustomer(accounts);
    const { auth } = accounts.as();
    await auth.signInWithMagicLink({ email });
    const token = tokenIn(await accounts.mailsTo(email));
    const results = await Promise.allSettled(
      Array.from({ length: 6 }, () => auth.signInWithMagicLink({ token })),
    );
    expect(results.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
  });

  it('a link is good for 15 minutes', async () => {
    const email = `link-${crypto.randomUUID()}@example.com`;
    const { auth } = accounts.as();
    await auth.signInWithMagicLink({ email });
    const token = tokenIn(await accounts.mailsTo(email));
    nowMs += 15 * 60_000;
    await expect(auth.signInWithMagicLink({ token })).rejects.toMatchObject(
      refused(Code.Unauthenticated),
    );
  });

  it('a link ends the password of a stranger who signed up with the address before its owner', async () => {
    const { email, refreshToken, customer } = await newCustomer(accounts);
    const { auth } = accounts.as();
    nowMs += 1_000;
    await auth.signInWithMagicLink({ email });
    const owner = await auth.signInWithMagicLink({ token: tokenIn(await accounts.mailsTo(email)) });
    expect(owner.customer?.id).toBe(customer?.id);
    await expect(auth.signIn({ email, password: 'correct horse' })).rejects.toMatchObject(
      refused(Code.Unauthenticated),
    );
    await expect(auth.refreshToken({ refreshToken })).rejects.toMatchObject(
      refused(Code.Unauthenticated),
    );
    nowMs += 2_000;
    const me = accounts.as(bearer(owner));
    await me.customers.update({ password: 'my own horse' });
    nowMs += 2_000;
    await auth.signIn({ email, password: 'my own horse' });
    // The address is proven now: a second link ends nothing.
    await auth.signInWithMagicLink({ email });
    await auth.signInWithMagicLink({ token: tokenIn(await accounts.mailsTo(email)) });
    await auth.signIn({ email, password: 'my own horse' });
  });

  it('a request needs exactly one of address and token', async () => {
    const { auth } = accounts.as();
    for (const request of [{}, { email: 'a@b.c', token: 'x' }]) {
      await expect(auth.signInWithMagicLink(request)).rejects.toMatchObject(
        refused(Code.InvalidArgument),
      );
    }
  });
});

describe('secrets', () => {
  it('secrets are in files that nobody else can read, and in the broker only as hashes', async () => {
    for (const name of ['signing-keys.json', 'instance-key.json']) {
      expect(statSync(join(accounts.dataDir, name)).mode & 0o777).toBe(0o600);
    }
    const session = await newCustomer(accounts);
    await accounts.as().auth.signInWithMagicLink({ email: session.email });
    const token = tokenIn(await accounts.mailsTo(session.email));
    const stored = await everyValue();
    for (const secret of [session.refreshToken.split('.')[2] ?? '', token, 'correct horse']) {
      expect(secret.length).toBeGreaterThan(10);
      expect(stored).not.toContain(secret);
    }
    expect(stored).toContain('$argon2id$v=19$m=65536,t=3,p=1$');
    expect(readFileSync(join(accounts.dataDir, 'signing-keys.json'), 'utf8')).toContain('Ed25519');
  });
});

async function everyValue(): Promise<string> {
  let text = '';
  for (const name of ['customers', 'owners', 'sessions', 'magic_links', 'orgs', 'projects']) {
    const kv = await accounts.connection.jetstream().views.kv(name, { bindOnly: true });
    const keys: string[] = [];
    for await (const key of await kv.keys()) keys.push(key);
    for (const key of keys) text += `${key} ${(await kv.get(key))?.string()}\n`;
  }
  return text;
}
