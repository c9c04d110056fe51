// A second factor over HTTP: set up, asked for by every way in, used up code by code, and taken away.

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
import { appCode, setUpSecondFactor } from '../../test/harness/services/second-factor.ts';
import { defaultAttemptLimits } from '../auth/attempts.ts';

const broker = useBroker();
let accounts: AccountsProcess;
/** On the same records. */
let other: AccountsProcess;
let nowMs = Date.UTC(2026, 0, 1);
const clock = { nowMs: () => nowMs };
const password = 'correct horse';

beforeAll(async () => {
  const { brokerUrl } = { brokerUrl: broker.url };
  accounts = await startAccounts({ brokerUrl, clock });
  const { dataDir } = accounts;
  const control = { attemptLimits: defaultAttemptLimits };
  other = await startAccounts({ brokerUrl, clock, dataDir, control });
});

afterAll(async () => {
  await other.close();
  await accounts.close();
});

const unauthenticated = (rawMessage: string) => ({ code: Code.Unauthenticated, rawMessage });
const invalid = (rawMessage: string) => ({ code: Code.InvalidArgument, rawMessage });
const failed = (rawMessage: string) => ({ code: Code.FailedPrecondition, rawMessage });
const wrongCode = unauthenticated('the code is wrong, or was used');

async function customerWithApp() {
  const customer = await newCustomer(accounts);
  const factor = await setUpSecondFactor(accounts, customer, nowMs);
  return { ...customer, ...factor, me: accounts.as(bearer(customer)) };
}

async function challengeOf(email: string): Promise<string> {
  const answer = await accounts.as().auth.signIn({ email, password });
  expect(answer).toMatchObject({
    accessToken: '',
    refreshToken: '',
    challenge: { expiresIn: 300 },
  });
  expect(answer.customer).toBeUndefined();
  return answer.challenge?.token ?? '';
}

const second = (challengeToken: string, code: string) =>
  accounts.as().auth.signInWithSecondFactor({ challengeToken, code });

/** Mails of one moment have no order. */
async function expectMail(email: string, text: string): Promise<void> {
  expect((await accounts.mailsTo(email)).join('\n')).toContain(text);
}

