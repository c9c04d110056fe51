// What a route of the interface holds for its callers: real requests to a real port, with methods of the test's own.

import { EventEmitter, once } from 'node:events';
import { createServer } from 'node:http';
import { connect, type Socket } from 'node:net';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { systemClock } from '../../../platform/clock.ts';
import { BodyReceiver } from '../../../platform/http/bodies/received-body.ts';
import { RequestMemory } from '../../../platform/http/bodies/request-memory.ts';
import { createLog } from '../../../platform/log.ts';
import { listen } from '../../../test/harness/listen.ts';
import type { AnySchema } from '../schema/schema.ts';
import { operation } from './operation.ts';
import { createManagementRoute, type RouteOptions } from './route.ts';

const MiB = 1_048_576;
const path = '/v1/organizations/{organization_id}/answer';
const described = { path, summary: '', role: 'viewer', rate: 'free', status: 200 } as const;
const anything: AnySchema = { type: 'object', additionalProperties: true };
/** More than the sockets' buffers take. */
const text = 'x'.repeat(10 * MiB);
const read = operation({
  ...{ ...described, name: 'read', method: 'GET', answer: anything },
  run: async () => ({ text }),
});
/** Ends when its caller is gone. */
const calls = new EventEmitter();
const wait = operation({
  ...{ ...described, name: 'wait', method: 'DELETE' },
  async run(_, { gone }) {
    calls.emit('begun');
    await once(gone, 'abort');
    calls.emit('gone');
    return {};
  },
});
const change = operation({
  ...{ ...described, name: 'change', method: 'POST' },
  body: { type: 'object', properties: { name: { type: 'string' } }, required: ['name'] },
  run: async () => ({}),
});

/** A key's text: its organization, a line, its number. */
const organizationOf = (key: string) => key.slice('org_'.length).replace(/-.*/, '');
const access: RouteOptions['access'] = {
  customers: { isOrgKey: () => true, checkToken: () => expect.fail() },
  placeOf: () => undefined,
  organizations: {
    findKey: (key) => ({ keyId: key, organizationId: organizationOf(key), role: 'viewer' }),
  },
  isProven: () => false,
};

/** The methods of this test ask for none of them. */
const unused = () => expect.fail();
const parts: RouteOptions['parts'] = {
  ...{ checkEndpointUrl: unused, publishDelivery: unused, openApi: unused },
  ...{ organizationOf: unused, clock: systemClock },
  store: {
    list: unused,
    find: unused,
    add: unused,
    change: unused,
    remove: unused,
    rotate: unused,
  },
  attempts: { readAttempts: unused, readDelivery: unused, readDeliveries: unused },
  recovering: new Set(),
};

let memory: RequestMemory;
let port = 0;
beforeEach(async () => {
  memory = new RequestMemory();
  const bodies = new BodyReceiver(memory);
  const route = createManagementRoute({
    operations: [read, wait, change],
    parts,
    access,
    takeRate: () => {},
    log: createLog('silent'),
  });
  const server = createServer((request, response) => {
    route(request, response, { path: request.url ?? '', query: '' }, bodies);
  });
  port = await listen(server);
  return () => void server.close();
});

const sockets: Socket[] = [];
afterEach(() => {
  for (const socket of sockets.splice(0)) socket.destroy();
});

const pathOf = (key: string) => path.replace('{organization_id}', organizationOf(key));

function send(method: string, key: string): Socket {
  const socket = connect(port, '127.0.0.1');
  sockets.push(socket);
  const head = `${method} ${pathOf(key)} HTTP/1.1\r\nhost: a\r\nauthorization: Bearer ${key}`;
  socket.write(`${head}\r\n\r\n`);
  return socket;
}

/** Reads the status of an answer, and then nothing more from its connection. */
function readStatus(key: string): Promise<number> {
  const socket = send('GET', key);
  return new Promise((resolve) => {
    socket.once('data', (bytes) => {
      socket.pause();
      resolve(Number(bytes.toString('latin1', 0, 12).slice(-3)));
    });
  });
}

it('answers that nobody reads hold a part of the memory of answers, however many keys ask', async () => {
  const statuses: number[] = [];
  for (let key = 0; key < 10; key++) statuses.push(await readStatus(`org_greedy-${key}`));
  expect(statuses).toEqual([200, 200, ...Array.from({ length: 8 }, () => 429)]);
  expect(await readStatus('org_modest-1')).toBe(200);
  // Bodies have all their room.
  expect(memory.heldBytes).toBe(0);
  const response = await fetch(`http://127.0.0.1:${port}${pathOf('org_modest-1')}`, {
    method: 'POST',
    headers: { authorization: 'Bearer org_modest-1', 'content-type': 'application/json' },
    body: JSON.stringify({ name: 'x'.repeat(200_000) }),
  });
  expect(response.status).toBe(200);
});

it('a method is told when its caller is gone', async () => {
  const begun = once(calls, 'begun');
  const socket = send('DELETE', 'org_a-1');
  await begun;
  const gone = once(calls, 'gone');
  socket.destroy();
  await gone;
});
