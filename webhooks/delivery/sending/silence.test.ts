// Receivers that say nothing, not all of it, or nothing for a while: the log tells what happened and how long it took,
// in the public internet (127.0.0.2 stands for it) and in a network that the operator opened (127.0.0.1).

import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { systemClock } from '../../../platform/clock.ts';
import { networks } from '../../../platform/private-networks.ts';
import type { WebhookRecord } from '../../../platform/webhooks/webhook-record.ts';
import { ownPort } from '../../../test/harness/listen.ts';
import { selfSigned } from '../../../test/harness/servers/mail-server.ts';
import { newDelivery, testSecret } from '../../../test/harness/webhooks/delivery-broker.ts';
import {
  resetConnection,
  startReceiver,
  startSilentServer,
  startUnreachableServer,
} from '../../../test/harness/webhooks/receiver.ts';
import { type Attempt, createAttempts } from './attempt.ts';

const hosts: Record<string, string> = {
  'public.example': '127.0.0.2',
  'opened.example': '127.0.0.1',
};
const own = selfSigned('DNS:public.example,DNS:opened.example');
/** Longer than a busy machine takes to connect, TLS and all. */
const connectTimeoutMs = 3_000;
const attemptTimeoutMs = 6_000;
const resetAfterMs = 200;

const opened: { close(): Promise<void> }[] = [];
afterAll(() => Promise.all(opened.map((server) => server.close())));

function closedAfterwards<S extends { close(): Promise<void> }>(server: S): S {
  opened.push(server);
  return server;
}

interface Made {
  attempt: Attempt;
  /** Seen from outside. */
  tookMs: number;
}

async function attemptAt(url: string, logsAllowedBodies = false): Promise<Made> {
  const attempts = createAttempts({
    secretBox: { open: () => testSecret },
    clock: systemClock,
    allowed: networks(['127.0.0.1/32']),
    logsAllowedBodies,
    internet: {
      isPublic: (address) => address === '127.0.0.2',
      resolve: async (host) => [{ address: hosts[host] ?? '' }],
    },
    extraCertificates: own.cert,
    connectTimeoutMs,
    attemptTimeoutMs,
  });
  const startMs = performance.now();
  const webhook = webhookAt(url);
  const result = await attempts.make(newDelivery('o', 'hook'), { organizationId: 'o', webhook });
  const tookMs = performance.now() - startMs;
  await attempts.close();
  if (result.kind !== 'made') throw new Error(result.kind);
  return { attempt: result.attempt, tookMs };
}

function webhookAt(endpointUrl: string): WebhookRecord {
  const [id, name, description, status] = ['hook', '', '', 'ACTIVE'] as const;
  const times = { createTime: '', updateTime: '', activeTime: '' };
  const fields = { id, name, description, status, endpointUrl, subscriptions: [] };
  return { ...fields, ...times, sealedSecret: '' };
}

/** At least as long as it must have been, and no longer than it was. */
function expectDuration({ attempt, tookMs }: Made, leastMs: number): void {
  expect(attempt.durationMs).toBeGreaterThanOrEqual(leastMs - 5);
  expect(attempt.durationMs).toBeLessThanOrEqual(Math.ceil(tookMs));
}

describe.each(Object.entries(hosts))('a receiver at %s', (name, host) => {
  let url: (path: string) => string;
  beforeAll(async () => {
    const receiver = await startReceiver({
      tls: own,
      host,
      answer(request, response) {
        if (request.url === '/stalls') response.writeHead(200).write('begin');
        else if (request.url === '/resets') {
          setTimeout(() => resetConnection(response), resetAfterMs);
        } else return false;
        return true;
      },
    });
    closedAfterwards(receiver);
    url = (path) => `https://${name}:${receiver.port}${path}`;
  });

  it('that never answers: timeout', async () => {
    const made = await attemptAt(url('/slow-headers'));
    expect(made.attempt).toMatchObject({ kind: 'failed', error: 'timeout', responseCode: 0 });
    expectDuration(made, attemptTimeoutMs);
  });

  it('that stalls in its answer: timeout, with its status', async () => {
    const made = await attemptAt(url('/stalls'));
    expect(made.attempt).toMatchObject({ kind: 'failed', error: 'timeout', responseCode: 200 });
    expectDuration(made, attemptTimeoutMs);
  });

  it('that never ends the handshake of TLS: timeout', async () => {
    const { port } = closedAfterwards(await startSilentServer(host));
    const made = await attemptAt(`https://${name}:${port}/`);
    expect(made.attempt).toMatchObject({ kind: 'failed', error: 'timeout', responseCode: 0 });
    expectDuration(made, connectTimeoutMs);
    expect(made.attempt.durationMs).toBeLessThan(attemptTimeoutMs);
  });

  it('whose packets are dropped: timeout', async () => {
    const { port } = closedAfterwards(await startUnreachableServer(host));
    const made = await attemptAt(`https://${name}:${port}/`);
    expect(made.attempt).toMatchObject({ kind: 'failed', error: 'timeout', responseCode: 0 });
    expectDuration(made, connectTimeoutMs);
    expect(made.attempt.durationMs).toBeLessThan(attemptTimeoutMs);
  });

  it('that refuses connections: a failed connection, of no time', async () => {
    const { attempt } = await attemptAt(`https://${name}:${await ownPort()}/`);
    expect(attempt).toMatchObject({ error: 'connection_failed', responseCode: 0, durationMs: 0 });
  });

  it('that ends the connection before its answer: a failed connection, with its time where the log tells all', async () => {
    const made = await attemptAt(url('/resets'), true);
    expect(made.attempt).toMatchObject({ error: 'connection_failed', responseCode: 0 });
    expectDuration(made, resetAfterMs);
    const isPublic = name === 'public.example';
    const { attempt } = await attemptAt(url('/resets'));
    expect(attempt).toMatchObject({ error: 'connection_failed', responseCode: 0 });
    expect(attempt.durationMs > 0).toBe(isPublic);
  });
});

it('a receiver in plain http that never answers: timeout', async () => {
  const { port } = closedAfterwards(await startSilentServer());
  const made = await attemptAt(`http://127.0.0.1:${port}/`);
  expect(made.attempt).toMatchObject({ kind: 'failed', error: 'timeout', responseCode: 0 });
  expectDuration(made, attemptTimeoutMs);
});
