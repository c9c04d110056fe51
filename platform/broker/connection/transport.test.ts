// The connection between two real servers, one of which hangs: what it sends too late disturbs nobody, and a connection
// to it is given up however much waits to be sent.

import { connect } from 'node:net';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { startBroker } from '../../../test/harness/servers/broker.ts';
import type { ChildServer } from '../../../test/harness/servers/child-server.ts';
import { newAuthorization } from '../../engines/broker-configuration.ts';
import { createLog } from '../../log.ts';
import { connectBroker, type NatsConnection } from '../nats.ts';

let servers: ChildServer[];
let connection: NatsConnection;
/** What the client has told since it first connected, as `type host`. */
let told: string[];

beforeEach(async () => {
  const authorization = newAuthorization();
  servers = await Promise.all([startBroker({ authorization }), startBroker({ authorization })]);
  const operator = authorization.users.find(({ user }) => user === 'operator');
  const hosts = servers.map(hostOf).join(',nats://');
  connection = await connectBroker(
    `nats://operator:${operator?.password}@${hosts}`,
    createLog('silent'),
  );
  told = [];
  void follow(connection, told);
});

afterEach(async () => {
  await connection.close();
  await Promise.all(servers.map((server) => server.stop()));
});

async function follow({ status }: NatsConnection, events: string[]): Promise<void> {
  for await (const { type, data } of status.call(connection)) events.push(`${type} ${data}`);
}

function hostOf(server: ChildServer): string {
  return new URL(server.url).host;
}

/** The server that the client is connected to, and the other one. */
function pair(): [ChildServer, ChildServer] {
  const [one, two] = servers;
  if (one === undefined || two === undefined) throw new Error('there are two servers');
  return connection.getServer() === hostOf(one) ? [one, two] : [two, one];
}

/** Resolves once the server has closed a client that does not log in. */
function untilStrangerIsClosed(server: ChildServer): Promise<void> {
  const { hostname, port } = new URL(`tcp://${hostOf(server)}`);
  return new Promise((resolve, reject) => {
    const socket = connect(Number(port), hostname);
    socket.on('error', reject).on('close', () => resolve());
    socket.resume();
  });
}

it('a server that answers an attempt too late takes nothing from the connection that was made meanwhile', async () => {
  const [here, frozen] = pair();
  frozen.pause();
  await here.kill9();
  const tried = `reconnecting ${hostOf(frozen)}`;
  const gaveUp = () => told.indexOf(`reconnecting ${hostOf(here)}`, told.indexOf(tried)) > 0;
  await expect.poll(() => told.includes(tried) && gaveUp()).toBe(true);
  await here.restart();
  const isBack = () => told.includes(`reconnect ${hostOf(here)}`);
  await expect.poll(isBack).toBe(true);
  const before = told.length;
  frozen.resume();
  await untilStrangerIsClosed(frozen);
  await connection.flush();
  expect(told.slice(before).filter((event) => !event.startsWith('pingTimer'))).toEqual([]);
  expect(connection.getServer()).toBe(hostOf(here));
});

it('a server that hangs is left for another one, though it does not read what was sent', async () => {
  const [here, other] = pair();
  here.pause();
  for (let sent = 0; sent < 32; sent++) connection.publish('nobody', new Uint8Array(1_048_576));
  const isBack = () => told.includes(`reconnect ${hostOf(other)}`);
  await expect.poll(isBack).toBe(true);
  await connection.flush();
});