describe('setting up', () => {
  it('takes the password, then a code of the app, and is mailed', async () => {
    const customer = await newCustomer(accounts);
    const { customers } = accounts.as(bearer(customer));
    await expect(customers.startSecondFactor({ currentPassword: 'wrong' })).rejects.toMatchObject(
      invalid('currentPassword: is not the present password'),
    );
    const none = failed('no second factor was begun in the last 15 minutes: begin again');
    await expect(customers.confirmSecondFactor({ code: '123456' })).rejects.toMatchObject(none);
    const { secret, uri, expiresIn } = await customers.startSecondFactor({
      currentPassword: password,
    });
    expect(secret).toMatch(/^[A-Z2-7]{32}$/);
    expect(new URL(uri).searchParams.get('secret')).toBe(secret);
    expect(expiresIn).toBe(900);
    // Nothing has changed yet.
    expect((await customers.getSecondFactor({})).secondFactor).toBeUndefined();
    expect(
      (await accounts.as().auth.signIn({ email: customer.email, password })).accessToken,
    ).not.toBe('');
    const late = appCode(secret, nowMs - 60_000);
    await expect(customers.confirmSecondFactor({ code: late })).rejects.toMatchObject(
      invalid('code: is not what the app shows now'),
    );
    const { recoveryCodes } = await customers.confirmSecondFactor({ code: appCode(secret, nowMs) });
    expect(recoveryCodes).toHaveLength(10);
    expect((await customers.getSecondFactor({})).secondFactor).toMatchObject({
      createTime: { seconds: BigInt(nowMs / 1_000) },
      recoveryCodesLeft: 10,
    });
    await expectMail(customer.email, 'A second factor was set up');
    const record = accounts.control.customers.get(customer.customer?.id ?? '');
    expect(JSON.stringify(record)).not.toContain(secret);
    for (const code of recoveryCodes) expect(JSON.stringify(record)).not.toContain(code);
  });

  it('ends fifteen minutes after it began', async () => {
    const { customers } = accounts.as(bearer(await newCustomer(accounts)));
    const { secret } = await customers.startSecondFactor({ currentPassword: password });
    nowMs += 899_999;
    const code = appCode(secret, nowMs + 1);
    nowMs += 1;
    await expect(customers.confirmSecondFactor({ code })).rejects.toMatchObject({
      code: Code.FailedPrecondition,
    });
  });

  it('is for proven addresses: a stranger’s factor must not outlast the proof', async () => {
    const customer = await newCustomer(accounts);
    await accounts.control.customers.change(customer.customer?.id ?? '', (record) => ({
      ...record,
      emailVerified: false,
    }));
    const { customers } = accounts.as(bearer(customer));
    const start = () => customers.startSecondFactor({ currentPassword: password });
    await expect.poll(() => start().catch(({ rawMessage }) => rawMessage)).toContain('not proven');
  });

  it('in the place of another one takes a code of that one', async () => {
    const { me, secret, recoveryCodes } = await customerWithApp();
    await expect(me.customers.startSecondFactor({})).rejects.toMatchObject(
      invalid('code: is required'),
    );
    nowMs += 30_000;
    const next = await me.customers.startSecondFactor({ code: appCode(secret, nowMs) });
    await me.customers.confirmSecondFactor({ code: appCode(next.secret, nowMs) });
    nowMs += 30_000;
    for (const code of [appCode(secret, nowMs), recoveryCodes[0] ?? '']) {
      await expect(me.customers.removeSecondFactor({ code })).rejects.toMatchObject(
        invalid('code: is wrong, or was used'),
      );
    }
    await me.customers.removeSecondFactor({ code: appCode(next.secret, nowMs) });
  });
});

