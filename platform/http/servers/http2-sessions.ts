// HTTP/2 with prior knowledge (gRPC), with the bounds that node's server lacks: arrival, idle and stall time-outs, few
// sessions, few resets; who was cut off waits (cut-off-senders.ts). Session and stream ends are decided in a sweep;
// routes are http.ts's.

import type { RequestListener } from 'node:http';
import {
  constants,
  createServer,
  type Http2Server,
  type ServerHttp2Session,
  type ServerHttp2Stream,
} from 'node:http2';
import type { Socket } from 'node:net';
import { peerAddressOf } from '../caller-request.ts';
import type { CutOffSenders } from './cut-off-senders.ts';
import { maxHeaderBytes, maxStreams, type Patience } from './patience.ts';
import type { SenderBound } from './sender-bound.ts';

const { NGHTTP2_CANCEL, NGHTTP2_ENHANCE_YOUR_CALM, NGHTTP2_NO_ERROR } = constants;
const { NGHTTP2_REFUSED_STREAM, NGHTTP2_STREAM_STATE_HALF_CLOSED_REMOTE } = constants;

// Late sessions and streams are looked for this many times within the shortest time-out.
const sweepsPerTimeout = 4;
// A peer may give up as many requests as may be open: the handler of each may go on (rapid reset, CVE-2023-44487).
const maxAbandoned = maxStreams;
// Readers of live views come and go through one proxy's session.
const abandonedPerSecond = 20;
// Of each other session that a sender has open while it waits: else it would open all of them before its first reset.
const maxAbandonedWhileWaiting = 10;
/** Node's own end of a session: too many frames without sense, or streams that it may not open. */
const tooManyInvalidFrames = 'ERR_HTTP2_TOO_MANY_INVALID_FRAMES';
/** nghttp2's own ends: pings whose answers nobody reads (NGHTTP2_ERR_FLOODED), headers that go on and on. */
const floods: ReadonlySet<unknown> = new Set([-904, -905]);

interface Bounds {
  sessions: SenderBound;
  streams: SenderBound;
  cutOff: CutOffSenders;
}

export class Http2Sessions {
  readonly #server: Http2Server;
  readonly #patience: Patience;
  readonly #bounds: Bounds;
  readonly #sessions = new Set<Session>();
  readonly #sweep: NodeJS.Timeout;

