// A bare connection to a server under test, for bytes that no HTTP client would send.

import { connect, type Socket } from 'node:net';

export interface Dialled {
  socket: Socket;
  /** The bytes received so far, a character for each. */
  received(): string;
  closed: Promise<void>;
}

/** Connects to a port of the loopback; a connection that fails is closed. */
export function dial(port: number): Dialled {
  const socket = connect({ port, host: '127.0.0.1', noDelay: true });
  let text = '';
  socket.on('data', (bytes) => {
    text += bytes.toString('latin1');
  });
  socket.on('error', () => {});
  const closed = new Promise<void>((resolve) => socket.once('close', () => resolve()));
  return { socket, received: () => text, closed };
}
