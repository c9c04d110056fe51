// What `npm start` runs keeps the ports: restarts and a killed service cost clients that try again no event, and in a
// restart no connection breaks. Connections wait, for no longer than the publish deadline.
// Takes some 170 seconds.

import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readFileSync } from 'node:fs';
import { request } from 'node:http';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as delay } from 'node:timers/promises';
import { promisify } from 'node:util';
import {
  Code,
  ConnectError,
  createClient as createConnectClient,
  type Transport,
} from '@connectrpc/connect';
import { createConnectTransport, createGrpcTransport } from '@connectrpc/connect-node';
import { afterAll, afterEach, expect, it } from 'vitest';
import { EventsService } from '../proto/gen/sdk/events/v1/events_pb.js';
import { createClient } from '../sdk/node/client.ts';
import { eventually, newEvent, rows, type Sent } from './harness/clients/client.ts';
import { removeFolder } from './harness/remove-folder.ts';
import {
  keeperOf,
  killService,
  type Stack,
  signalProcess,
  startStack,
} from './harness/servers/stack.ts';
import { root } from './harness/source-tree.ts';

const dir = mkdtempSync(join(tmpdir(), 'millrace-door-'));
const stacks: Stack[] = [];
afterEach(async () => {
  for (const stack of stacks.splice(0)) await stack.stop();
});
afterAll(() => removeFolder(dir));

async function start(...[options]: Parameters<typeof startStack>): Promise<Stack> {
  const stack = await startStack(options);
  stacks.push(stack);
  return stack;
}

const door = join(root, 'dist', 'door.js');
const isAlive = (pid: number): boolean => existsSync(`/proc/${pid}`);

/** `npm run restart`, without its preparation. */
async function restart(dataDir: string): Promise<string> {
  const command = join(root, 'dist', 'control', 'operator', 'restart.js');
  const { stdout } = await promisify(execFile)(process.execPath, [command, '--data', dataDir]);
  return stdout;
}

interface Sender {
  sent: string[];
  /** Resolves when all that was sent is acknowledged. */
  stop(): Promise<void>;
}

type Outcome = 'acknowledged' | 'try again';

/** Sends event after event, each until it is acknowledged; ends with the first error that `send` throws. */
function startSender(send: (event: Sent) => Promise<Outcome>): Sender {
  const sent: string[] = [];
  let isStopping = false;
  const running = (async () => {
    while (!isStopping) {
      const event = newEvent();
      while ((await send(event)) === 'try again') await delay(20);
      sent.push(event.eventId);
    }
  })();
  running.catch(() => {});
  return {
    sent,
    stop() {
      isStopping = true;
      return running;
    },
  };
}

/** A client of Connect or gRPC that repeats a call by itself. */
function connectSender({ publicKey }: Stack, transport: Transport): Sender {
  const client = createConnectClient(EventsService, transport);
  const options = { headers: { 'x-api-key': publicKey }, timeoutMs: 60_000 };
  return startSender(async ({ occurTime, ...event }) => {
    const seconds = BigInt(Math.floor(Date.parse(occurTime) / 1_000));
    const { eventId, kind, distinctId, sessionId } = event;
    const sent = { eventId, kind, distinctId, sessionId, occurTime: { seconds, nanos: 0 } };
    try {
      await client.batchCreate({ events: [sent] }, options);
      return 'acknowledged';
    } catch (error) {
      if (ConnectError.from(error).code === Code.InvalidArgument) throw error;
      return 'try again';
    }
  });
}

/**
 * A client with a connection for each event, that sends it again where an answer tells it to. A connection that is
 * taken and has brought nothing when a process ends has such an answer; every other one waits.
 */
function patientSender(stack: Stack): Sender {
  return startSender(async (event) => {
    const { status, retryAfter } = await post(stack, JSON.stringify({ events: [event] }));
    if (status === 503 && retryAfter !== undefined) return 'try again';
    expect(status).toBe(200);
    return 'acknowledged';
  });
}

interface Reply {
  status: number;
  body: string;
  retryAfter: string | undefined;
  connection: string | undefined;
}

/** `connected` is called once the system has taken the connection. */
function post(
  { baseUrl, publicKey }: Stack,
  body: string,
  connected: () => void = () => {},
): Promise<Reply> {
  const asked = request(baseUrl + batchCreate, {
    ...{ method: 'POST', agent: false },
    headers: {
      'content-type': 'application/json',
      'x-api-key': publicKey,
      connection: 'keep-alive',
    },
  });
  asked.once('socket', (socket) => socket.once('connect', connected));
  asked.end(body);
  return new Promise((resolve, reject) => {
    asked.once('error', reject);
    asked.once('response', (response) => {
      const { statusCode: status = 0, headers } = response;
      let text = '';
      response.on('data', (bytes) => {
        text += bytes;
      });
      const { connection, 'retry-after': retryAfter } = headers;
      response.once('end', () => resolve({ status, body: text, retryAfter, connection }));
    });
  });
}

const batchCreate = '/sdk.events.v1.EventsService/BatchCreate';

async function storedIds(stack: Stack): Promise<string[]> {
  const query = 'SELECT toString(event_id) AS id FROM events';
  return (await rows<{ id: string }>(stack.clickhouseUrl, query)).map(({ id }) => id).sort();
}

