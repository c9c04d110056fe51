// One connection of plain-requests.ts: reads a request off the socket, has it answered, writes the answer, reads on.
// Reading heads, finding handlers and all that connections share is PlainRequests' part.

import type { Socket } from 'node:net';
import { freeMemory } from '../../memory/free-memory.ts';
import { type Lease, pooledBytes } from '../bodies/request-memory.ts';
import { peerAddressOf } from '../caller-request.ts';
import type { ConnectionGround, HttpAnswer, PlainRequestHandler } from './plain-request.ts';

/** A body that has not arrived whole. */
interface Receiving {
  kind: 'receiving';
  handler: PlainRequestHandler;
  memory: Buffer;
  bodyBytes: number;
  received: number;
}

/** Browsers open connections for later, too. */
const newMs = 1_000;

/** Before the first request. */
const opened = { kind: 'opened' } as const;
/** A request is with its handler. */
const answering = { kind: 'answering' } as const;
/** An answer is written, and the other end is slow to read it. */
const draining = { kind: 'draining' } as const;
/** Between two requests. */
const kept = { kind: 'kept' } as const;
/** Left to node:http, closed or closing. */
const ended = { kind: 'ended' } as const;

type State =
  | typeof opened
  | Receiving
  | typeof answering
  | typeof draining
  | typeof kept
  | typeof ended;

/** The states before each state: one request at a time, and nothing after the end. */
const predecessors: Readonly<Record<State['kind'], readonly State['kind'][]>> = {
  opened: [],
  receiving: ['opened', 'kept'],
  answering: ['opened', 'kept', 'receiving'],
  draining: ['answering'],
  kept: ['answering', 'draining'],
  ended: ['opened', 'receiving', 'answering', 'draining', 'kept'],
};

/**
 * Invariants, checked at every change of state; a connection that breaks one is closed:
 * - The state changes along `predecessors`, so that answers leave in the order of their requests.
 * - Bytes are put by (`#rest`) only while a request is answered or its answer drains: elsewhere they are read at once.
 * - The socket is paused while an answer drains, and not while a request is waited for or received.
 * - A body is received into memory that has room for all of it, and a part of it is missing.
 * - The lease holds memory only while a body is received or its request is with its handler, and ends with that.
 */
export class PlainConnection {
  readonly #socket: Socket;
  readonly #requests: ConnectionGround<PlainConnection>;
  readonly #peerAddress: string | undefined;
  readonly #listeners: { data: (chunk: Buffer) => void; close: () => void };
  /** Ends with each request. */
  readonly #lease: Lease;
  #state: State = opened;
  /** Bytes read behind the request that is being answered. */
  #rest: Buffer | undefined;
  /** When the last request began or its answer was written. */
  #sinceMs = performance.now();

  constructor(socket: Socket, requests: ConnectionGround<PlainConnection>) {
    this.#socket = socket;
    this.#requests = requests;
    this.#lease = requests.lease();
    this.#peerAddress = peerAddressOf(socket);
    this.#listeners = { data: (chunk) => this.#take(chunk), close: () => this.#closed() };
    socket.on('data', this.#listeners.data);
    socket.once('close', this.#listeners.close);
  }

  /**
   * Resolves once the request that has begun, if one has, is answered or given up. The first request of a connection
   * that was just opened is on its way, and has a second to come: the end of this process would break it.
   */
  answered(): Promise<void> {
    const { kind } = this.#state;
    const isNew = kind === 'opened' && performance.now() - this.#sinceMs < newMs;
    if (!isNew && kind !== 'answering' && kind !== 'receiving') return Promise.resolve();
    return new Promise((resolve) => {
      this.#socket.once('finish', resolve);
      this.#socket.once('close', resolve);
      if (isNew) setTimeout(resolve, newMs);
    });
  }

  endIfLate(nowMs: number): void {
    const { kind } = this.#state;
    if (kind === 'answering') return;
    const { arrival, keepAliveMs } = this.#requests.options;
    const waitedMs = nowMs - this.#sinceMs;
    if (kind === 'receiving') {
      if (waitedMs < arrival.requestMs) return;
      this.#socket.write('HTTP/1.1 408 Request Timeout\r\nconnection: close\r\n\r\n');
      this.#socket.destroySoon();
    } else if (waitedMs >= (kind === 'opened' ? arrival.headersMs : keepAliveMs)) {
      this.#socket.destroy();
    }
  }

  #take(chunk: Buffer): void {
    try {
      switch (this.#state.kind) {
        case 'opened':
        case 'kept':
          this.#begin(chunk);
          break;
        case 'receiving':
          this.#receive(this.#state, chunk);
          break;
        case 'answering':
          this.#rest = this.#rest === undefined ? chunk : Buffer.concat([this.#rest, chunk]);
          this.#socket.pause();
          break;
        case 'draining':
          throw new Error('a plain connection was read while its answer drained');
        case 'ended':
          break;
        default:
          this.#state satisfies never;
      }
    } catch (error) {
      this.#break(error);
    }
  }

  #begin(bytes: Buffer): void {
    this.#sinceMs = performance.now();
    const request = this.#requests.read(bytes, this.#peerAddress);
    if (request === undefined) {
      this.#leave(bytes);
      return;
    }
    const { bodyStart, bodyBytes, handler } = request;
    const bodyEnd = bodyStart + bodyBytes;
    this.#lease.claim(handler.holder);
    if (bytes.length >= bodyEnd) {
      if (!this.#lease.take(bytes.length)) {
        this.#leave(bytes);
        return;
      }
      this.#enter(answering);
      if (bytes.length > bodyEnd) this.#rest = bytes.subarray(bodyEnd);
      this.#answer(handler, bytes.subarray(bodyStart, bodyEnd), bytes);
      return;
    }
    const memory = this.#lease.allocate(Math.max(bodyBytes, pooledBytes));
    if (memory === undefined) {
      this.#leave(bytes);
      return;
    }
    const received = bytes.copy(memory, 0, bodyStart);
    this.#enter({ kind: 'receiving', handler, memory, bodyBytes, received });
    freeMemory(bytes);
  }