  constructor(listener: RequestListener, patience: Patience, bounds: Bounds) {
    this.#patience = patience;
    this.#bounds = bounds;
    this.#server = createServer(
      {
        // A peer that sends frames without sense is cut off, and so is one that goes on opening streams it may not.
        maxSessionInvalidFrames: 100,
        maxSessionRejectedStreams: 100,
        settings: { maxConcurrentStreams: maxStreams },
      },
      (request, response) => {
        const { stream, socket } = request;
        // The reset came with the headers.
        if (stream.destroyed || stream.closed) return;
        if (!bounds.streams.take(stream, peerAddressOf(socket))) {
          // Tells the peer that no handler has seen the request: it may come again.
          stream.close(NGHTTP2_REFUSED_STREAM);
          return;
        }
        if (headerBytesOf(request.rawHeaders) > maxHeaderBytes) {
          response.writeHead(431).end();
          return;
        }
        // The types of the two requests differ only in members that nothing here uses; connectNodeAdapter takes both.
        Reflect.apply(listener, undefined, [request, response]);
      },
    );
    const everyMs = Math.ceil(Math.min(...Object.values(patience)) / sweepsPerTimeout);
    this.#sweep = setInterval(() => {
      const nowMs = performance.now();
      for (const session of this.#sessions) session.sweep(nowMs);
    }, everyMs);
    this.#sweep.unref();
  }

  /** Serves a connection whose first bytes are still unread. */
  serve(socket: Socket): void {
    const { sessions, cutOff } = this.#bounds;
    const address = peerAddressOf(socket);
    if (!cutOff.admit(address) || !sessions.take(socket, address)) {
      socket.destroy();
      return;
    }
    const sender = { isWaiting: () => cutOff.waits(address), cutOff: () => cutOff.add(address) };
    this.#server.once('session', (http2) => {
      const session = new Session(http2, socket, this.#patience, sender);
      this.#sessions.add(session);
      http2.once('close', () => this.#sessions.delete(session));
    });
    this.#server.emit('connection', socket);
  }

  /** Ends idle sessions at once and every other one with its last stream; resolves when all of them have ended. */
  async drain(): Promise<void> {
    await Promise.all([...this.#sessions].map((session) => session.close()));
  }

  /** Call it once no session is left. */
  close(): void {
    clearInterval(this.#sweep);
  }
}

/** Node holds no peer to a smaller list of headers than 64 KiB before the peer has agreed to it. */
function headerBytesOf(rawHeaders: readonly string[]): number {
  return rawHeaders.reduce((bytes, text) => bytes + text.length, 0);
}

interface Stream {
  sinceMs: number;
  /** Bytes that were not taken when it was last looked at. */
  waitingBytes: number;
  /** Since when nothing was taken of them; undefined where nothing waits. */
  stalledSinceMs: number | undefined;
  /** When we reset it. */
  endedAtMs: number | undefined;
}

/** The other end of a session, with all its sessions. */
interface Sender {
  isWaiting(): boolean;
  cutOff(): void;
}

class Session {
  readonly #session: ServerHttp2Session;
  readonly #socket: Socket;
  readonly #patience: Patience;
  readonly #sender: Sender;
  readonly #streams = new Map<ServerHttp2Stream, Stream>();
  #hasHadStream = false;
  #idleSinceMs = performance.now();
  #abandoned = 0;
  #abandonedAtMs = 0;

  constructor(session: ServerHttp2Session, socket: Socket, patience: Patience, sender: Sender) {
    this.#session = session;
    this.#socket = socket;
    this.#patience = patience;
    this.#sender = sender;
    session.on('error', (error) => {
      const isInvalid = Reflect.get(error, 'code') === tooManyInvalidFrames;
      if (isInvalid || floods.has(Reflect.get(error, 'errno'))) sender.cutOff();
    });
    session.on('stream', (stream) => this.#open(stream));
  }

  /** Says goodbye, unless it has; resolves at the session's end. */
  close(): Promise<void> {
    const session = this.#session;
    return new Promise((resolve) => {
      if (session.destroyed) return resolve();
      session.once('close', resolve);
      session.close();
    });
  }

  sweep(nowMs: number): void {
    if (this.#streams.size === 0) this.#endIfIdle(nowMs);
    for (const [stream, state] of this.#streams) this.#endIfLate(stream, state, nowMs);
  }

  #open(stream: ServerHttp2Stream): void {
    this.#hasHadStream = true;
    // Refused, or reset with its headers: no handler has seen it.
    if (stream.destroyed || stream.closed) {
      if (stream.rstCode !== NGHTTP2_REFUSED_STREAM) this.#countAbandoned();
      return;
    }
    const state: Stream = {
      sinceMs: performance.now(),
      waitingBytes: 0,
      stalledSinceMs: undefined,
      endedAtMs: undefined,
    };
    this.#streams.set(stream, state);
    stream.on('drain', () => {
      state.stalledSinceMs = undefined;
    });
    stream.once('close', () => {
      this.#streams.delete(stream);
      this.#idleSinceMs = performance.now();
      if (isAbandoned(stream) && state.endedAtMs === undefined) this.#countAbandoned();
    });
  }

  #endIfIdle(nowMs: number): void {
    const { headersMs, keepAliveMs } = this.#patience;
    if (nowMs - this.#idleSinceMs < (this.#hasHadStream ? keepAliveMs : headersMs)) return;
    // Says goodbye first, so that a request on its way may be sent again; a peer that does not read it gets no more.
    if (this.#session.closed) this.#socket.destroy();
    else this.#session.close();
  }

  #endIfLate(stream: ServerHttp2Stream, state: Stream, nowMs: number): void {
    const { requestMs, headersMs, stallMs } = this.#patience;
    if (state.endedAtMs !== undefined) {
      // Not even the reset could be sent.
      if (nowMs - state.endedAtMs >= headersMs) this.#socket.destroy();
      return;
    }
    const waitingBytes = stream.writableLength;
    const isStalled = waitingBytes > 0 && waitingBytes >= state.waitingBytes;
    state.stalledSinceMs = isStalled ? (state.stalledSinceMs ?? nowMs) : undefined;
    state.waitingBytes = waitingBytes;
    const isTooSlowToRead = isStalled && nowMs - (state.stalledSinceMs ?? nowMs) >= stallMs;
    const isTooSlowToSend = nowMs - state.sinceMs >= requestMs && !hasArrived(stream);
    if (!isTooSlowToRead && !isTooSlowToSend) return;
    state.endedAtMs = nowMs;
    stream.close(NGHTTP2_CANCEL);
  }

  #countAbandoned(): void {
    const nowMs = performance.now();
    const forgotten = ((nowMs - this.#abandonedAtMs) / 1_000) * abandonedPerSecond;
    this.#abandoned = Math.max(0, this.#abandoned - forgotten) + 1;
    this.#abandonedAtMs = nowMs;
    const isWaiting = this.#sender.isWaiting();
    if (this.#abandoned <= (isWaiting ? maxAbandonedWhileWaiting : maxAbandoned)) return;
    // Streams that are given up because the session ends here count no more.
    if (this.#session.destroyed) return;
    if (!isWaiting) this.#sender.cutOff();
    this.#session.destroy(undefined, NGHTTP2_ENHANCE_YOUR_CALM);
  }
}

/** Whether it ended before its answer did, by the peer's reset or by a frame that made us reset it. */
function isAbandoned(stream: ServerHttp2Stream): boolean {
  return stream.aborted || stream.rstCode !== NGHTTP2_NO_ERROR;
}

function hasArrived(stream: ServerHttp2Stream): boolean {
  return stream.state.state === NGHTTP2_STREAM_STATE_HALF_CLOSED_REMOTE;
}