it.each([1, 2])(
  'loses and doubles nothing over restarts and kills, with %s processes',
  async (count) => {
    const dataDir = join(dir, `kept-${count}`);
    const args = ['--ingest', String(count)];
    // On a busy machine a start takes longer than connections wait by default.
    const env = { MILLRACE_PUBLISH_DEADLINE_MS: '120000' };
    const stack = await start({ dataDir, args, env, isKept: true });
    const { baseUrl: url, publicKey: key } = stack;
    // A busy machine is away for longer than its usual queue has room.
    const sdk = createClient({ url, key, flushMs: 20, maxQueued: 200_000 });
    const ownIds: string[] = [];
    const tracking = setInterval(() => {
      const { eventId, kind, distinctId } = newEvent();
      ownIds.push(eventId);
      sdk.track({ eventId, kind, distinctId });
    }, 5);
    const senders = [
      connectSender(stack, createConnectTransport({ baseUrl: url, httpVersion: '1.1' })),
      connectSender(stack, createGrpcTransport({ baseUrl: url })),
    ];
    const patient = patientSender(stack);
    await eventually(
      async () => patient.sent.length,
      (sent) => sent > 10,
    );
    const [first, second] = [stack.pids().service, await restart(dataDir)];
    expect(second).toMatch(new RegExp(`^process \\d+ serves in the place of ${first}, after`));
    await patient.stop();
    await killService(stack);
    // Nobody has to ask for it: the next answer comes from another process.
    const waiting = newEvent();
    expect((await post(stack, JSON.stringify({ events: [waiting] }))).status).toBe(200);
    patient.sent.push(waiting.eventId);
    await restart(dataDir);
    clearInterval(tracking);
    await Promise.all([sdk.close(120_000), ...senders.map((sender) => sender.stop())]);
    expect(sdk.dropped).toBe(0);
    expect(await stack.stop()).toMatchObject({ code: 0 });

    const after = await start({ dataDir });
    const sent = [...ownIds, ...patient.sent, ...senders.flatMap((sender) => sender.sent)].sort();
    const stored = await eventually(
      () => storedIds(after),
      (ids) => ids.length >= sent.length,
    );
    expect(stored).toEqual(sent);
    await after.stop();
  },
);

it.each([1, 2])('answers those who waited for long, with %s processes', async (count) => {
  const env = { MILLRACE_PUBLISH_DEADLINE_MS: '1' };
  const dataDir = join(dir, `short-${count}`);
  const args = ['--ingest', String(count)];
  const stack = await start({ dataDir, args, env, isKept: true });
  // The keeper starts no service before somebody waits.
  const keeper = keeperOf(stack);
  signalProcess(keeper, 'SIGSTOP');
  await killService(stack);
  let waiting: Promise<Reply> | undefined;
  await new Promise<void>((connected) => {
    waiting = post(stack, '{}', connected);
  }).finally(() => signalProcess(keeper, 'SIGCONT'));
  const away = { status: 503, body: 'starting\n', retryAfter: '1', connection: 'close' };
  expect(await waiting).toEqual(away);
  await eventually(
    () => fetch(`${stack.baseUrl}/readyz`).then(({ status }) => status),
    (status) => status === 200,
  );
  const { service } = stack.pids();
  expect(JSON.parse(readFileSync(join(dataDir, 'kept-service.json'), 'utf8'))).toMatchObject({
    pid: service,
  });
  const lines = stack
    .log()
    .split('\n')
    .filter((line) => line.includes('the service is started again'));
  expect(lines.map((line) => JSON.parse(line))).toEqual([
    expect.objectContaining({ killedBy: 'SIGKILL', isAgain: true }),
  ]);
  await stack.stop();
});

it('ends all of it when the keeper is killed, so that another one can start', async () => {
  const dataDir = join(dir, 'orphan');
  const stack = await start({ dataDir, isKept: true });
  const pids = Object.values(stack.pids());
  signalProcess(keeperOf(stack), 'SIGKILL');
  await eventually(
    async () => pids.filter(isAlive),
    (alive) => alive.length === 0,
  );
  const next = await start({ dataDir, isKept: true });
  // A service manager and a terminal signal every process, and the keeper signals the service too.
  signalProcess(next.pids().service, 'SIGTERM');
  expect(await next.stop()).toMatchObject({ code: 0 });
  await expect(restart(dataDir)).rejects.toThrow('no service that `npm start` has started runs on');
});

it('is no keeper of a service, whoever opens a channel to its child', async () => {
  const main = join(root, 'dist', 'main.js');
  const args = [main, '--json', '--port', '0', '--data', join(dir, 'channel')];
  const service = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit', 'ipc'] });
  if (service.stdout === null) throw new Error('it prints nowhere');
  const [line] = await once(createInterface({ input: service.stdout }), 'line');
  expect(JSON.parse(String(line))).toHaveProperty('baseUrl');
  service.kill('SIGTERM');
  expect(await once(service, 'exit')).toEqual([0, null]);
});

it('ends with the code and the sentence of a service that cannot start', async () => {
  const taken = createServer().listen(0, '127.0.0.1');
  await once(taken, 'listening');
  const address = taken.address();
  const port = typeof address === 'object' && address !== null ? address.port : 0;
  const keeper = spawn(process.execPath, [door, '--port', `${port}`, '--data', join(dir, 'none')]);
  let printed = '';
  for (const stream of [keeper.stdout, keeper.stderr]) {
    stream.on('data', (bytes) => {
      printed += bytes;
    });
  }
  expect(await once(keeper, 'close')).toEqual([1, null]);
  expect(printed).toBe(
    `millrace: port ${port} on 127.0.0.1 is taken: stop what uses it, or choose another with --port\n`,
  );
  taken.close();
});
