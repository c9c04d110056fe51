// Requests as SDKs of other vendors put them on the wire, and how they are sent again: a recording names what it
// shortened (`$form`, `$base64`), and its key is replaced by a project's.

import { gzipSync } from 'node:zlib';
import { isObject } from '../../../platform/json.ts';

export interface RecordedRequest {
  method: string;
  path: string;
  headers: Record<string, string>;
  body?: unknown;
  /** The body is gzip. */
  gzip?: boolean;
}

export interface SentRequest {
  path: string;
  init: RequestInit;
}

/** `recordedKey` is the text that stands for the key wherever the SDK puts it. */
export function requestOf(
  { method, path, headers, body, gzip }: RecordedRequest,
  recordedKey: string,
  key: string,
): SentRequest {
  const own: Record<string, string> = {};
  for (const [name, value] of Object.entries(headers)) own[name] = value.replace(recordedKey, key);
  const { authorization } = own;
  if (authorization?.startsWith('Basic ')) own['authorization'] = `Basic ${btoa(`${key}:`)}`;
  const keyed = (value: unknown): unknown => withKey(value, recordedKey, key);
  const target = path
    .replaceAll(pathKey(recordedKey), (before) => before[0] + key)
    .replace(/(?<=[?&]data=)[^&]+/, (data) => encodeURIComponent(base64WithKey(data, keyed)));
  if (method === 'GET') return { path: target, init: { method, headers: own } };
  const text = bodyText(keyed(body));
  const isPacked = gzip === true || headers['content-encoding'] === 'gzip';
  return {
    path: target,
    init: { method, headers: own, body: isPacked ? new Uint8Array(gzipSync(text)) : text },
  };
}

/** The key as a part of a path, or the value of a parameter. */
function pathKey(recordedKey: string): RegExp {
  return new RegExp(`[=/]${recordedKey.replace(/[^\w]/g, '\\$&')}(?=[&/]|$)`, 'g');
}

/** A text that is the key, or holds it as a parameter. A list loses what the recording left out. */
function withKey(value: unknown, recordedKey: string, key: string): unknown {
  if (value === recordedKey) return key;
  if (typeof value === 'string')
    return value.replaceAll(`idsite=${recordedKey}&`, `idsite=${key}&`);
  if (Array.isArray(value)) {
    return value
      .filter((item) => typeof item !== 'string' || !/^… \d+ more$/.test(item))
      .map((item) => withKey(item, recordedKey, key));
  }
  if (!isObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, inner]) => [name, withKey(inner, recordedKey, key)]),
  );
}

function base64WithKey(data: string, keyed: (value: unknown) => unknown): string {
  const value: unknown = JSON.parse(Buffer.from(decodeURIComponent(data), 'base64').toString());
  return Buffer.from(JSON.stringify(keyed(value))).toString('base64');
}

function bodyText(body: unknown): string {
  if (typeof body === 'string') return body;
  const form = isObject(body) ? body['$form'] : undefined;
  if (!isObject(form)) return JSON.stringify(body);
  const fields = new URLSearchParams();
  for (const [name, value] of Object.entries(form)) fields.set(name, fieldText(value));
  return fields.toString();
}

function fieldText(value: unknown): string {
  const packed = isObject(value) ? value['$base64'] : undefined;
  if (packed === undefined) return String(value);
  return Buffer.from(JSON.stringify(packed)).toString('base64');
}
