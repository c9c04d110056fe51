// What the generator needs of autocannon's clients beyond their documented interface: to decide itself when a request
// goes out. autocannon 9 alone sends a second's share of a rate at once and then waits, corrects latencies for an
// interval of 1 ms whatever the rate is, and cuts off the requests under way when its time is over.

import type { Socket } from 'node:net';
import { TLSSocket } from 'node:tls';
import type autocannon from 'autocannon';

type HeldClient = autocannon.Client & {
  /** Called where a client would send: when its connection has been made anew, and after each answer. */
  _doRequest(): void;
  /** The request's bytes, the same buffer each time. */
  getRequestBuffer(): Buffer;
  conn: Socket;
};

export interface Held {
  /** Writes the request; the answer to the one before must have come. */
  send(): void;
  /** The whole request, head and body, as it will be written. */
  requestBytes(): Buffer;
}

interface HeldListeners {
  /** A connection stands and has no request under way. */
  onFree(): void;
  /** The connection broke or timed out, with or without a request under way; autocannon makes another. */
  onBroken(): void;
  /** The server's certificate is not to be trusted: autocannon itself would not mind. */
  onUntrusted(why: string): void;
}

/** Throws where this autocannon's clients are made differently. */
export function holdClient(client: autocannon.Client, listeners: HeldListeners): Held {
  if (!isHoldable(client)) throw new Error('this version of autocannon cannot be held back');
  const send = client._doRequest.bind(client);
  let standing: Socket | undefined;
  client._doRequest = () => {
    const { conn } = client;
    if (conn === standing) return listeners.onFree();
    listeners.onBroken();
    conn.once(conn instanceof TLSSocket ? 'secureConnect' : 'connect', () => {
      if (client.conn !== conn) return;
      if (conn instanceof TLSSocket && !conn.authorized) {
        listeners.onUntrusted(String(conn.authorizationError));
        return;
      }
      standing = conn;
      listeners.onFree();
    });
  };
  return { send, requestBytes: () => client.getRequestBuffer() };
}

function isHoldable(client: autocannon.Client): client is HeldClient {
  const has = (name: string): boolean =>
    name in client && typeof Reflect.get(client, name) === 'function';
  return has('_doRequest') && has('getRequestBuffer');
}
