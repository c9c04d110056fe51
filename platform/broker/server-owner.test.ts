// A port that somebody else has taken: their server may greet as it likes, and is sent nothing.

import { type ChildProcess, spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { afterEach, describe, expect, it } from 'vitest';
import { startBroker } from '../../test/harness/servers/broker.ts';
import { createLog } from '../log.ts';
import { connectBroker } from './nats.ts';
import { strangerAt } from './server-owner.ts';

const log = createLog('silent');
const ownUid = process.getuid?.() ?? 0;
const isRoot = ownUid === 0;
// Only root can start a process of another user. Everybody else expects another user where their own process is.
const nobody = 65_534;
const expectedUid = isRoot ? ownUid : ownUid + 1;
let impostor: ChildProcess | undefined;

afterEach(() => {
  impostor?.kill('SIGKILL');
});

// Greets as a broker does, takes every command, and prints what it is sent. `host` may be a wildcard of IPv6.
const program = (host: string, port: number): string => `
  const server = require('node:net').createServer((socket) => {
    socket.on('error', () => {});
    socket.on('data', (data) => {
      console.log(JSON.stringify(String(data)));
      socket.write('PONG\\r\\n');
    });
    socket.write('INFO {"server_id":"x","version":"2.9.10","headers":true,"max_payload":1048576}\\r\\n');
  });
  const listen = () => server.listen(${port}, '${host}');
  server.on('error', () => setTimeout(listen, 5));
  server.on('listening', () => console.log(server.address().port));
  listen();
`;

async function takePort(host: string, port = 0) {
  const user = isRoot ? { uid: nobody, gid: nobody } : {};
  const child = spawn(process.execPath, ['-e', program(host, port)], {
    stdio: ['ignore', 'pipe', 'inherit'],
    cwd: '/',
    ...user,
  });
  impostor = child;
  const received: string[] = [];
  const taken = await new Promise<number>((resolve, reject) => {
    child.once('exit', () => reject(new Error('the impostor has ended')));
    createInterface({ input: child.stdout }).on('line', (line) => {
      if (line.startsWith('"')) received.push(line);
      else resolve(Number(line));
    });
  });
  return { port: taken, received };
}

describe.each(['127.0.0.1', '0.0.0.0', '::'])('another user’s server at %s', (host) => {
  it('is told no password', async () => {
    const { port, received } = await takePort(host);
    const connected = connectBroker(
      `nats://service:secret@127.0.0.1:${port}?server-uid=${expectedUid}`,
      log,
    );
    const stranger = isRoot ? nobody : ownUid;
    await expect(connected).rejects.toThrow(
      `the broker at nats://127.0.0.1:${port} cannot be used: ` +
        `another user of this machine (id ${stranger}) has taken its port`,
    );
    expect(received).toEqual([]);
  });
});

describe.runIf(isRoot)('another user’s server in the place of a broker that has died', () => {
  it('is sent nothing: the connection is closed, with the reason', async () => {
    const broker = await startBroker();
    const connection = await connectBroker(broker.url, log);
    const closed = connection.closed();
    const taking = takePort('127.0.0.1', Number(new URL(broker.url).port));
    await broker.kill9();
    const { received } = await taking;
    expect(await closed).toMatchObject({
      message: `another user of this machine (id ${nobody}) has taken its port`,
    });
    expect(received).toEqual([]);
    await broker.stop();
  });
});

it('finds nobody else at a port of one’s own, or at one that nobody serves', async () => {
  const broker = await startBroker();
  expect(strangerAt(Number(new URL(broker.url).port), ownUid)).toBeUndefined();
  await broker.stop();
  expect(strangerAt(1, ownUid)).toBeUndefined();
});