  #receive(receiving: Receiving, chunk: Buffer): void {
    const { handler, memory, bodyBytes, received } = receiving;
    const missing = bodyBytes - received;
    const taken = chunk.copy(memory, received, 0, missing);
    receiving.received += taken;
    if (taken < missing) {
      freeMemory(chunk);
      return;
    }
    this.#enter(answering);
    if (chunk.length > taken) this.#rest = chunk.subarray(taken);
    this.#free(chunk);
    this.#answer(handler, memory.subarray(0, bodyBytes), undefined);
  }

  /** `piece`: was read off the socket and holds the body, where the lease's memory does not. */
  #answer({ answer }: PlainRequestHandler, body: Buffer, piece: Buffer | undefined): void {
    void answer(body, piece === undefined).then((answer) => {
      try {
        this.#lease.end();
        if (piece !== undefined) this.#free(piece);
        if (this.#state === ended || this.#socket.destroyed) return;
        if (answer !== undefined) {
          this.#write(answer);
          return;
        }
        this.#enter(ended);
        this.#socket.destroy();
      } catch (error) {
        this.#break(error);
      }
    });
  }

  #write(answer: HttpAnswer): void {
    this.#sinceMs = performance.now();
    const text = this.#requests.textOf(answer);
    let isTaken = this.#socket.write(text, 'latin1');
    if (typeof answer.body !== 'string') isTaken = this.#socket.write(answer.body);
    if (this.#requests.isClosing) {
      this.#enter(ended);
      this.#socket.end();
    } else if (isTaken) this.#proceed();
    else {
      // Answers that nobody reads would fill the memory: the next request waits.
      this.#socket.pause();
      this.#enter(draining);
      this.#socket.once('drain', () => this.#drained());
    }
  }

  #drained(): void {
    if (this.#state === ended) return;
    try {
      this.#proceed();
    } catch (error) {
      this.#break(error);
    }
  }

  #proceed(): void {
    const rest = this.#rest;
    this.#rest = undefined;
    if (this.#socket.isPaused()) this.#socket.resume();
    this.#enter(kept);
    if (rest !== undefined) this.#begin(rest);
  }

  /** Frees a piece that was read off the socket, unless the next request begins in it. */
  #free(piece: Buffer): void {
    if (this.#rest?.buffer !== piece.buffer) freeMemory(piece);
  }

  #leave(bytes: Buffer): void {
    this.#enter(ended);
    this.#socket.off('data', this.#listeners.data);
    this.#socket.off('close', this.#listeners.close);
    this.#requests.forget(this);
    this.#requests.options.leave(this.#socket, bytes);
  }

  #closed(): void {
    this.#requests.forget(this);
    this.#stop();
  }

  /** Closes the connection whose invariants an error has broken. Every listener ends here instead of throwing. */
  #break(error: unknown): void {
    this.#stop();
    this.#socket.destroy();
    this.#requests.options.onBrokenConnection(error);
  }

  /** Ends in any state, without a check. A handler still reads the lease's memory: its answer ends the lease then. */
  #stop(): void {
    if (this.#state.kind !== 'answering') this.#lease.end();
    this.#state = ended;
    this.#rest = undefined;
  }

  #enter(next: State): void {
    this.#check(next);
    this.#state = next;
  }

  /** Throws where the invariants above would not hold in `next`. Runs before the change, so that `#stop` can undo. */
  #check(next: State): void {
    const from = this.#state.kind;
    const to = next.kind;
    if (!predecessors[to].includes(from))
      throw brokenState(from, to, 'one does not follow the other');
    if (to === 'ended') return;
    if (to !== 'draining' && this.#rest !== undefined)
      throw brokenState(from, to, 'bytes are put by');
    if (this.#socket.isPaused() !== (to === 'draining'))
      throw brokenState(from, to, 'wrongly paused');
    if (next.kind !== 'receiving') return;
    const { received, bodyBytes, memory } = next;
    if (received >= bodyBytes || memory.length < bodyBytes)
      throw brokenState(from, to, 'body and memory');
  }
}

function brokenState(from: string, to: string, why: string): Error {
  return new Error(`a plain connection cannot go from ${from} to ${to}: ${why}`);
}
