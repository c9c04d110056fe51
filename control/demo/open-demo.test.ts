// The one click into the demo, over HTTP: what opens it, and each condition that refuses.

import { request as httpRequest } from 'node:http';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { createOnlyThisMachine } from '../../platform/access/only-this-machine.ts';
import { useBroker } from '../../test/harness/servers/use-servers.ts';
import {
  type AccountsProcess,
  bearer,
  startAccounts,
} from '../../test/harness/services/accounts.ts';
import { demoAdminEmail } from './demo-admin.ts';

const broker = useBroker();
let accounts: AccountsProcess;
let member: AccountsProcess;
let projectId: string;
beforeAll(async () => {
  accounts = await startAccounts({ brokerUrl: broker.url });
  // Another process that serves the same port.
  member = await startAccounts({ brokerUrl: broker.url, dataDir: accounts.dataDir });
  await accounts.as().auth.signUp({ email: demoAdminEmail, password: 'correct horse' });
  projectId = crypto.randomUUID();
});
afterAll(async () => {
  await member.close();
  await accounts.close();
});

interface Answer {
  status: number;
  cookie: string | undefined;
  body: Record<string, unknown>;
}

/** Not fetch, which does not let a Host be named. */
function open(token: string, headers: Record<string, string> = {}, at = accounts): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const request = httpRequest(
      `${at.baseUrl}/public.auth.v1.AuthService/OpenDemo`,
      {
        method: 'POST',
        headers: { 'content-type': 'application/json', 'x-session': 'cookie', ...headers },
      },
      async (response) => {
        let text = '';
        for await (const bytes of response) text += String(bytes);
        const [cookie] = response.headers['set-cookie'] ?? [];
        resolve({ status: response.statusCode ?? 0, cookie, body: JSON.parse(text) });
      },
    );
    request.once('error', reject).end(JSON.stringify({ token }));
  });
}

async function issued(at = accounts): Promise<{ token: string; end(): Promise<void> }> {
  const opening = await at.control.issueOpening(projectId);
  if (opening === undefined) throw new Error('no token');
  return opening;
}

it('signs in as the admin of the demo, with a cookie', async () => {
  const { token } = await issued();
  const { status, cookie, body } = await open(token);
  expect([status, body]).toEqual([
    200,
    {
      accessToken: expect.any(String),
      expiresIn: 900,
      customer: expect.objectContaining({ email: demoAdminEmail }),
      projectId,
    },
  ]);
  expect(cookie).toMatch(/^millrace_refresh=ref_/);
  const { orgs } = await accounts
    .as(bearer({ accessToken: String(body['accessToken']) }))
    .orgs.list({});
  expect(orgs).toHaveLength(1);
});

it('opens once, whichever process is asked, and however many ask at once', async () => {
  const { token } = await issued();
  const answers = await Promise.all(
    Array.from({ length: 8 }, (_, index) => open(token, {}, index % 2 === 0 ? accounts : member)),
  );
  expect(answers.map(({ status }) => status).sort()).toEqual([200, ...Array(7).fill(401)]);
  expect((await open(token)).status).toBe(401);
});

it('the newest start counts, and the end of an earlier one leaves its token alone', async () => {
  const first = await issued();
  const second = await issued(member);
  expect((await open(first.token)).status).toBe(401);
  await first.end();
  expect((await open(second.token)).status).toBe(200);
});

it('ends with the process that printed it', async () => {
  const { token, end } = await issued();
  await end();
  expect((await open(token)).status).toBe(401);
});

it.each(['', 'x', 'A'.repeat(43), '💧'])(
  'a token that nobody printed opens nothing: %j',
  async (token) => {
    const { token: right } = await issued();
    const { status } = await open(token);
    expect(status).toBe(token === '' ? 400 : 401);
    expect((await open(right)).status).toBe(200);
  },
);

describe('is refused, and the token is not spent, where', () => {
  let token: string;
  beforeEach(async () => {
    ({ token } = await issued());
  });

  it.each([
    ['forwarded', 'for=192.0.2.1'],
    ['via', '1.1 proxy'],
    ['x-forwarded-for', '192.0.2.1'],
    ['x-forwarded-proto', 'https'],
    ['x-forwarded-host', 'localhost'],
    ['host', 'millrace.example'],
    ['host', '127.0.0.1.example:8080'],
    ['host', '10.0.0.1'],
  ])('the request has %s: %s', async (name, value) => {
    const { status, body } = await open(token, { [name]: value });
    expect([status, body['code']]).toEqual([403, 'permission_denied']);
    expect((await open(token)).status).toBe(200);
  });

  it.each([
    ['the listener is not loopback', { host: '0.0.0.0', facesOthers: false }],
    ['a public URL, trusted proxies or a CDN are set', { host: '127.0.0.1', facesOthers: true }],
  ])('%s', async (_name, reach) => {
    const { brokerUrl, dataDir } = { brokerUrl: broker.url, dataDir: accounts.dataDir };
    const onlyThisMachine = createOnlyThisMachine(reach);
    const exposed = await startAccounts({ brokerUrl, dataDir, control: { onlyThisMachine } });
    try {
      expect(await exposed.control.issueOpening(projectId)).toBeUndefined();
      expect((await open(token, {}, exposed)).status).toBe(403);
    } finally {
      await exposed.close();
    }
    expect((await open(token)).status).toBe(200);
  });

  it('the peer is another machine', async () => {
    const elsewhere = createOnlyThisMachine({ host: '127.0.0.1', facesOthers: false });
    const far = await startAccounts({
      brokerUrl: broker.url,
      dataDir: accounts.dataDir,
      control: {
        onlyThisMachine: (request) => elsewhere({ ...request, peerAddress: '192.168.1.7' }),
      },
    });
    try {
      expect((await open(token, {}, far)).status).toBe(403);
    } finally {
      await far.close();
    }
    expect((await open(token)).status).toBe(200);
  });
});
