// The short way of the requests that come most: whole heads, bodies of a known and moderate length, connections that
// are kept. They are read off the socket, which costs half of what node:http takes. A connection whose next request is
// anything else is left to node:http with all its bytes, for good.

import { STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';
import { systemClock } from '../clock.ts';
import { freeMemory } from '../memory/free-memory.ts';
import { type RequestHead, readHead } from './request-head.ts';

export interface HttpAnswer {
  status: number;
  headers: Readonly<Record<string, string | number>>;
  /** Text is ASCII. */
  body: string | Uint8Array;
}

/** Answers a request whose body is there, and good until it is answered. Undefined: nobody waits. Never rejects. */
export type PlainRequestHandler = (body: Buffer) => Promise<HttpAnswer | undefined>;

/** Who answers a request with this head; undefined where it is not for the short way. */
export type PlainRequestRoute = (
  head: RequestHead,
  peerAddress: string | undefined,
) => PlainRequestHandler | undefined;

export interface PlainRequestsOptions {
  route: PlainRequestRoute;
  /** Takes over a connection and the bytes of its next request. */
  leave: (socket: Socket, bytes: Buffer) => void;
  /** A first request must have begun to arrive within `headersMs`, each body must have arrived within `requestMs`. */
  arrival: { requestMs: number; headersMs: number };
  keepAliveMs: number;
}

/** Longer heads are rare, and node:http says no to those that are too long; the same of bodies. */
const maxPlainHeadBytes = 8_192;
const maxPlainBytes = 1_048_576;
/** Past it, further bodies are left to node:http, whose bound refuses senders. */
const maxHeldBytes = 64 * 1_048_576;
/** A body in several pieces is put together in memory that is kept: the garbage collector counts every other piece. */
const keptBytes = 131_072;
const maxKept = 32;
const headEnd = Buffer.from('\r\n\r\n');

export class PlainRequests {
  readonly options: PlainRequestsOptions;
  readonly #connections = new Set<PlainConnection>();
  readonly #kept: Buffer[] = [];
  readonly #sweep: NodeJS.Timeout;
  /** The end of an answer's head on a connection that is kept. */
  readonly #keepAlive: string;
  #heldBytes = 0;
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

  /** Serves a connection of which nothing has been read. */
  serve(socket: Socket): void {
    const connection = new PlainConnection(socket, this);
    this.#connections.add(connection);
  }

  /** Ends the connections on which nothing is happening, and the others with their next answer. */
  close(): void {
    this.#isClosing = true;
    clearInterval(this.#sweep);
    for (const connection of this.#connections) connection.endIfIdle();
  }

  get isClosing(): boolean {
    return this.#isClosing;
  }

  forget(connection: PlainConnection): void {
    this.#connections.delete(connection);
  }

  /** The head at the start of `bytes`, where it is whole, and who answers it. */
  read(
    bytes: Buffer,
    peerAddress: string | undefined,
  ): { bodyStart: number; bodyBytes: number; handle: PlainRequestHandler } | undefined {
    const end = bytes.indexOf(headEnd);
    if (end < 0 || end > maxPlainHeadBytes) return undefined;
    const head = readHead(bytes.toString('latin1', 0, end + 2));
    if (head === undefined || head.bodyBytes > maxPlainBytes) return undefined;
    if (this.#heldBytes + head.bodyBytes > maxHeldBytes) return undefined;
    const handle = this.options.route(head, peerAddress);
    return handle && { bodyStart: end + headEnd.length, bodyBytes: head.bodyBytes, handle };
  }

  /** Memory for a body of this size or more, until it is released. */
  hold(bytes: number): Buffer {
    const kept = bytes <= keptBytes ? this.#kept.pop() : undefined;
    const memory = kept ?? Buffer.allocUnsafeSlow(Math.max(bytes, keptBytes));
    this.#heldBytes += memory.length;
    return memory;
  }

  release(memory: Buffer): void {
    this.#heldBytes -= memory.length;
    if (memory.length === keptBytes && this.#kept.length < maxKept) this.#kept.push(memory);
  }

  /** The head of an answer; all of it where the body is text. */
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

/** A body on its way. */
interface Receiving {
  handle: PlainRequestHandler;
  memory: Buffer;
  bodyBytes: number;
  received: number;
}

/** One request at a time: what comes behind it waits in the socket. */
class PlainConnection {
  readonly #socket: Socket;
  readonly #requests: PlainRequests;
  readonly #peerAddress: string | undefined;
  readonly #listeners: { data: (chunk: Buffer) => void; close: () => void };
  #receiving: Receiving | undefined;
  #isAnswering = false;
  #hasAnswered = false;
  /** Read behind the request that is being answered. */
  #rest: Buffer | undefined;
  /** Of the last thing that happened. */
  #sinceMs = performance.now();

  constructor(socket: Socket, requests: PlainRequests) {
    this.#socket = socket;
    this.#requests = requests;
    this.#peerAddress = socket.remoteAddress;
    this.#listeners = { data: (chunk) => this.#take(chunk), close: () => this.#closed() };
    socket.on('data', this.#listeners.data);
    socket.once('close', this.#listeners.close);
  }

  endIfIdle(): void {
    if (!this.#isAnswering && this.#receiving === undefined) this.#socket.destroy();
  }

  endIfLate(nowMs: number): void {
    if (this.#isAnswering) return;
    const { arrival, keepAliveMs } = this.#requests.options;
    const waitedMs = nowMs - this.#sinceMs;
    if (this.#receiving !== undefined) {
      if (waitedMs < arrival.requestMs) return;
      this.#socket.write('HTTP/1.1 408 Request Timeout\r\nconnection: close\r\n\r\n');
      this.#socket.destroySoon();
    } else if (waitedMs >= (this.#hasAnswered ? keepAliveMs : arrival.headersMs)) {
      this.#socket.destroy();
    }
  }

  #take(chunk: Buffer): void {
    if (this.#isAnswering) {
      this.#rest = this.#rest === undefined ? chunk : Buffer.concat([this.#rest, chunk]);
      this.#socket.pause();
    } else if (this.#receiving === undefined) this.#begin(chunk);
    else this.#receive(this.#receiving, chunk);
  }

  #begin(bytes: Buffer): void {
    this.#sinceMs = performance.now();
    const request = this.#requests.read(bytes, this.#peerAddress);
    if (request === undefined) {
      this.#leave(bytes);
      return;
    }
    const { bodyStart, bodyBytes, handle } = request;
    const bodyEnd = bodyStart + bodyBytes;
    if (bytes.length >= bodyEnd) {
      if (bytes.length > bodyEnd) this.#rest = bytes.subarray(bodyEnd);
      this.#answer(handle, bytes.subarray(bodyStart, bodyEnd), () => this.#free(bytes));
      return;
    }
    const memory = this.#requests.hold(bodyBytes);
    this.#receiving = { handle, memory, bodyBytes, received: bytes.copy(memory, 0, bodyStart) };
    freeMemory(bytes);
  }

  #receive(receiving: Receiving, chunk: Buffer): void {
    const { handle, memory, bodyBytes, received } = receiving;
    const missing = bodyBytes - received;
    const taken = chunk.copy(memory, received, 0, missing);
    if (chunk.length > taken) this.#rest = chunk.subarray(taken);
    this.#free(chunk);
    receiving.received += taken;
    if (taken < missing) return;
    this.#receiving = undefined;
    this.#answer(handle, memory.subarray(0, bodyBytes), () => this.#requests.release(memory));
  }

  /** `done` is told when nobody needs the body any more. */
  #answer(handle: PlainRequestHandler, body: Buffer, done: () => void): void {
    this.#isAnswering = true;
    void handle(body).then((answer) => {
      done();
      this.#isAnswering = false;
      if (this.#socket.destroyed) return;
      if (answer === undefined) this.#socket.destroy();
      else this.#write(answer);
    });
  }

  #write(answer: HttpAnswer): void {
    this.#hasAnswered = true;
    this.#sinceMs = performance.now();
    const text = this.#requests.textOf(answer);
    let isTaken = this.#socket.write(text, 'latin1');
    if (typeof answer.body !== 'string') isTaken = this.#socket.write(answer.body);
    if (this.#requests.isClosing) this.#socket.end();
    else if (isTaken) this.#proceed();
    else {
      // Who does not read answers gets no further ones.
      this.#socket.pause();
      this.#socket.once('drain', () => this.#proceed());
    }
  }

  #proceed(): void {
    const rest = this.#rest;
    this.#rest = undefined;
    if (this.#socket.isPaused()) this.#socket.resume();
    if (rest !== undefined) this.#begin(rest);
  }

  /** Of a piece that was read off the socket, unless the next request begins in it. */
  #free(piece: Buffer): void {
    if (this.#rest?.buffer !== piece.buffer) freeMemory(piece);
  }

  #leave(bytes: Buffer): void {
    this.#socket.off('data', this.#listeners.data);
    this.#socket.off('close', this.#listeners.close);
    this.#requests.forget(this);
    this.#requests.options.leave(this.#socket, bytes);
  }

  #closed(): void {
    this.#requests.forget(this);
    if (this.#receiving === undefined) return;
    this.#requests.release(this.#receiving.memory);
    this.#receiving = undefined;
  }
}
