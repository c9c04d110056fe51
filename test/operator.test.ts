// What an operator sees of the whole product: its health, the ledger by hour through a kill, dead letters of all
// projects. The session comes from the address that the start prints, as a browser's does.

import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { Code, ConnectError, createClient, type Interceptor } from '@connectrpc/connect';
import { createConnectTransport } from '@connectrpc/connect-node';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { connectBroker } from '../platform/broker/nats.ts';
import { eventsSubject } from '../platform/broker/streams.ts';
import { createLog } from '../platform/log.ts';
import {
  type LedgerCounts,
  OperatorService,
} from '../proto/gen/dashboard/operator/v1/operator_pb.js';
import { encodeContext } from '../proto/wire/frame.ts';
import { encodeFrame } from '../proto/wire/frame-writer.ts';
import { batchCreate, eventually, newEvent } from './harness/clients/client.ts';
import { type Stack, startStack } from './harness/servers/stack.ts';
import { root } from './harness/source-tree.ts';

let stack: Stack;
let accessToken: string;
beforeAll(async () => {
  stack = await startStack({ args: ['--ingest', '2'] });
  accessToken = await openPrintedAddress();
});
afterAll(async () => {
  await stack.stop();
});

async function openPrintedAddress(): Promise<string> {
  const [page, token] = (stack.openUrl ?? '').split('#');
  expect(page).toBe(`${stack.baseUrl}/open`);
  const answer = await fetch(`${stack.baseUrl}/public.auth.v1.AuthService/OpenDemo`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-session': 'cookie' },
    body: JSON.stringify({ token }),
  });
  const body: Record<string, string> = JSON.parse(await answer.text());
  expect(body).toMatchObject({ projectId: stack.projectId });
  return body['accessToken'] ?? '';
}

function operator() {
  const withToken: Interceptor = (next) => (request) => {
    request.header.set('authorization', `Bearer ${accessToken}`);
    return next(request);
  };
  const { baseUrl } = stack;
  const transport = createConnectTransport({
    baseUrl,
    httpVersion: '1.1',
    interceptors: [withToken],
  });
  return createClient(OperatorService, transport);
}

const plain = ({
  accepted,
  stored,
  duplicates,
  deadLetters,
  difference,
  lostMessages,
}: LedgerCounts) =>
  [accepted, stored, duplicates, deadLetters, difference, lostMessages].map(Number);

async function account() {
  const { totals, hours, queuedMessages } = await operator().listLedgerHours({ hours: 2 });
  const sums = hours.map(({ counts }) => (counts ? plain(counts) : []));
  const sum = sums.reduce((a, b) => b.map((value, index) => value + (a[index] ?? 0)), []);
  return { totals: totals ? plain(totals) : [], sum, queued: Number(queuedMessages) };
}

it('is closed to an admin of an organization, until the operator says otherwise', async () => {
  const refused = await operator().getHealth({}).catch(ConnectError.from);
  expect(refused).toMatchObject({ code: Code.PermissionDenied });
  const command = join(root, 'dist', 'admin.js');
  const words = ['grant-super-admin', '--email', 'admin@millrace.example'];
  const run = spawnSync(process.execPath, [command, '--data', stack.dataDir, ...words]);
  expect(run.status).toBe(0);
  await eventually(
    () =>
      operator()
        .getHealth({})
        .then(
          () => true,
          () => false,
        ),
    (open) => open,
  );
});

it('sees every part, queue, bucket and process', async () => {
  const health = await operator().getHealth({});
  const names = health.parts.map(({ name }) => name);
  expect(names).toEqual([
    ...['broker', 'shard-0', 'records', 'dead-letters', 'deliveries'],
    ...['clickhouse', 'buckets', 'disk', 'pipeline', 'webhooks'],
  ]);
  expect(health.parts.every(({ ready }) => ready)).toBe(true);
  expect(health.shards).toHaveLength(1);
  const [shard] = health.shards;
  expect(shard).toMatchObject({ shard: 0, events: { lagMs: 0n }, profiles: { messages: 0n } });
  expect(Number(shard?.events?.maxBytes)).toBeGreaterThan(0);
  expect(health.buckets.map(({ name }) => name)).toContain('ledger_hours');
  expect(health.buckets.every(({ scarce }) => scarce === false)).toBe(true);
  expect(Number(health.disk?.freeBytes)).toBeGreaterThan(0);
  expect(health.processes.map(({ name }) => name).sort()).toEqual(['ingest-1', 'ingest-2', 'main']);
  // The newer ones of two: the package's, unless this Node carries newer ones.
  const { version = '', packageVersion = '', nodeVersion } = health.timeZones ?? {};
  expect(packageVersion).toMatch(/^20\d\d[a-z]$/);
  expect(nodeVersion).toBe(process.versions['tz']);
  expect(version).toBe([packageVersion, nodeVersion].sort().at(-1));
  expect(stack.log()).toContain('"msg":"rules of time zones');
  expect(health.processes.every((one) => Number(one.memoryBytes) > 1e6)).toBe(true);
});

it('balances accepted with stored, duplicates and dead letters, also after a kill', async () => {
  const twice = newEvent();
  await batchCreate(stack, [twice, newEvent(), newEvent()]);
  await batchCreate(stack, [twice]);
  await publishUnreadable(newEvent({ kind: 'hopeless', sessionId: 'no session' }));
  const expected = [5, 3, 1, 1, 0, 0];
  const before = await eventually(account, ({ totals }) => totals[0] === 5);
  expect(before).toMatchObject({ totals: expected, sum: expected });
  await eventually(account, ({ queued }) => queued === 0);

  await batchCreate(stack, [newEvent()]);
  stack.kill9('service');
  stack = await stack.restart();
  accessToken = await openPrintedAddress();
  const after = await eventually(account, ({ totals }) => totals[0] === 6);
  expect(after).toMatchObject({ totals: [6, 4, 1, 1, 0, 0], sum: [6, 4, 1, 1, 0, 0] });
});

it('lists dead letters of all projects, and says which hours it has', async () => {
  const { deadLetters, nextPageToken } = await operator().listDeadLetters({});
  expect(deadLetters).toMatchObject([
    { projectId: stack.projectId, reason: 'session_id_invalid', kind: 'hopeless', events: 1n },
  ]);
  expect(nextPageToken).toBe('');
  const tooFar = await operator().listLedgerHours({ hours: 2_161 }).catch(ConnectError.from);
  expect(tooFar).toMatchObject({
    code: Code.InvalidArgument,
    rawMessage: expect.stringMatching(/^hours: /),
  });
});

/** Ingest would refuse it: a fault of an ingest that let it pass. */
async function publishUnreadable(event: object): Promise<void> {
  const nats = await connectBroker(stack.natsUrl, createLog('silent'));
  const context = {
    projectId: stack.projectId,
    credential: 'public',
    receiveTimeMs: Date.now(),
  } as const;
  const body = new TextEncoder().encode(JSON.stringify({ events: [event] }));
  const frame = encodeFrame([{ context: encodeContext(context), body, events: 1 }]);
  await nats.jetstream().publish(eventsSubject(0), frame);
  await nats.close();
}
