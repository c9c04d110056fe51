// A frame, the content of one broker message: a list of requests, each with the context that enrichment needs and the
// JSON body of its events. Ingest writes frames, pipeline reads them; nothing else knows the layout.
//
//   frame   = magic u8, version u8, compression u8, 0 u8, rawLength u32, requests u32, events u32, payload
//   payload = request*          request = contextLength u32, bodyLength u32, events u32, context, body
//
// Integers are little-endian. `rawLength` is the payload's length before compression; `compression` is 0 for none and 1
// for one LZ4 block.

import { createLz4, type Lz4 } from './lz4/lz4.ts';

/** The caller's place, as far as the CDN or the city database knows it. */
export interface Location {
  country?: string;
  region?: string;
  city?: string;
  continent?: string;
  latitude?: number;
  longitude?: number;
  timezone?: string;
}

/**
 * The ids of the request's cookieless events, by the UTC day of their occurTime: the day of receipt or the one before.
 */
export interface CookielessIds {
  today?: string;
  yesterday?: string;
}

/** Everything that enrichment may know about a request. It never holds the caller's address. */
export interface RequestContext {
  projectId: string;
  credential: 'public' | 'private';
  /** Milliseconds since the epoch, when the request arrived. */
  receiveTimeMs: number;
  userAgent?: string;
  location?: Location;
  botScore?: number;
  verifiedBot?: boolean;
  /** A cookieless event of a day without an id is dropped, and is not in the request's count of events. */
  cookieless?: CookielessIds;
}

/** One request: `body` is a BatchCreateRequest in protobuf JSON, field names in either style, already validated. */
export interface FrameRequest {
  context: RequestContext;
  body: Uint8Array;
  events: number;
}

export const FRAME_HEADER_BYTES = 16;
export const REQUEST_HEADER_BYTES = 12;
const MAGIC = 0x4d;
const VERSION = 1;
const COMPRESSION_NONE = 0;
const COMPRESSION_LZ4 = 1;
/** The most that a frame may unpack to: twice the size that the largest body makes. */
export const maxFramePayloadBytes = 16 * 1024 * 1024;

/** A request that waits to be framed. */
export interface EncodedRequest {
  /** JSON in ASCII, so that its length in characters is its length in bytes. */
  context: string;
  body: Uint8Array;
  events: number;
}

const decoder = new TextDecoder();

/** JSON in ASCII. It stays text until its frame is written: separate bytes would double the cost for each request. */
export function encodeContext(
  context: {
    [Field in keyof RequestContext]: RequestContext[Field] | undefined;
  },
): string {
  return JSON.stringify(context).replace(/[\u0080-\uffff]/g, escaped);
}

function escaped(character: string): string {
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;
}

/** The bytes that a request adds to a frame. */
export function requestBytes(request: EncodedRequest): number {
  return REQUEST_HEADER_BYTES + request.context.length + request.body.length;
}

/**
 * Builds one frame after the other in the same memory, copying each request as it comes: the caller need not keep
 * bodies, and the garbage collector has nothing to do.
 */
export class FrameWriter {
  #bytes: Buffer;
  #view: DataView;
  #length = FRAME_HEADER_BYTES;
  #requests = 0;
  #events = 0;

  /** `capacity` is in bytes; it grows where a frame needs more. */
  constructor(capacity: number) {
    this.#bytes = Buffer.allocUnsafeSlow(Math.max(capacity, FRAME_HEADER_BYTES));
    this.#view = viewOf(this.#bytes);
  }

  get capacity(): number {
    return this.#bytes.length;
  }

  /** The frame's bytes so far. */
  get length(): number {
    return this.#length;
  }

  get events(): number {
    return this.#events;
  }

