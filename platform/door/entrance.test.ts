// A port in the hands of one server after another, and of several processes: nobody who comes is refused, and a port
// that is taken is said to be.

import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';
import { afterEach, expect, it } from 'vitest';
import { Entrance } from './entrance.ts';

const opened: Entrance[] = [];
afterEach(() => Promise.all(opened.splice(0).map((entrance) => entrance.close())));

async function enter(options: Partial<Parameters<typeof Entrance.at>[0]> = {}): Promise<Entrance> {
  const entrance = await Entrance.at({ host: '127.0.0.1', port: 0, setting: '--port', ...options });
  opened.push(entrance);
  return entrance;
}

const answering = (text: string) => (socket: Socket) => void socket.end(text);

/** What the server says to a new connection; rejects where there is none. */
async function told(port: number): Promise<string> {
  const socket = connect(port, '127.0.0.1');
  let text = '';
  socket.on('data', (bytes) => {
    text += bytes;
  });
  await once(socket, 'close');
  return text;
}

it('is another server without a gap', async () => {
  const entrance = await enter();
  const { port } = entrance;
  await expect(told(port)).rejects.toThrow('ECONNREFUSED');
  await entrance.open(answering('first'));
  expect(await told(port)).toBe('first');
  await entrance.open(answering('second'));
  expect(await told(port)).toBe('second');
});

it('leaves its port to whoever listens next', async () => {
  const entrance = await enter();
  await entrance.open(answering('first'));
  const next = createServer(answering('of the next'));
  next.listen(await entrance.share());
  await once(next, 'listening');
  expect(await told(entrance.port)).toBe('of the next');
  next.close();
});

it('gives all who ask at once one socket', async () => {
  const entrance = await enter();
  await entrance.open(answering('before'));
  const [first, second] = await Promise.all([entrance.share(), entrance.share()]);
  expect(second).toBe(first);
});

it('says that the port is taken, at once or when it listens', async () => {
  const entrance = await enter();
  // Nobody listens yet, so that the system lets both have it.
  const late = await enter({ port: entrance.port });
  await entrance.open(answering(''));
  const { port } = entrance;
  const sentence = `port ${port} on 127.0.0.1 is taken: stop what uses it, or choose another with --port`;
  await expect(enter({ port })).rejects.toThrow(sentence);
  await expect(late.open(answering(''))).rejects.toThrow(sentence);
  await expect(enter({ host: 'no-such-host.invalid', port })).rejects.toThrow(
    `port ${port} on no-such-host.invalid cannot be used: E`,
  );
});

it('goes on where nobody follows, and ends where somebody does', async () => {
  let isFollowed = false;
  const entrance = await enter({ isHandedOn: () => isFollowed });
  await entrance.open(answering('still here'));
  await entrance.leave();
  expect(await told(entrance.port)).toBe('still here');
  isFollowed = true;
  await entrance.leave();
  await expect(told(entrance.port)).rejects.toThrow('ECONNREFUSED');
});
