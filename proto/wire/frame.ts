// A frame, the content of one broker message: a list of requests, each with the context that enrichment needs and the
// JSON body of its events. Ingest writes frames (frame-writer.ts), pipeline reads them; nothing else knows the layout.
//
//   frame   = magic u8, version u8, compression u8, projects u8, rawLength u32, requests u32, events u32,
//             payload, project*
//   payload = request*          request = contextLength u32, bodyLength u32, events u32, context, body
//   project = u32               `projects` of them: the mark of each project that has a request in the frame
//
// Integers are little-endian. `rawLength` is the payload's length before compression; `compression` is 0 for none and 1
// for one LZ4 block. `projects` is 0 where the frame does not say whose requests it has: it then keeps its place among
// all others. Marks follow the payload, so that whoever gives projects their turns need not unpack it.

import { crc32 } from 'node:zlib';
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
  /** What every occurTime of the body is to be moved by, because the sender's clock is off; absent for nothing. */
  timeShiftMs?: number;
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
export const MAGIC = 0x4d;
/** Version 1 had no marks, and 0 in their place: it is read as version 2. */
export const VERSION = 2;
const OLDEST_VERSION = 1;
export const PROJECT_BYTES = 4;
/** A frame of more projects is closed, so that their number fits and turns are quickly found. */
export const maxFrameProjects = 64;
export const COMPRESSION_NONE = 0;
const COMPRESSION_LZ4 = 1;
/** The most that a frame may unpack to: twice the size that the largest body makes. */
export const maxFramePayloadBytes = 16 * 1024 * 1024;

/** A request that waits to be framed. */
export interface EncodedRequest {
  /** JSON in ASCII, so that its length in characters is its length in bytes. */
  context: string;
  body: Uint8Array;
  events: number;
  /** See `projectMark`; absent where the request keeps its place among those of all projects. */
  project?: number;
  /** Shares a frame with nothing, because it may be much work; only with `project`. */
  isAlone?: boolean;
}

/** The highest bit of a mark says that it is of the lane of imports. */
const importBit = 0x8000_0000;

/** A project in a frame's marks. Two projects that share one, of two billion, share their turns. */
export function projectMark(projectId: string): number {
  return crc32(projectId) & ~importBit;
}

/** The lane of a project's imports: its events wait behind nobody, and the project's own ones not behind them. */
export function importMark(projectId: string): number {
  return (crc32(projectId) | importBit) >>> 0;
}

export function isImportMark(mark: number): boolean {
  return mark >= importBit;
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

/** The frame with its payload packed; undefined where it would not be smaller than `maxBytes`. */
export function packFrame(frame: Uint8Array, maxBytes: number): Uint8Array | undefined {
  const payloadEnd = frame.length - markBytes(frame);
  const block = lz4().compress(frame.subarray(FRAME_HEADER_BYTES, payloadEnd));
  const marks = frame.subarray(payloadEnd);
  const bytes = FRAME_HEADER_BYTES + block.length + marks.length;
  if (bytes >= maxBytes) return undefined;
  const packed = new Uint8Array(bytes);
  packed.set(frame.subarray(0, FRAME_HEADER_BYTES));
  packed[2] = COMPRESSION_LZ4;
  packed.set(block, FRAME_HEADER_BYTES);
  packed.set(marks, FRAME_HEADER_BYTES + block.length);
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

/** The marks of the frame's projects; empty where it does not name them, or where the bytes are no frame. */
export function frameProjects(frame: Uint8Array): number[] {
  const bytes = markBytes(frame);
  if (bytes === 0) return [];
  const view = viewOf(frame);
  const start = frame.length - bytes;
  return Array.from({ length: bytes / PROJECT_BYTES }, (_, index) =>
    view.getUint32(start + PROJECT_BYTES * index, true),
  );
}

function markBytes(frame: Uint8Array): number {
  if (frame.length < FRAME_HEADER_BYTES || frame[0] !== MAGIC || frame[1] !== VERSION) return 0;
  const bytes = PROJECT_BYTES * (frame[3] ?? 0);
  return FRAME_HEADER_BYTES + bytes <= frame.length ? bytes : 0;
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
  const [magic, version = 0, compression = 0] = frame;
  if (magic !== MAGIC || version < OLDEST_VERSION || version > VERSION)
    throw new RangeError('frame: not version 1 or 2');
  const header = viewOf(frame);
  const rawLength = header.getUint32(4, true);
  const isPacked = compression !== COMPRESSION_NONE;
  const packed = frame.subarray(FRAME_HEADER_BYTES, frame.length - markBytes(frame));
  const payload = unpack(compression, packed, rawLength);
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

export function viewOf(bytes: Uint8Array): DataView {
  return new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}