describe('signing in', () => {
  it('takes two steps, and a code counts once', async () => {
    const { email, secret, customer } = await customerWithApp();
    const challenge = await challengeOf(email);
    // The code that set it up is used.
    await expect(second(challenge, appCode(secret, nowMs))).rejects.toMatchObject(wrongCode);
    nowMs += 30_000;
    const code = appCode(secret, nowMs);
    const session = await second(challenge, ` ${code.slice(0, 3)} ${code.slice(3)} `);
    expect(session.customer?.id).toBe(customer?.id);
    await accounts.as(bearer(session)).orgs.list({});
    const again = await challengeOf(email);
    await expect(second(again, code)).rejects.toMatchObject(wrongCode);
    await expect(other.as().auth.signInWithSecondFactor({ challengeToken: again, code }))
      .rejects //
      .toMatchObject(wrongCode);
    // One of two at once.
    const next = appCode(secret, nowMs + 30_000);
    const both = await Promise.allSettled([second(again, next), second(again, next)]);
    expect(both.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected']);
  });

  it('by a recovery code, each once, is mailed', async () => {
    const { email, recoveryCodes, me } = await customerWithApp();
    const [code = ''] = recoveryCodes;
    await second(await challengeOf(email), code.toUpperCase());
    await expect(second(await challengeOf(email), code)).rejects.toMatchObject(wrongCode);
    expect((await me.customers.getSecondFactor({})).secondFactor?.recoveryCodesLeft).toBe(9);
    await expectMail(email, '9 are left');
    const [, present = ''] = recoveryCodes;
    const renewed = await me.customers.renewRecoveryCodes({ code: present });
    expect(renewed.recoveryCodes).toHaveLength(10);
    await expect(second(await challengeOf(email), recoveryCodes[2] ?? '')).rejects.toMatchObject(
      wrongCode,
    );
    await second(await challengeOf(email), renewed.recoveryCodes[0] ?? '');
    await expectMail(email, 'new recovery codes');
  });

  it('by a link takes the second step, too', async () => {
    const { email, recoveryCodes } = await customerWithApp();
    await accounts.as().auth.signInWithMagicLink({ email });
    const mails = await accounts.mailsTo(email);
    const token = tokenIn(mails.filter((text) => text.includes('token=')));
    const answer = await accounts.as().auth.signInWithMagicLink({ token });
    expect(answer).toMatchObject({ accessToken: '', refreshToken: '' });
    await second(answer.challenge?.token ?? '', recoveryCodes[0] ?? '');
  });

  it('with a cookie sets it after the second step alone', async () => {
    const { email, recoveryCodes } = await customerWithApp();
    const call = async (method: string, message: object) => {
      const response = await fetch(`${accounts.baseUrl}/public.auth.v1.AuthService/${method}`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', 'x-session': 'cookie' },
        body: JSON.stringify(message),
      });
      const json: unknown = await response.json();
      const at = (...path: string[]): unknown =>
        path.reduce((value: unknown, name) => Reflect.get(Object(value), name), json);
      return { cookie: response.headers.get('set-cookie'), at };
    };
    const first = await call('SignIn', { email, password });
    expect(first.cookie).toBeNull();
    const challengeToken = first.at('challenge', 'token');
    const session = await call('SignInWithSecondFactor', {
      challengeToken,
      code: recoveryCodes[0],
    });
    expect(session.cookie).toContain('millrace_refresh=ref_');
    expect(session.at('refreshToken') ?? '').toBe('');
  });

  it('has five minutes between its steps, and ends with all sessions', async () => {
    const over = unauthenticated('the sign-in took too long: begin again');
    const { email, recoveryCodes, me } = await customerWithApp();
    const [first = '', next = ''] = recoveryCodes;
    const late = await challengeOf(email);
    nowMs += 300_000;
    await expect(second(late, first)).rejects.toMatchObject(over);
    await expect(second(`${late}x`, first)).rejects.toMatchObject(over);
    await expect(second('garbage', first)).rejects.toMatchObject(over);
    const challenge = await challengeOf(email);
    await me.customers.update({ password: 'another horse', currentPassword: password });
    await expect(second(challenge, next)).rejects.toMatchObject(over);
    await expect(second('', next)).rejects.toMatchObject(invalid('challengeToken: is required'));
    await expect(second(challenge, '')).rejects.toMatchObject(invalid('code: is required'));
  });

  it('takes ten wrong codes of one network, and sessions count for themselves', async () => {
    const { email, secret, recoveryCodes, accessToken } = await customerWithApp();
    const challengeToken = await challengeOf(email);
    const { auth, customers } = other.as(bearer({ accessToken }));
    const guess = () => auth.signInWithSecondFactor({ challengeToken, code: '000000' });
    for (let count = 0; count < 10; count++) await expect(guess()).rejects.toMatchObject(wrongCode);
    await expect(guess()).rejects.toMatchObject({ code: Code.ResourceExhausted });
    const [code = ''] = recoveryCodes;
    await expect(auth.signInWithSecondFactor({ challengeToken, code })).rejects.toMatchObject({
      code: Code.ResourceExhausted,
    });
    nowMs += 30_000;
    await customers.removeSecondFactor({ code: appCode(secret, nowMs) });
  });

  it('takes one step again once the second factor is taken away, which is mailed', async () => {
    const { email, recoveryCodes, me } = await customerWithApp();
    await me.customers.removeSecondFactor({ code: recoveryCodes[0] ?? '' });
    expect((await accounts.as().auth.signIn({ email, password })).accessToken).not.toBe('');
    await expectMail(email, 'was taken away');
    const none = failed('the account has no second factor');
    await expect(me.customers.renewRecoveryCodes({ code: '123456' })).rejects.toMatchObject(none);
  });
});
