// Bodies of requests that node:http reads, as bytes: gathered from their pieces and decompressed, all in the memory of
// the request's lease. Does not read what the bytes say.

import type { IncomingHttpHeaders } from 'node:http';
import type { Readable } from 'node:stream';
import { PieceGarbage } from '../../memory/piece-garbage.ts';
import { GatheredBytes } from './gathered-bytes.ts';
import { type Inflated, Inflations, isEncoding } from './inflations.ts';
import type { Lease, RequestMemory } from './request-memory.ts';

export type ReceivedBody =
  | Inflated
  | { kind: 'unknown_encoding' }
  /** The sender went away: nobody waits for an answer. */
  | { kind: 'gone' };

/** The refusal of a body that there is no room for: other requests end soon. */
export const busy = {
  message: 'too many requests are being received, nothing of this one was queued: retry later',
  retryAfterSeconds: 1,
};

/** A request of either of node's two servers. */
export type NodeRequest = Readable & { headers: IncomingHttpHeaders };

interface Bound {
  lease: Lease;
  /** Both as sent and after decompression. */
  maxBytes: number;
  /** `identity`, or the name of a compression. */
  encoding: string;
}

// Many senders read no answer while they write, so a body that is a little too large is read to its end and thrown
// away: up to twice what its method takes, and this. Nothing more is read of a longer body, of one without a length,
// and of one without room: reading costs time, and memory until garbage is collected.
const maxDiscardedBytes = 65_536;
// A longer body of known length gets its memory before it is read: a body that finds no room in its middle has cost its
// reading, and a hundred of them hold up everybody. Only a key's events are as long, so strangers reserve nothing.
const maxUnreservedBytes = 1_048_576;
// The time for the answer to arrive, before a connection with an unread body is cut.
const lingerMs = 2_000;

/** One for a port. */
export class BodyReceiver {
  readonly memory: RequestMemory;
  readonly #inflations = new Inflations();
  readonly #garbage = new PieceGarbage();
  readonly #received = new WeakSet<NodeRequest>();

  constructor(memory: RequestMemory) {
    this.memory = memory;
  }

  /** Never rejects. The bytes are valid until the lease ends. */
  async receive(request: NodeRequest, { lease, maxBytes, encoding }: Bound): Promise<ReceivedBody> {
    this.#received.add(request);
    const promisedBytes = lengthOf(request.headers);
    const gathered = new GatheredBytes(lease, maxBytes, promisedBytes);
    const refused =
      promisedBytes !== undefined && promisedBytes > maxBytes ? 'too_large' : undefined;
    const readsOn =
      promisedBytes !== undefined && promisedBytes <= 2 * maxBytes + maxDiscardedBytes;
    if (refused !== undefined && !readsOn) {
      leaveUnread(request);
      return { kind: refused };
    }
    const isReserved = promisedBytes !== undefined && promisedBytes > maxUnreservedBytes;
    if (isReserved && refused === undefined && !gathered.reserve()) {
      leaveUnread(request);
      return { kind: 'busy' };
    }
    request.on('data', (piece: Buffer) => this.#garbage.add(piece.length));
    const kind = await gather(request, gathered, readsOn, refused);
    if (kind !== 'received') return { kind };
    const sent = gathered.bytes();
    if (encoding === 'identity') return { kind, bytes: sent };
    if (!isEncoding(encoding)) return { kind: 'unknown_encoding' };
    const inflated = await this.inflate(sent, { lease, maxBytes, encoding });
    gathered.drop();
    return inflated;
  }

  /** Call it before an answer that may have been found without the body: a long one is not read then. */
  answerUnread(request: NodeRequest): void {
    if (this.#received.has(request)) return;
    const promisedBytes = lengthOf(request.headers) ?? 0;
    const isLong = promisedBytes > maxDiscardedBytes || 'transfer-encoding' in request.headers;
    if (isLong) leaveUnread(request);
  }

  /** Decompresses a part of a body, such as one message of several. */
  async inflate(sent: Uint8Array, { lease, maxBytes, encoding }: Bound): Promise<ReceivedBody> {
    if (!isEncoding(encoding)) return { kind: 'unknown_encoding' };
    return this.#inflations.inflate(encoding, sent, lease, maxBytes);
  }
}

function lengthOf(headers: IncomingHttpHeaders): number | undefined {
  const length = Number(headers['content-length']);
  return Number.isSafeInteger(length) ? length : undefined;
}

function gather(
  request: NodeRequest,
  gathered: GatheredBytes,
  readsOn: boolean,
  refusedBefore: 'too_large' | undefined,
): Promise<'received' | 'too_large' | 'busy' | 'gone'> {
  return new Promise((resolve) => {
    let refused: 'too_large' | 'busy' | undefined = refusedBefore;
    const refuse = (why: 'too_large' | 'busy'): void => {
      refused = why;
      gathered.drop();
      if (readsOn && why === 'too_large') return;
      leaveUnread(request);
      resolve(why);
    };
    request.on('data', (piece: Buffer) => {
      if (refused !== undefined) return;
      const added = gathered.add(piece);
      if (added !== 'added') refuse(added);
    });
    request.on('end', () => resolve(refused ?? 'received'));
    request.on('close', () => resolve('gone'));
    request.on('error', closesNext);
    if (refusedBefore !== undefined) refuse(refusedBefore);
  });
}

/** Emitted by a request whose body is not read to its end, before its answer is written. */
export const leftUnread = 'left unread';

/**
 * Its sender is held up until the answer has arrived, then cut off. Nothing may listen for its bytes: that would start
 * the socket anew.
 */
function leaveUnread(request: NodeRequest): void {
  request.on('error', closesNext);
  request.pause();
  request.emit(leftUnread);
  setTimeout(() => request.destroy(), lingerMs).unref();
}

/** A failed request's close event follows. Without this listener the error would end the process. */
function closesNext(): void {}
