// Attempts against names that this test makes up and servers of this machine: who may be reached, what proves the
// server, and what the log may tell. 127.0.0.2 stands for the public internet, 127.0.0.1 for our own network.

import type { BlockList } from 'node:net';
import { connect } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { systemClock } from '../../../platform/clock.ts';
import { networks } from '../../../platform/private-networks.ts';
import type { WebhookRecord } from '../../../platform/webhooks/webhook-record.ts';
import { selfSigned } from '../../../test/harness/servers/mail-server.ts';
import { newDelivery, testSecret } from '../../../test/harness/webhooks/delivery-broker.ts';
import {
  expiredCertificate,
  type Receiver,
  startReceiver,
} from '../../../test/harness/webhooks/receiver.ts';
import { type Attempt, type AttemptOptions, createAttempts } from './attempt.ts';

const outside = '127.0.0.2';
const inside = '127.0.0.1';
const nothing = networks([]);
const own = selfSigned('DNS:hooks.example,DNS:flip.example,DNS:two.example,IP:127.0.0.1');

let publicServer: Receiver;
let privateServer: Receiver;
let expiredServer: Receiver;
beforeAll(async () => {
  publicServer = await startReceiver({ tls: own, host: outside });
  privateServer = await startReceiver({ tls: own });
  expiredServer = await startReceiver({
    tls: expiredCertificate('DNS:hooks.example'),
    host: outside,
  });
});
afterAll(async () => {
  for (const server of [publicServer, privateServer, expiredServer]) await server.close();
});

/** Resolves names by the lists, one after the other, the last one from then on. */
function namesOf(answers: Record<string, string[][]>) {
  const asked: string[] = [];
  return {
    asked,
    isPublic: (address: string) => address === outside,
    async resolve(host: string) {
      const count = asked.filter((name) => name === host).length;
      asked.push(host);
      const lists = answers[host] ?? [];
      const addresses = lists[Math.min(count, lists.length - 1)];
      if (addresses === undefined) throw Object.assign(new Error(), { code: 'ENOTFOUND' });
      return addresses.map((address) => ({ address }));
    },
  };
}

type Given = Partial<AttemptOptions> & { allowed?: BlockList };

/** Makes attempts at each URL in turn, with the same connections. */
async function attemptsAt(urls: readonly string[], given: Given = {}): Promise<Attempt[]> {
  const attempts = createAttempts({
    secretBox: { open: () => testSecret },
    clock: systemClock,
    allowed: nothing,
    logsAllowedBodies: false,
    internet: namesOf({ 'hooks.example': [[outside]] }),
    extraCertificates: own.cert,
    attemptTimeoutMs: 20_000,
    connectTimeoutMs: 10_000,
    ...given,
  });
  const made: Attempt[] = [];
  try {
    for (const endpointUrl of urls) {
      const result = await attempts.make(newDelivery('org', 'hook'), {
        organizationId: 'org',
        webhook: webhookAt(endpointUrl),
      });
      if (result.kind === 'made') made.push(result.attempt);
      // A connection is free for the next request a moment after its answer.
      await delay(20);
    }
  } finally {
    await attempts.close();
  }
  return made;
}

function webhookAt(endpointUrl: string): WebhookRecord {
  const [id, name, description, status] = ['hook', '', '', 'ACTIVE'] as const;
  const [createTime, updateTime, activeTime] = ['', '', ''];
  const times = { createTime, updateTime, activeTime };
  const fields = { id, name, description, status, endpointUrl, subscriptions: [] };
  return { ...fields, ...times, sealedSecret: '' };
}

const failed = { kind: 'failed', error: 'connection_failed', responseCode: 0, durationMs: 0 };

