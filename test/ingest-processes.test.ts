// `--ingest 2`: two processes on one port act as one, one is replaced when it dies, and all end together.

import { existsSync, readFileSync } from 'node:fs';
import { Agent, type ClientRequest, type IncomingMessage, request } from 'node:http';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import {
  type Answer,
  batchCreate,
  call,
  eventually,
  newEvent,
  rows,
} from './harness/clients/client.ts';
import { type Stack, signalProcess, startStack } from './harness/servers/stack.ts';

const path = '/sdk.events.v1.EventsService/BatchCreate';
const names = ['ingest-1', 'ingest-2'];

let stack: Stack;
beforeAll(async () => {
  stack = await startStack({ args: ['--ingest', '2'] });
});
afterAll(async () => {
  await stack.stop();
});

const isAlive = (pid: number): boolean => existsSync(`/proc/${pid}`);

/** One keep-alive connection: a single process answers it. */
class Connection {
  readonly #agent = new Agent({ keepAlive: true, maxSockets: 1 });

  begin(headers: Record<string, string | number>): ClientRequest {
    const { hostname, port } = new URL(stack.baseUrl);
    return request({
      ...{ agent: this.#agent, hostname, port, path, method: 'POST' },
      headers: { 'content-type': 'application/json', 'x-api-key': stack.publicKey, ...headers },
    });
  }

  async send(events: readonly object[], headers: Record<string, string> = {}): Promise<number> {
    const begun = this.begin(headers);
    begun.end(JSON.stringify({ events }));
    return statusOf(begun);
  }

  close(): void {
    this.#agent.destroy();
  }
}

async function statusOf(begun: ClientRequest): Promise<number> {
  const response = await new Promise<IncomingMessage>((resolve, reject) => {
    begun.once('response', resolve);
    begun.once('error', reject);
  });
  await new Promise((resolve) => response.resume().once('end', resolve));
  return response.statusCode ?? 0;
}

/** Accepted events by process, from the metrics page, which any process serves. */
async function accepted(): Promise<Map<string, number>> {
  const page = await (await fetch(`${stack.baseUrl}/metrics`)).text();
  const lines = page.matchAll(/^millrace_accepted_events_total\{process="(.+)"\} (\d+)$/gm);
  return new Map([...lines].map(([, name = '', value]) => [name, Number(value)]));
}

/** Opens a connection to each process: the others are stopped meanwhile. */
async function connectToEach(): Promise<Connection[]> {
  const connections: Connection[] = [];
  for (const pid of stack.ingestPids()) {
    const others = stack.ingestPids().filter((other) => other !== pid);
    for (const other of others) signalProcess(other, 'SIGSTOP');
    try {
      await eventually(
        async () => others.map(stateOf),
        (states) => states.every((state) => state === 'T'),
      );
      const connection = new Connection();
      expect(await connection.send([newEvent()])).toBe(200);
      connections.push(connection);
    } finally {
      for (const other of others) signalProcess(other, 'SIGCONT');
    }
  }
  expect(connections).toHaveLength(2);
  return connections;
}

/** The state letter of ps(1): T for a stopped process. */
function stateOf(pid: number): string {
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
  return stat.charAt(stat.lastIndexOf(')') + 2);
}

async function asAdmin(method: string, message: object): Promise<Answer['body']> {
  const admin = JSON.parse(readFileSync(join(stack.dataDir, 'demo-admin.json'), 'utf8'));
  const login = { email: admin.adminEmail, password: admin.adminPassword };
  const signedIn = await call(stack.baseUrl, '/public.auth.v1.AuthService/SignIn', '', login);
  const authorization = `Bearer ${signedIn.body['accessToken']}`;
  const service = '/dashboard.projects.v1.ProjectsService';
  const headers = { authorization, 'x-project-id': stack.projectId };
  const answer = await call(stack.baseUrl, `${service}/${method}`, '', message, headers);
  expect(answer).toMatchObject({ status: 200 });
  return answer.body;
}

it('is ready when each process serves, and shows each on one page', async () => {
  expect(stack.ingestPids()).toHaveLength(2);
  expect([...(await accepted()).keys()].sort()).toEqual(names);
  const ready = async () => {
    const response = await fetch(`${stack.baseUrl}/readyz?verbose`);
    return [response.status, await response.json()];
  };
  const parts = {
    broker: true,
    'shard-0': true,
    records: true,
    'dead-letters': true,
    deliveries: true,
    clickhouse: true,
    buckets: true,
    disk: true,
    pipeline: true,
    webhooks: true,
  };
  await expect.poll(ready).toEqual([200, parts]);
});

it('gives a visitor without an identity one id, whichever process answers', async () => {
  const connections = await connectToEach();
  for (const connection of connections) {
    const { distinctId: _, sessionId: __, ...event } = newEvent();
    const headers = { 'user-agent': 'Mozilla/5.0 (one visitor)' };
    expect(await connection.send([{ ...event, cookieless: true }], headers)).toBe(200);
    connection.close();
  }
  const query = `SELECT toInt32(count()) AS events, toInt32(uniqExact(distinct_id)) AS ids
    FROM events WHERE cookieless`;
  const [stored] = await eventually(
    () => rows<{ events: number; ids: number }>(stack.clickhouseUrl, query),
    ([found]) => found?.events === 2,
  );
  expect(stored).toEqual({ events: 2, ids: 1 });
});

it('refuses a revoked key in each process', async () => {
  const made = await asAdmin('CreateApiKey', { kind: 'API_KEY_KIND_PUBLIC', displayName: 'short' });
  const { id } = made['apiKey'] as { id: string };
  const headers = { 'x-api-key': String(made['key']) };
  const connections = await connectToEach();
  const statuses = () => Promise.all(connections.map((each) => each.send([newEvent()], headers)));
  await eventually(statuses, (all) => all.every((status) => status === 200));
  await asAdmin('RevokeApiKey', { id });
  await eventually(statuses, (all) => all.every((status) => status === 401));
  for (const connection of connections) connection.close();
});

it('replaces a killed process, and loses nothing that was acknowledged', async () => {
  const load = startLoad('killed');
  await eventually(
    async () => load.acknowledged.size,
    (size) => size >= 20,
  );
  const [victim = 0, other] = stack.ingestPids();
  signalProcess(victim, 'SIGKILL');
  await eventually(
    async () => ({ pids: stack.ingestPids(), serving: [...(await acceptedOrNone()).keys()] }),
    ({ pids, serving }) =>
      pids.length === 2 && !pids.includes(victim) && serving.length === names.length,
  );
  expect(stack.ingestPids()).toContain(other);
  const soFar = load.acknowledged.size;
  await eventually(
    async () => load.acknowledged.size,
    (size) => size >= soFar + 20,
  );
  await load.stop();
  await expectStoredOnce('killed', load.acknowledged.size);
});

it('leaves no process behind when the service itself is killed', async () => {
  const load = startLoad('orphans');
  await eventually(
    async () => load.acknowledged.size,
    (size) => size >= 20,
  );
  const pids = stack.ingestPids();
  stack.kill9('service');
  await eventually(
    async () => pids.filter(isAlive),
    (alive) => alive.length === 0,
  );
  const restarting = stack.restart();
  load.abandon();
  stack = await restarting;
  await eventually(
    () => storedEvents('orphans'),
    ({ ids }) => [...load.acknowledged].every((id) => ids.includes(id)),
  );
  const { events, ids } = await storedEvents('orphans');
  expect(events).toBe(ids.length);
});

it('ends all of them on SIGTERM, after the request in flight is answered', async () => {
  const connection = new Connection();
  const body = JSON.stringify({ events: [newEvent()] });
  const begun = connection.begin({ expect: '100-continue', 'content-length': body.length });
  const status = statusOf(begun);
  begun.flushHeaders();
  // The process has the head of the request, and waits for the rest.
  await new Promise((resolve) => begun.once('continue', resolve));
  const pids = [stack.pids().service, ...stack.ingestPids()];
  // Signals every process, like a service manager; the service itself signals its members too.
  for (const pid of stack.ingestPids()) signalProcess(pid, 'SIGTERM');
  const ended = stack.stop();
  await eventually(
    async () => stack.log().match(/"draining"/g)?.length,
    (draining) => draining === pids.length,
  );
  begun.end(body);
  expect(await status).toBe(200);
  expect(await ended).toMatchObject({ code: 0 });
  expect(pids.filter(isAlive)).toEqual([]);
});

interface Load {
  acknowledged: Set<string>;
  /** Resolves when each event sent so far is acknowledged. */
  stop(): Promise<void>;
  /** Stops, and gives up on events without an acknowledgement. */
  abandon(): void;
}

/** Sends event after event; an event without an acknowledgement is sent again until it has one. */
function startLoad(distinctId: string): Load {
  const acknowledged = new Set<string>();
  let isStopping = false;
  let isAbandoned = false;
  const sender = async (): Promise<void> => {
    while (!isStopping) {
      const event = newEvent({ distinctId });
      while (!isAbandoned && !(await isAcknowledged(event)));
      if (!isAbandoned) acknowledged.add(event.eventId);
    }
  };
  const running = Promise.all(Array.from({ length: 4 }, sender));
  return {
    acknowledged,
    async stop() {
      isStopping = true;
      await running;
    },
    abandon() {
      isStopping = true;
      isAbandoned = true;
    },
  };
}

async function isAcknowledged(event: object): Promise<boolean> {
  try {
    return (await batchCreate(stack, [event])).status === 200;
  } catch {
    return false;
  }
}

async function acceptedOrNone(): Promise<Map<string, number>> {
  try {
    return await accepted();
  } catch {
    return new Map();
  }
}

async function storedEvents(distinctId: string): Promise<{ events: number; ids: string[] }> {
  const [found] = await rows<{ events: number; ids: string[] }>(
    stack.clickhouseUrl,
    `SELECT toInt32(count()) AS events, groupUniqArray(toString(event_id)) AS ids
     FROM events WHERE distinct_id = '${distinctId}'`,
  );
  return found ?? { events: 0, ids: [] };
}

async function expectStoredOnce(distinctId: string, events: number): Promise<void> {
  await eventually(
    async () => (await storedEvents(distinctId)).ids.length,
    (stored) => stored === events,
  );
  expect((await storedEvents(distinctId)).events).toBe(events);
}
