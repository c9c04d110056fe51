// What the fast path's connections, whoever owns them, and its handlers say to each other: a request, its handler, the
// answer.

import type { Socket } from 'node:net';
import type { Lease } from '../bodies/request-memory.ts';
import type { RequestHead } from '../request-head.ts';

export interface HttpAnswer {
  status: number;
  headers: Readonly<Record<string, string | number>>;
  /** Text is ASCII. */
  body: string | Uint8Array;
}

export interface PlainRequestHandler {
  /** Whose request it is; the memory that it holds counts to them. */
  holder: string;
  /**
   * Answers; the body is valid until then. `cameLater`: long after the head, so the credential is checked again.
   * Undefined: nobody waits for an answer. Never rejects.
   */
  answer: (body: Buffer, cameLater: boolean) => Promise<HttpAnswer | undefined>;
}

/**
 * Finds the handler for a head; undefined leaves the request to node:http. Checks the credential, because the body is
 * held for a handler.
 */
export type PlainRequestRoute = (
  head: RequestHead,
  peerAddress: string | undefined,
) => PlainRequestHandler | undefined;

/** A request whose head is read: where its body lies behind the head, and its handler. */
export interface PlainRequest {
  bodyStart: number;
  bodyBytes: number;
  handler: PlainRequestHandler;
}

export interface ConnectionOptions {
  /** Takes over a connection and the bytes of its next request. */
  leave: (socket: Socket, bytes: Buffer) => void;
  /** A first request must have begun to arrive within `headersMs`, each body must have arrived within `requestMs`. */
  arrival: { requestMs: number; headersMs: number };
  /** A connection without a request is closed after this long. */
  keepAliveMs: number;
  /** Receives the error of a connection whose state was broken; that connection is closed, the others go on. */
  onBrokenConnection: (error: unknown) => void;
}

/** All that connections share. */
export interface ConnectionGround<Connection> {
  readonly options: ConnectionOptions;
  /** Whether each connection ends with the answer that it waits for. */
  readonly isClosing: boolean;
  /** For a connection, which has one request at a time. */
  lease(): Lease;
  forget(connection: Connection): void;
  /** The request that begins `bytes`; undefined where its head is not whole or it is for node:http. */
  read(bytes: Buffer, peerAddress: string | undefined): PlainRequest | undefined;
  /** An answer's head, followed by its body where that is text. */
  textOf(answer: HttpAnswer): string;
}