describe('a name', () => {
  it('is resolved once, and its certificate and Host are those of the name', async () => {
    const internet = namesOf({ 'hooks.example': [[outside]] });
    const url = `https://hooks.example:${publicServer.port}/200`;
    expect(await attemptsAt([url, url], { internet })).toMatchObject([
      { kind: 'succeeded', responseBody: 'thank you' },
      { kind: 'succeeded' },
    ]);
    expect(internet.asked).toEqual(['hooks.example']);
    const host = publicServer.received.at(-1)?.headers.host;
    expect(host).toBe(`hooks.example:${publicServer.port}`);
  });

  it('that leads inside at the second look-up reaches what the first one said, and then nothing', async () => {
    const internet = namesOf({ 'flip.example': [[outside], [inside]] });
    const reset = `https://flip.example:${publicServer.port}/reset`;
    const before = privateServer.connections();
    const [first, second] = await attemptsAt([reset, reset], { internet });
    expect(publicServer.received.at(-1)?.path).toBe('/reset');
    expect(first).toMatchObject({ kind: 'failed', error: 'connection_failed', responseCode: 0 });
    expect(second).toMatchObject(failed);
    expect(internet.asked).toHaveLength(2);
    expect(privateServer.connections()).toBe(before);
  });

  it.each([
    [[outside, inside]],
    [[inside, outside]],
    [['::ffff:127.0.0.1']],
    [['64:ff9b::7f00:1']],
    [['169.254.169.254']],
    [[]],
  ])('with the addresses %j reaches nothing', async (addresses) => {
    const internet = namesOf({ 'two.example': [addresses] });
    const before = privateServer.connections() + publicServer.connections();
    const urls = [publicServer, privateServer].map(({ port }) => `https://two.example:${port}/200`);
    expect(await attemptsAt(urls, { internet })).toMatchObject([failed, failed]);
    expect(privateServer.connections() + publicServer.connections()).toBe(before);
  });

  it('is not spoken to in plain http, even where it is public', async () => {
    const url = `http://hooks.example:${publicServer.port}/200`;
    const opened = networks(['10.0.0.0/8']);
    expect(await attemptsAt([url], { allowed: opened })).toMatchObject([failed]);
  });
});

describe('an address', () => {
  it.each([
    '127.0.0.1',
    '2130706433',
    '0x7f000001',
    '0177.0.0.1',
    '127.1',
    '0.0.0.0',
    '[::ffff:127.0.0.1]',
    '[::1]',
    '[64:ff9b::7f00:1]',
    'localhost',
  ])('of our own network, written %s, is not connected to', async (host) => {
    const before = privateServer.connections();
    const url = `https://${host}:${privateServer.port}/200`;
    const made = await attemptsAt([url], { internet: namesOf({ localhost: [[inside]] }) });
    expect(made).toMatchObject([failed]);
    expect(privateServer.connections()).toBe(before);
  });

  it('that a socket is really connected to counts, wherever it was sent', async () => {
    const before = privateServer.received.length;
    const elsewhere = () => (_: unknown, callback: (error: null, socket: never) => void) => {
      const socket = connect(privateServer.port, inside);
      socket.once('connect', () => callback(null, socket as never));
      return socket;
    };
    const url = `https://hooks.example:${publicServer.port}/200`;
    const made = await attemptsAt([url], { connect: elsewhere as never });
    expect(made).toMatchObject([failed]);
    expect(privateServer.received).toHaveLength(before);
  });
});

describe('a certificate', () => {
  it.each([
    ['that has expired', () => expiredServer, 'hooks.example'],
    ['for another name', () => publicServer, 'other.example'],
  ])('%s ends the attempt', async (_, server, name) => {
    const internet = namesOf({ [name]: [[outside]] });
    const before = server().received.length;
    const made = await attemptsAt([`https://${name}:${server().port}/200`], { internet });
    expect(made).toMatchObject([{ kind: 'failed', error: 'tls_failed', responseCode: 0 }]);
    expect(server().received).toHaveLength(before);
  });
});

describe('in a network that the operator opened', () => {
  const allowed = networks(['127.0.0.1/32']);
  const url = (path: string) => `https://127.0.0.1:${privateServer.port}${path}`;
  const paths = ['/200', '/500', '/reset'];

  it('an answer is its status alone', async () => {
    expect(await attemptsAt(paths.map(url), { allowed })).toMatchObject([
      { kind: 'succeeded', responseCode: 200, responseBody: '' },
      { kind: 'failed', responseCode: 500, error: 'http_status', responseBody: '' },
      failed,
    ]);
    const untrusted = { allowed, extraCertificates: selfSigned().cert };
    expect(await attemptsAt([url('/200')], untrusted)).toMatchObject([failed]);
  });

  it('an answer is kept where the operator wants it', async () => {
    const made = await attemptsAt([url('/200')], { allowed, logsAllowedBodies: true });
    expect(made).toMatchObject([{ responseBody: 'thank you' }]);
  });
});

it('a connection that was kept and is reset at once is replaced by a new one', async () => {
  const served = new WeakSet<object>();
  const server = await startReceiver({
    answer(request, response) {
      if (served.has(request.socket)) request.socket.resetAndDestroy();
      else response.end('new');
      served.add(request.socket);
      return true;
    },
  });
  const made = await attemptsAt([server.url('/'), server.url('/')], {
    allowed: networks(['127.0.0.1/32']),
  });
  await server.close();
  expect(made).toMatchObject([{ kind: 'succeeded' }, { kind: 'succeeded' }]);
  expect(server.received).toHaveLength(3);
});
