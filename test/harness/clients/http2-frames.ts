// A bare HTTP/2 connection, for frames that no client would send: the framing of RFC 9113, and of HPACK only literals.

import type { Socket } from 'node:net';
import { dial } from './dial.ts';

const preface = 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n';

export const types = {
  data: 0,
  headers: 1,
  rstStream: 3,
  settings: 4,
  ping: 6,
  goaway: 7,
  windowUpdate: 8,
  continuation: 9,
} as const;
type Type = keyof typeof types;

export const flags = { endStream: 1, endHeaders: 4 } as const;

export interface Frame {
  type: number;
  flags: number;
  stream: number;
  payload: Buffer;
}

export interface BareHttp2 {
  socket: Socket;
  /** The whole frames received so far. */
  frames(): Frame[];
  closed: Promise<void>;
}

/** Sends the preface and, unless told otherwise, empty settings. */
export function dialHttp2(port: number, opening: Buffer = frame('settings')): BareHttp2 {
  const { socket, received, closed } = dial(port);
  socket.write(Buffer.concat([Buffer.from(preface, 'latin1'), opening]));
  return { socket, closed, frames: () => framesIn(Buffer.from(received(), 'latin1')) };
}

export function frame(type: Type, flag = 0, stream = 0, payload: Uint8Array = none): Buffer {
  const head = Buffer.alloc(9);
  head.writeUIntBE(payload.length, 0, 3);
  head[3] = types[type];
  head[4] = flag;
  head.writeUInt32BE(stream, 5);
  return Buffer.concat([head, payload]);
}

const none = Buffer.alloc(0);

/** HEADERS of a request; `body: true` leaves the stream open for DATA. */
export function requestFrame(
  stream: number,
  path: string,
  options: { body?: boolean; method?: string; fields?: Record<string, string> } = {},
): Buffer {
  const { body = false, method = 'POST', fields = {} } = options;
  const block = headerBlock({
    ':method': method,
    ':scheme': 'http',
    ':path': path,
    ':authority': 'a',
    ...fields,
  });
  return frame('headers', flags.endHeaders | (body ? 0 : flags.endStream), stream, block);
}

/** SETTINGS with one value: 4 is the window that each stream begins with. */
export function settingFrame(identifier: number, value: number): Buffer {
  const payload = Buffer.alloc(6);
  payload.writeUInt16BE(identifier, 0);
  payload.writeUInt32BE(value, 2);
  return frame('settings', 0, 0, payload);
}

export function resetFrame(stream: number): Buffer {
  return frame('rstStream', 0, stream, Buffer.from([0, 0, 0, 8]));
}

/** Literal fields without indexing, RFC 7541 section 6.2.2. */
export function headerBlock(fields: Record<string, string>): Buffer {
  const parts: Buffer[] = [];
  for (const [name, value] of Object.entries(fields)) {
    parts.push(Buffer.from([0]), literal(name), literal(value));
  }
  return Buffer.concat(parts);
}

/** A text's length as an integer with a prefix of 7 bits, then the text. */
function literal(text: string): Buffer {
  const bytes = Buffer.from(text, 'latin1');
  if (bytes.length < 127) return Buffer.concat([Buffer.from([bytes.length]), bytes]);
  const length = [127];
  let rest = bytes.length - 127;
  for (; rest >= 128; rest = Math.floor(rest / 128)) length.push((rest % 128) + 128);
  length.push(rest);
  return Buffer.concat([Buffer.from(length), bytes]);
}

function framesIn(bytes: Buffer): Frame[] {
  const frames: Frame[] = [];
  for (let at = 0; at + 9 <= bytes.length; ) {
    const end = at + 9 + bytes.readUIntBE(at, 3);
    if (end > bytes.length) break;
    frames.push({
      type: bytes[at + 3] ?? 0,
      flags: bytes[at + 4] ?? 0,
      stream: bytes.readUInt32BE(at + 5),
      payload: bytes.subarray(at + 9, end),
    });
    at = end;
  }
  return frames;
}
