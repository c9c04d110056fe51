// The test broker itself: other tests rely on its JetStream, its message size and its restart after a kill.

import { existsSync } from 'node:fs';
import { connect as connectSocket } from 'node:net';
import { expect, it } from 'vitest';
import { startBroker } from './harness/servers/broker.ts';

function greeting(url: string): Promise<string> {
  const { hostname, port } = new URL(url);
  return new Promise((resolve, reject) => {
    const socket = connectSocket(Number(port), hostname);
    socket.once('data', (data) => {
      socket.destroy();
      resolve(data.toString());
    });
    socket.once('error', reject);
  });
}

it('runs with JetStream and room for 9 MiB messages, on the same port after a kill, and leaves nothing', async () => {
  const broker = await startBroker();
  const first = await greeting(broker.url);
  expect(first).toContain('"jetstream":true');
  expect(first).toContain('"max_payload":9437184');

  await broker.kill9();
  await expect(greeting(broker.url)).rejects.toThrow('ECONNREFUSED');
  await broker.restart();
  expect(await greeting(broker.url)).toContain('"jetstream":true');

  await broker.stop();
  await expect(greeting(broker.url)).rejects.toThrow('ECONNREFUSED');
  expect(existsSync(broker.dir)).toBe(false);
});
