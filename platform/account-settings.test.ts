import { expect, it } from 'vitest';
import { readAccountSettings } from './account-settings.ts';
import { isReachableAddress } from './private-networks.ts';

function read(env: Record<string, string>) {
  const problems: string[] = [];
  return { settings: readAccountSettings((name) => env[name], problems), problems };
}

it('needs nothing', () => {
  const { settings, problems } = read({});
  expect(problems).toEqual([]);
  expect(settings).toMatchObject({ mailFrom: 'Millrace <millrace@localhost>', oauthProviders: [] });
  expect(settings).not.toHaveProperty('smtpUrl');
  expect(isReachableAddress('127.0.0.1', settings.mailNetworks)).toBe(true);
});

it('reads who may make an account, and leaves it to the request where nothing is set', () => {
  expect(read({}).settings.signUp).toBeUndefined();
  for (const mode of ['open', 'invited', 'closed']) {
    expect(read({ MILLRACE_SIGNUP: mode })).toMatchObject({
      settings: { signUp: mode },
      problems: [],
    });
  }
  expect(read({ MILLRACE_SIGNUP: 'Open!' }).problems).toEqual([
    'MILLRACE_SIGNUP must be one of open, invited, closed',
  ]);
});

it('an instance with a public URL keeps its own network to itself', () => {
  const { settings } = read({ MILLRACE_PUBLIC_URL: 'https://app.example.com/' });
  expect(settings.publicUrl).toBe('https://app.example.com');
  expect(settings.mailFrom).toBe('Millrace <millrace@app.example.com>');
  for (const address of [
    '127.0.0.1',
    '10.1.2.3',
    '169.254.169.254',
    '::1',
    'fd00::1',
    '::ffff:10.0.0.1',
  ]) {
    expect(isReachableAddress(address, settings.mailNetworks)).toBe(false);
  }
  for (const address of ['93.184.215.14', '2606:2800:21f::1', '::ffff:93.184.215.14']) {
    expect(isReachableAddress(address, settings.mailNetworks)).toBe(true);
  }
  const opened = read({
    MILLRACE_PUBLIC_URL: 'https://a.b',
    MILLRACE_MAIL_ALLOW: '10.0.0.0/8, fd00::/8',
  });
  expect(isReachableAddress('10.1.2.3', opened.settings.mailNetworks)).toBe(true);
  expect(isReachableAddress('127.0.0.1', opened.settings.mailNetworks)).toBe(false);
});

it('an instance that listens beyond loopback keeps its own network to itself, public URL or not', () => {
  for (const [host, open] of [
    ['127.0.0.1', true],
    ['::1', true],
    ['localhost', true],
    ['0.0.0.0', false],
    ['::', false],
    ['10.0.0.5', false],
  ] as const) {
    const { settings } = read({ MILLRACE_HOST: host });
    expect(isReachableAddress('169.254.169.254', settings.mailNetworks)).toBe(open);
  }
});

it('reads providers', () => {
  const provider = {
    name: 'google',
    issuer: 'https://accounts.google.com',
    clientId: 'a',
    clientSecret: 'b',
    redirectUris: ['https://app.example.com/callback'],
  };
  const { settings, problems } = read({ MILLRACE_OAUTH_PROVIDERS: JSON.stringify([provider]) });
  expect(problems).toEqual([]);
  expect(settings.oauthProviders).toEqual([provider]);
  for (const wrong of [
    { ...provider, issuer: 'http://accounts.google.com' },
    { ...provider, redirectUris: [] },
    { ...provider, name: '' },
    { ...provider, clientId: 1 },
  ]) {
    expect(read({ MILLRACE_OAUTH_PROVIDERS: JSON.stringify([wrong]) }).problems).toHaveLength(1);
  }
  expect(
    read({ MILLRACE_OAUTH_PROVIDERS: JSON.stringify([provider, provider]) }).problems,
  ).toHaveLength(1);
});

it('reports every problem', () => {
  const { problems } = read({
    MILLRACE_PUBLIC_URL: 'ftp://x',
    SMTP_URL: 'mail.example.com',
    MILLRACE_MAIL_FROM: 'nobody',
    MILLRACE_MAIL_ALLOW: '10.0.0.0/8,ten',
    MILLRACE_OAUTH_PROVIDERS: '[',
  });
  expect(problems.map((problem) => problem.split(' ')[0])).toEqual([
    'MILLRACE_PUBLIC_URL',
    'SMTP_URL',
    'MILLRACE_MAIL_FROM',
    'MILLRACE_MAIL_ALLOW:',
    'MILLRACE_OAUTH_PROVIDERS',
  ]);
});
