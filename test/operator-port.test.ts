// MILLRACE_OPERATOR_PORT moves the detailed pages to a port of their own. One process holds it, also where several
// serve the public port.

import { afterAll, beforeAll, expect, it } from 'vitest';
import { batchCreate, eventually, newEvent } from './harness/clients/client.ts';
import { ownPort } from './harness/listen.ts';
import { type Stack, signalProcess, startStack } from './harness/servers/stack.ts';

const token = 'sixteen-or-more-characters';
let stack: Stack;
let operatorUrl: string;

beforeAll(async () => {
  const port = await ownPort();
  operatorUrl = `http://127.0.0.1:${port}`;
  stack = await startStack({
    args: ['--ingest', '2'],
    env: {
      MILLRACE_OPERATOR_PORT: String(port),
      MILLRACE_OPERATOR_TOKEN: token,
      // A proxy on this machine brings the whole world.
      MILLRACE_TRUSTED_PROXIES: '127.0.0.0/8',
    },
  });
});
afterAll(async () => {
  await stack.stop();
});

const asOperator = { headers: { authorization: `Bearer ${token}` } };

it('the public port has the open pages only', async () => {
  expect(await read(`${stack.baseUrl}/healthz`)).toEqual([200, 'ok\n']);
  await expect.poll(() => read(`${stack.baseUrl}/readyz`)).toEqual([200, 'ready\n']);
  for (const page of ['/metrics', '/readyz?verbose']) {
    const [status, text] = await read(stack.baseUrl + page, asOperator);
    expect([status, text]).toEqual([404, expect.stringContaining('MILLRACE_OPERATOR_PORT')]);
  }
});

it('its own port has all pages, the detailed ones for the token', async () => {
  expect(await read(`${operatorUrl}/healthz`)).toEqual([200, 'ok\n']);
  await expect.poll(() => read(`${operatorUrl}/readyz`)).toEqual([200, 'ready\n']);
  for (const page of ['/metrics', '/readyz?verbose']) {
    expect((await read(operatorUrl + page))[0]).toBe(401);
  }
  const detailed = async () =>
    JSON.parse((await read(`${operatorUrl}/readyz?verbose`, asOperator))[1]);
  await expect.poll(detailed).toEqual({
    broker: true,
    'shard-0': true,
    records: true,
    'dead-letters': true,
    deliveries: true,
    buckets: true,
    disk: true,
    clickhouse: true,
    pipeline: true,
    webhooks: true,
  });
});

it('its own port shows every process, and takes no events', async () => {
  expect((await batchCreate(stack, [newEvent()])).status).toBe(200);
  expect((await batchCreate({ ...stack, baseUrl: operatorUrl }, [newEvent()])).status).toBe(404);
  await eventually(processes, (names) => names.join() === 'ingest-1,ingest-2,main');
});

it('its own port stays open while a member is replaced', async () => {
  const [victim] = stack.ingestPids();
  signalProcess(victim, 'SIGKILL');
  expect((await processes()).includes('main')).toBe(true);
  await eventually(
    async () => ({ pids: stack.ingestPids(), names: await processes() }),
    ({ pids, names }) => !pids.includes(victim ?? 0) && names.join() === 'ingest-1,ingest-2,main',
  );
});

async function processes(): Promise<string[]> {
  const [, page] = await read(`${operatorUrl}/metrics`, asOperator);
  const names = page.matchAll(/^process_cpu_seconds_total\{process="(.+)"\}/gm);
  return [...names].map(([, name = '']) => name).sort();
}

async function read(url: string, init: RequestInit = {}): Promise<[number, string]> {
  const response = await fetch(url, init);
  return [response.status, await response.text()];
}
