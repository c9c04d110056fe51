// Sends a result to the client: holds back the first bytes, so that an early failure still gets its own status, then
// streams, compressed where asked. A later failure goes into the stream in the form of ClickHouse 25.11.

import { randomBytes } from 'node:crypto';
import type { ServerResponse } from 'node:http';
import { createGzip, type Gzip } from 'node:zlib';
import { type EngineError, exceptionLine } from './errors.ts';

const heldBytes = 65_536;
/** A client that takes nothing for this long is disconnected: its result holds a connection of the engine. */
const stallMs = 60_000;

export class ResultResponse {
  readonly #response: ServerResponse;
  readonly #version: string;
  readonly #tag = randomBytes(8).toString('hex');
  readonly #gzip: Gzip | undefined;
  #held: Buffer[] = [];
  #heldLength = 0;
  #started = false;

  constructor(response: ServerResponse, compress: boolean, version: string) {
    this.#response = response;
    this.#version = version;
    this.#gzip = compress ? createGzip({ level: 1 }) : undefined;
  }

  /**
   * Takes the next bytes; resolves when the client has room for more, when it is gone or when `cancelled` is aborted.
   * Does nothing once the client is gone.
   */
  async write(chunk: Buffer, cancelled: AbortSignal): Promise<void> {
    if (!this.#started && this.#heldLength + chunk.length <= heldBytes) {
      this.#held.push(chunk);
      this.#heldLength += chunk.length;
      return;
    }
    this.#start();
    const target = this.#gzip ?? this.#response;
    if (this.#response.destroyed || target.write(chunk)) return;
    await new Promise<void>((resolve) => {
      const stalled = setTimeout(() => this.#response.destroy(), stallMs);
      const go = (): void => {
        clearTimeout(stalled);
        target.off('drain', go);
        this.#response.off('close', go);
        cancelled.removeEventListener('abort', go);
        resolve();
      };
      cancelled.addEventListener('abort', go);
      target.on('drain', go);
      this.#response.on('close', go);
    });
  }

  /** Ends a complete result. */
  end(): void {
    this.#start();
    (this.#gzip ?? this.#response).end();
  }

  /** Ends the result of a failed statement. Returns false where nothing was sent yet: the error is then the answer. */
  fail(error: EngineError): boolean {
    if (!this.#started) return false;
    const message = exceptionLine(error, this.#version);
    const length = Buffer.byteLength(message);
    (this.#gzip ?? this.#response).end(
      `\r\n__exception__\r\n${this.#tag}\r\n${message}${length} ${this.#tag}\r\n__exception__\r\n`,
    );
    return true;
  }

  #start(): void {
    if (this.#started) return;
    this.#started = true;
    this.#response.setHeader('X-ClickHouse-Exception-Tag', this.#tag);
    if (this.#gzip !== undefined) {
      this.#response.setHeader('Content-Encoding', 'gzip');
      this.#gzip.on('error', () => this.#response.destroy());
      this.#gzip.pipe(this.#response);
    }
    for (const chunk of this.#held) (this.#gzip ?? this.#response).write(chunk);
    this.#held = [];
  }
}
