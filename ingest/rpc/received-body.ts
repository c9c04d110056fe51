// Requests' bodies as bytes: gathered from their chunks and decompressed, each within a bound, and all that arrive at
// once within another. Does not read what the bytes say.

import type { IncomingMessage } from 'node:http';
import { brotliDecompress, gunzip } from 'node:zlib';

export type ReceivedBody =
  | { kind: 'received'; bytes: Buffer }
  | { kind: 'too_large' }
  /** Other bodies hold too many bytes at this moment. */
  | { kind: 'busy' }
  | { kind: 'undecodable' }
  | { kind: 'unknown_encoding' }
  /** The sender went away: nobody waits for an answer. */
  | { kind: 'gone' };

interface BodyReceiverOptions {
  /** For one body, both as sent and after decompression. */
  maxBodyBytes: number;
  /** For all bodies that have begun to arrive and are not complete. */
  maxHeldBytes: number;
}

// A refused body is read on and thrown away, because a sender that is still writing does not read the answer. Past this
// the connection is cut.
const maxDiscardedBytes = 64 * 1_048_576;

export class BodyReceiver {
  readonly #options: BodyReceiverOptions;
  #heldBytes = 0;

  constructor(options: BodyReceiverOptions) {
    this.#options = options;
  }

  /** Never rejects. */
  receive(request: IncomingMessage): Promise<ReceivedBody> {
    const encoding = request.headers['content-encoding'] ?? 'identity';
    const sent = this.#gather(request);
    return encoding === 'identity' ? sent : this.#decode(sent, encoding);
  }

  async #decode(sending: Promise<ReceivedBody>, encoding: string): Promise<ReceivedBody> {
    const sent = await sending;
    if (sent.kind !== 'received') return sent;
    switch (encoding) {
      case 'gzip':
        return inflate(gunzip, sent.bytes, this.#options.maxBodyBytes);
      case 'br':
        return inflate(brotliDecompress, sent.bytes, this.#options.maxBodyBytes);
      default:
        return { kind: 'unknown_encoding' };
    }
  }

  #gather(request: IncomingMessage): Promise<ReceivedBody> {
    return new Promise((resolve) => {
      const { maxBodyBytes, maxHeldBytes } = this.#options;
      let chunks: Buffer[] = [];
      let keptBytes = 0;
      let sentBytes = 0;
      let refused: ReceivedBody | undefined;
      const release = (): void => {
        this.#heldBytes -= keptBytes;
        keptBytes = 0;
        chunks = [];
      };
      const refuse = (why: ReceivedBody): void => {
        refused = why;
        release();
      };
      request.on('data', (chunk: Buffer) => {
        sentBytes += chunk.length;
        if (sentBytes > maxBodyBytes + maxDiscardedBytes) request.destroy();
        if (refused !== undefined) return;
        if (sentBytes > maxBodyBytes) return refuse({ kind: 'too_large' });
        if (this.#heldBytes + chunk.length > maxHeldBytes) return refuse({ kind: 'busy' });
        this.#heldBytes += chunk.length;
        keptBytes += chunk.length;
        chunks.push(chunk);
      });
      request.on('end', () => {
        resolve(refused ?? { kind: 'received', bytes: joined(chunks) });
        release();
      });
      request.on('close', () => {
        release();
        resolve(gone);
      });
      request.on('error', closesNext);
    });
  }
}

const gone: ReceivedBody = { kind: 'gone' };

/** A failed request's close event follows. Without this listener the error would end the process. */
function closesNext(): void {}

function joined(chunks: readonly Buffer[]): Buffer {
  const [first] = chunks;
  return chunks.length === 1 && first !== undefined ? first : Buffer.concat(chunks);
}

type Inflate = (
  bytes: Buffer,
  options: { maxOutputLength: number },
  done: (error: Error | null, inflated: Buffer) => void,
) => void;

function inflate(method: Inflate, bytes: Buffer, maxBytes: number): Promise<ReceivedBody> {
  return new Promise((resolve) => {
    method(bytes, { maxOutputLength: maxBytes }, (error, inflated) => {
      if (error === null) resolve({ kind: 'received', bytes: inflated });
      else resolve({ kind: isTooLarge(error) ? 'too_large' : 'undecodable' });
    });
  });
}

function isTooLarge(error: Error): boolean {
  return 'code' in error && error.code === 'ERR_BUFFER_TOO_LARGE';
}
