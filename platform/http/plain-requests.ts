// The fast path of the requests that come most: POSTs with a whole head and a body of known and moderate length, on
// connections that are kept. They are read off the socket, which costs half of what node:http takes. A connection whose
// next request is anything else is left to node:http, the reference path, with all its bytes and for good.

import { STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';
import { systemClock } from '../clock.ts';
import { Lease, type RequestMemory } from './bodies/request-memory.ts';
import { PlainConnection } from './plain/plain-connection.ts';
import type {
  ConnectionGround,
  ConnectionOptions,
  HttpAnswer,
  PlainRequest,
  PlainRequestRoute,
} from './plain/plain-request.ts';
import { readHead } from './request-head.ts';

interface PlainRequestsOptions extends ConnectionOptions {
  memory: RequestMemory;
  route: PlainRequestRoute;
}

/** Longer heads are rare; node:http refuses those that are too long. */
const maxPlainHeadBytes = 8_192;
/** Longer bodies are rare too. */
const maxPlainBodyBytes = 1_048_576;
const headEnd = Buffer.from('\r\n\r\n');

export class PlainRequests implements ConnectionGround<PlainConnection> {
  readonly options: PlainRequestsOptions;
  readonly #connections = new Set<PlainConnection>();
  readonly #sweep: NodeJS.Timeout;
  /** The end of an answer's head on a connection that is kept. */
  readonly #keepAlive: string;
  #isClosing = false;
  #date = '';
  #dateSecond = 0;

  constructor(options: PlainRequestsOptions) {
    this.options = options;
    const timeoutSeconds = options.keepAliveMs / 1_000;
    this.#keepAlive = `connection: keep-alive\r\nkeep-alive: timeout=${timeoutSeconds}\r\n\r\n`;
    const everyMs = Math.ceil(Math.min(options.arrival.headersMs, options.arrival.requestMs) / 4);
    this.#sweep = setInterval(() => {
      const nowMs = performance.now();
      for (const connection of this.#connections) connection.endIfLate(nowMs);
    }, everyMs);
    this.#sweep.unref();
  }

  /** Serves a connection whose first byte is still unread. */
  serve(socket: Socket): void {
    this.#connections.add(new PlainConnection(socket, this));
  }

  /**
   * From now on each connection ends with the answer that it waits for, and all others are left to node:http. Resolves
   * once these answers are written.
   */
  async drain(): Promise<void> {
    this.#isClosing = true;
    await Promise.all([...this.#connections].map((connection) => connection.answered()));
  }

  /** Call it once no connection is left. */
  close(): void {
    clearInterval(this.#sweep);
  }

  get isClosing(): boolean {
    return this.#isClosing;
  }

  /** For a connection, which has one request at a time. */
  lease(): Lease {
    return new Lease(this.options.memory);
  }

  forget(connection: PlainConnection): void {
    this.#connections.delete(connection);
  }

  /** The request that begins `bytes`; undefined where its head is not whole or it is for node:http. */
  read(bytes: Buffer, peerAddress: string | undefined): PlainRequest | undefined {
    if (this.#isClosing) return undefined;
    const end = bytes.indexOf(headEnd);
    if (end < 0 || end > maxPlainHeadBytes) return undefined;
    const head = readHead(bytes.toString('latin1', 0, end + 2));
    if (head === undefined || head.bodyBytes > maxPlainBodyBytes) return undefined;
    const handler = this.options.route(head, peerAddress);
    return handler && { bodyStart: end + headEnd.length, bodyBytes: head.bodyBytes, handler };
  }

  /** An answer's head, followed by its body where that is text. */
  textOf({ status, headers, body }: HttpAnswer): string {
    let text = `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n`;
    for (const name in headers) text += `${name}: ${headers[name]}\r\n`;
    text += `date: ${this.#now()}\r\n`;
    text += this.#isClosing ? 'connection: close\r\n\r\n' : this.#keepAlive;
    return typeof body === 'string' ? text + body : text;
  }

  #now(): string {
    const second = Math.floor(systemClock.nowMs() / 1_000);
    if (second !== this.#dateSecond) {
      this.#dateSecond = second;
      this.#date = new Date(second * 1_000).toUTCString();
    }
    return this.#date;
  }
}