  append(request: EncodedRequest): void {
    const { context, body, events } = request;
    const start = this.#length;
    this.#length += requestBytes(request);
    if (this.#length > this.#bytes.length) this.#grow(start);
    this.#view.setUint32(start, context.length, true);
    this.#view.setUint32(start + 4, body.length, true);
    this.#view.setUint32(start + 8, events, true);
    const contextStart = start + REQUEST_HEADER_BYTES;
    this.#bytes.write(context, contextStart, 'latin1');
    this.#bytes.set(body, contextStart + context.length);
    this.#requests++;
    this.#events += events;
  }

  /** The frame, as a view that is valid until the writer is used again. */
  frame(): Uint8Array {
    this.#bytes[0] = MAGIC;
    this.#bytes[1] = VERSION;
    this.#bytes[2] = COMPRESSION_NONE;
    this.#bytes[3] = 0;
    this.#view.setUint32(4, this.#length - FRAME_HEADER_BYTES, true);
    this.#view.setUint32(8, this.#requests, true);
    this.#view.setUint32(12, this.#events, true);
    return new Uint8Array(this.#bytes.buffer, 0, this.#length);
  }

  clear(): void {
    this.#length = FRAME_HEADER_BYTES;
    this.#requests = 0;
    this.#events = 0;
  }

  #grow(keptLength: number): void {
    const bytes = Buffer.allocUnsafeSlow(Math.max(this.#length, 2 * this.#bytes.length));
    bytes.set(this.#bytes.subarray(0, keptLength));
    this.#bytes = bytes;
    this.#view = viewOf(bytes);
  }
}

/** One frame of all requests, in order. */
export function encodeFrame(requests: readonly EncodedRequest[]): Uint8Array {
  const bytes = requests.reduce((sum, request) => sum + requestBytes(request), FRAME_HEADER_BYTES);
  const writer = new FrameWriter(bytes);
  for (const request of requests) writer.append(request);
  return writer.frame();
}

/** The frame with its payload packed; undefined where it would not be smaller than `maxBytes`. */
export function packFrame(frame: Uint8Array, maxBytes: number): Uint8Array | undefined {
  const block = lz4().compress(frame.subarray(FRAME_HEADER_BYTES));
  const bytes = FRAME_HEADER_BYTES + block.length;
  if (bytes >= maxBytes) return undefined;
  const packed = new Uint8Array(bytes);
  packed.set(frame.subarray(0, FRAME_HEADER_BYTES));
  packed[2] = COMPRESSION_LZ4;
  packed.set(block, FRAME_HEADER_BYTES);
  return packed;
}

/** The bytes that a frame takes unpacked, read from its header. */
export function unpackedBytes(frame: Uint8Array): number {
  if (frame.length < FRAME_HEADER_BYTES || frame[0] !== MAGIC) return frame.length;
  return Math.max(frame.length, FRAME_HEADER_BYTES + viewOf(frame).getUint32(4, true));
}

/** The number of events in a frame, read from its header; 0 where the bytes are no frame. */
export function frameEvents(frame: Uint8Array): number {
  if (frame.length < FRAME_HEADER_BYTES || frame[0] !== MAGIC) return 0;
  return viewOf(frame).getUint32(12, true);
}

/**
 * The requests of a frame, in order. Their bodies are views: of `frame` itself where it is not packed. It unpacks, so
 * only threads that read events call it. Throws a RangeError that names the fault where the bytes are no whole frame.
 */
export function decodeFrame(frame: Uint8Array): FrameRequest[] {
  return readRequests(frame, true);
}

/** Like decodeFrame, but bodies of a packed frame are valid only until the thread packs or unpacks another frame. */
export function viewFrame(frame: Uint8Array): FrameRequest[] {
  return readRequests(frame, false);
}

function readRequests(frame: Uint8Array, isCopied: boolean): FrameRequest[] {
  if (frame.length < FRAME_HEADER_BYTES) throw new RangeError('frame: shorter than its header');
  if (frame[0] !== MAGIC || frame[1] !== VERSION) throw new RangeError('frame: not version 1');
  const header = viewOf(frame);
  const rawLength = header.getUint32(4, true);
  const isPacked = frame[2] !== COMPRESSION_NONE;
  const payload = unpack(frame[2] ?? 0, frame.subarray(FRAME_HEADER_BYTES), rawLength);
  if (payload.length !== rawLength) throw new RangeError('frame: length differs from its header');
  return readPayload(isPacked && isCopied ? payload.slice() : payload, header.getUint32(8, true));
}

/** The payload; where it was packed, a view that is valid until the next call. */
function unpack(compression: number, packed: Uint8Array, rawLength: number): Uint8Array {
  switch (compression) {
    case COMPRESSION_NONE:
      return packed;
    case COMPRESSION_LZ4: {
      if (rawLength > maxFramePayloadBytes) throw new RangeError('frame: too large to unpack');
      const raw = lz4().decompress(packed, rawLength);
      if (raw === undefined) throw new RangeError('frame: no LZ4 block of its length');
      return raw;
    }
    default:
      throw new RangeError('frame: unknown compression');
  }
}

function readPayload(payload: Uint8Array, count: number): FrameRequest[] {
  const view = viewOf(payload);
  const requests: FrameRequest[] = [];
  let offset = 0;
  for (let index = 0; index < count; index++) {
    if (offset + REQUEST_HEADER_BYTES > payload.length) throw new RangeError('frame: cut short');
    const contextEnd = offset + REQUEST_HEADER_BYTES + view.getUint32(offset, true);
    const bodyEnd = contextEnd + view.getUint32(offset + 4, true);
    if (bodyEnd > payload.length) throw new RangeError('frame: cut short');
    const context = payload.subarray(offset + REQUEST_HEADER_BYTES, contextEnd);
    requests.push({
      context: JSON.parse(decoder.decode(context)),
      body: payload.subarray(contextEnd, bodyEnd),
      events: view.getUint32(offset + 8, true),
    });
    offset = bodyEnd;
  }
  if (offset !== payload.length) throw new RangeError('frame: bytes after the last request');
  return requests;
}

let threadLz4: Lz4 | undefined;

/** One per thread. */
function lz4(): Lz4 {
  threadLz4 ??= createLz4();
  return threadLz4;
}

function viewOf(bytes: Uint8Array): DataView {
  return new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}
