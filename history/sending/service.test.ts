import { createServer, type Server } from 'node:http';
import { afterEach, expect, it } from 'vitest';
import { listen } from '../../test/harness/listen.ts';
import { Service } from './service.ts';

let server: Server | undefined;
afterEach(() => {
  server?.closeAllConnections();
  server?.close();
});

// The service reads those that carried a question slowly from then on.
it('asks over other connections than it sends events', async () => {
  const ports = { sent: new Set<number>(), asked: new Set<number>() };
  server = createServer((request, response) => {
    const isQuestion = request.url?.endsWith('/FindStored') === true;
    ports[isQuestion ? 'asked' : 'sent'].add(request.socket.remotePort ?? 0);
    request.resume().once('end', () => response.end());
  });
  const baseUrl = `http://127.0.0.1:${await listen(server)}`;
  const service = new Service({ baseUrl, publicKey: '', privateKey: 'prv_key' }, 1);
  for (let round = 0; round < 5; round++) {
    await Promise.all([
      service.findStored([], 0, 1),
      service.sendEvents(Buffer.from('{"events":[]}')),
      service.findStored([], 0, 1),
      service.identify('user', {}, {}),
    ]);
  }
  await service.close();
  const both = [...ports.sent].filter((port) => ports.asked.has(port));
  expect([ports.sent.size > 0, ports.asked.size > 0, both]).toEqual([true, true, []]);
});
