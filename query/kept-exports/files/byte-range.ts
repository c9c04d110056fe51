// Which bytes of a file a request asks for (RFC 9110, sections 13 and 14): one range, conditions by strong ETags.
// Several ranges at once are answered with the whole file, as the RFC allows.

import type { IncomingHttpHeaders } from 'node:http';

export type Asked =
  | { kind: 'whole' }
  /** Both ends included. */
  | { kind: 'part'; start: number; end: number }
  /** 304: the reader has it. */
  | { kind: 'unchanged' }
  /** 412: the reader wants another one. */
  | { kind: 'other' }
  /** 416: there are no such bytes. */
  | { kind: 'outside' };

/** `etag` with its quotes. */
export function askedBytes(
  { range, ...conditions }: IncomingHttpHeaders,
  etag: string,
  bytes: number,
): Asked {
  const { 'if-match': ifMatch, 'if-none-match': ifNoneMatch, 'if-range': ifRange } = conditions;
  if (ifMatch !== undefined && !names(ifMatch, etag)) return { kind: 'other' };
  if (ifNoneMatch !== undefined && names(ifNoneMatch.replaceAll('W/', ''), etag)) {
    return { kind: 'unchanged' };
  }
  // A date of If-Range is no ETag of ours: the reader gets the whole file.
  if (range === undefined || (ifRange !== undefined && ifRange !== etag)) return { kind: 'whole' };
  const found = /^bytes=(\d{0,15})-(\d{0,15})$/.exec(range.trim());
  const [, first = '', last = ''] = found ?? [];
  if (first === '' && last === '') return { kind: 'whole' };
  if (first === '') {
    const count = Math.min(Number(last), bytes);
    return count === 0
      ? { kind: 'outside' }
      : { kind: 'part', start: bytes - count, end: bytes - 1 };
  }
  const start = Number(first);
  const end = last === '' ? bytes - 1 : Math.min(Number(last), bytes - 1);
  if (last !== '' && Number(last) < start) return { kind: 'whole' };
  return start >= bytes ? { kind: 'outside' } : { kind: 'part', start, end };
}

function names(list: string, etag: string): boolean {
  const items = list.split(',').map((item) => item.trim());
  return items.includes('*') || items.includes(etag);
}
