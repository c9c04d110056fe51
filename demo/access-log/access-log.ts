// Reads a web server's access log in the common or combined format (Apache, nginx), plain or gzipped, line by line in
// bounded memory. Gives a line's fields; page-views.ts decides what becomes of them.

import { createReadStream } from 'node:fs';
import { open } from 'node:fs/promises';
import { pipeline, type Readable } from 'node:stream';
import { createGunzip } from 'node:zlib';

export interface LogLine {
  /** The host asked for, where the format begins with it (Apache's vhost_combined). */
  hostname?: string;
  address: string;
  timeMs: number;
  method: string;
  /** As requested: a path with its query, or an absolute URL. */
  target: string;
  status: number;
  /** Size of the response's body; absent where the log has "-". */
  bytes?: number;
  /** Absent where the log has "-" or is in the common format. */
  referrer?: string;
  userAgent?: string;
}

export type ReadLine =
  | { kind: 'line'; number: number; text: string; line: LogLine }
  | { kind: 'bad'; number: number; text: string };

const maxLineBytes = 65_536;
const newline = 0x0a;

/** Every line that is not empty, numbered from 1; a line over 64 KiB is bad and given in part. */
export async function* readAccessLog(path: string): AsyncGenerator<ReadLine> {
  let number = 0;
  for await (const text of splitLines(await openLog(path))) {
    number++;
    if (text === '') continue;
    const line = text.length >= maxLineBytes ? undefined : parseLogLine(text);
    yield line === undefined ? { kind: 'bad', number, text } : { kind: 'line', number, text, line };
  }
}

const quoted = String.raw`"((?:[^"\\]|\\.)*)"`;
const linePattern = new RegExp(
  [
    String.raw`^(?:([\w.-]+):\d{1,5} )?(\S+) \S+ .*? ?\[([^[\]]{1,40})\]`,
    String.raw` ${quoted} (\d{3}) (\d+|-)(?: ${quoted} ${quoted}|$| (?!"))`,
  ].join(''),
);
const requestPattern = /^([A-Z]+) (\S+)(?: HTTP\/\d(?:\.\d)?)?$/;

/** The line's fields, or undefined where it is in neither format. */
export function parseLogLine(text: string): LogLine | undefined {
  const match = linePattern.exec(text);
  if (match === null) return undefined;
  const [, hostname, address = '', time = '', request = ''] = match;
  const [status, bytes, referrer, userAgent] = match.slice(5);
  const timeMs = parseTime(time);
  const requested = requestPattern.exec(plainText(request));
  if (timeMs === undefined || requested === null) return undefined;
  const [, method = '', target = ''] = requested;
  return {
    ...{ address, timeMs, method, target, status: Number(status) },
    ...(hostname === undefined ? {} : { hostname }),
    ...(bytes === '-' ? {} : { bytes: Number(bytes) }),
    ...(isAbsent(referrer) ? {} : { referrer: plainText(referrer) }),
    ...(isAbsent(userAgent) ? {} : { userAgent: plainText(userAgent) }),
  };
}

function isAbsent(field: string | undefined): field is undefined {
  return field === undefined || field === '-' || field === '';
}

const months = 'JanFebMarAprMayJunJulAugSepOctNovDec';
const timePattern =
  /^(\d{2})\/([A-Z][a-z]{2})\/(\d{4}):(\d{2}):(\d{2}):(\d{2}) ([+-])(\d{2})(\d{2})$/;

/** `17/May/2015:10:05:03 +0000` in milliseconds since the epoch; undefined for text that is no time. */
function parseTime(text: string): number | undefined {
  const match = timePattern.exec(text);
  if (match === null) return undefined;
  const [, day, name = '', year, hour, minute, second, sign, zoneHours, zoneMinutes] = match;
  const month = months.indexOf(name) / 3;
  if (!Number.isInteger(month) || month < 0) return undefined;
  const numbers = [Number(day), Number(hour), Number(minute), Number(second)] as const;
  if (numbers[1] > 23 || numbers[2] > 59 || numbers[3] > 60) return undefined;
  const utc = Date.UTC(Number(year), month, ...numbers);
  if (new Date(Date.UTC(Number(year), month, numbers[0])).getUTCDate() !== numbers[0])
    return undefined;
  const zoneMs = (Number(zoneHours) * 60 + Number(zoneMinutes)) * 60_000;
  return sign === '-' ? utc + zoneMs : utc - zoneMs;
}

const escapes: Record<string, string> = { n: '\n', r: '\r', t: '\t', b: '\b', v: '\v', f: '\f' };

// Apache escapes unprintable bytes as \", \\, \n or \xhh, one by one: the bytes are put together as UTF-8 again.
function plainText(text: string): string {
  if (!text.includes('\\')) return text;
  const bytes = /\\x([0-9a-fA-F]{2})|\\(.)|([^\\]+)/g;
  const parts = [...text.matchAll(bytes)].map(([, hex, escaped, plain]) => {
    if (hex !== undefined) return Buffer.from(hex, 'hex');
    return Buffer.from(escaped === undefined ? (plain ?? '') : (escapes[escaped] ?? escaped));
  });
  return Buffer.concat(parts).toString('utf8');
}

async function openLog(path: string): Promise<Readable> {
  const file = await open(path);
  const { buffer, bytesRead } = await file.read(Buffer.alloc(2), 0, 2, 0);
  await file.close();
  const source = createReadStream(path);
  if (bytesRead < 2 || buffer[0] !== 0x1f || buffer[1] !== 0x8b) return source;
  // An error of either stream ends the reading of the unpacked stream.
  return pipeline(source, createGunzip(), () => {});
}

/** Lines without their line ends; a last line needs none. At most `maxLineBytes` of each. */
async function* splitLines(source: Readable): AsyncGenerator<string> {
  let kept: Buffer[] = [];
  let keptBytes = 0;
  const keep = (part: Buffer): void => {
    const room = Math.max(0, maxLineBytes - keptBytes);
    if (room > 0) kept.push(part.subarray(0, room));
    keptBytes += Math.min(room, part.length);
  };
  const take = (): string => {
    const text = Buffer.concat(kept).toString('utf8');
    kept = [];
    keptBytes = 0;
    return text.endsWith('\r') ? text.slice(0, -1) : text;
  };
  for await (const chunk of source) {
    const bytes: Buffer = chunk;
    let from = 0;
    for (let end = bytes.indexOf(newline); end >= 0; end = bytes.indexOf(newline, from)) {
      keep(bytes.subarray(from, end));
      yield take();
      from = end + 1;
    }
    keep(bytes.subarray(from));
  }
  if (keptBytes > 0) yield take();
}
