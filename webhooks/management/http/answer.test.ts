// The memory of answers, counted until their readers have them.

import { createServer } from 'node:http';
import { connect } from 'node:net';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { RequestMemory } from '../../../platform/http/bodies/request-memory.ts';
import { createLog } from '../../../platform/log.ts';
import { listen } from '../../../test/harness/listen.ts';
import { writeAnswer } from './answer.ts';

const MiB = 1_048_576;
const log = createLog('silent');
/** More than the sockets' buffers take. */
const json = { text: 'x'.repeat(8 * MiB) };
let memory: RequestMemory;
let port = 0;
let served = 0;

beforeEach(async () => {
  memory = new RequestMemory(20 * MiB);
  served = 0;
  const server = createServer((_, response) => {
    const answered = memory.during(async (lease) => {
      lease.claim('key');
      await writeAnswer(response, { status: 200, json }, lease, log);
    });
    void answered.then(() => served++);
  });
  port = await listen(server);
  return () => void server.close();
});

const sockets: ReturnType<typeof connect>[] = [];
afterEach(() => {
  for (const socket of sockets.splice(0)) socket.destroy();
});

function slowReader(requests: number) {
  const socket = connect(port, '127.0.0.1').pause();
  sockets.push(socket);
  socket.write('GET / HTTP/1.1\r\nhost: localhost\r\n\r\n'.repeat(requests));
  return socket;
}

const ask = (method: string) => fetch(`http://127.0.0.1:${port}/`, { method });

it('an answer that nobody reads is held, until its connection ends', async () => {
  const socket = slowReader(1);
  await expect.poll(() => memory.heldBytes).toBeGreaterThan(8 * MiB);
  socket.destroy();
  await expect.poll(() => memory.heldBytes).toBe(0);
  expect(await (await ask('GET')).json()).toEqual(json);
  await expect.poll(() => memory.heldBytes).toBe(0);
});

it('so are those that wait behind others on their connection', async () => {
  memory = new RequestMemory(64 * MiB);
  const socket = slowReader(3);
  await expect.poll(() => memory.heldBytes).toBeGreaterThan(24 * MiB);
  socket.destroy();
  await expect.poll(() => served).toBe(3);
  expect(memory.heldBytes).toBe(0);
});

it('a read is refused where there is no room for its answer; what a change did is told', async () => {
  slowReader(1);
  await expect.poll(() => memory.heldBytes).toBeGreaterThan(8 * MiB);
  const refused = await ask('GET');
  expect(refused.status).toBe(429);
  expect(refused.headers.get('retry-after')).not.toBeNull();
  expect(await refused.json()).toMatchObject({ code: 'resource_exhausted' });
  expect(await (await ask('POST')).json()).toEqual(json);
});
