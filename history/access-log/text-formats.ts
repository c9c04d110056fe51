// Lines of fields in a fixed order: the common and the combined format of Apache, nginx and Traefik, with or without
// the host before them, HAProxy's HTTP format, and that of AWS's application load balancer.

import { addressIn, type ClientField, isInside } from './client-address.ts';
import { type Field, fieldsOf } from './fields.ts';
import { bad, lineOf, type Parsed, present, requestOf } from './log-line.ts';
import { logTimeMs } from './log-time.ts';

export function parseText(text: string, client: ClientField | undefined): Parsed {
  const fields = fieldsOf(text);
  if (fields === undefined) return bad(/\[\d|"[A-Z]+ /.test(text) ? 'request' : 'format');
  if (albTypes.has(fields[0]?.text ?? '') && fields[12]?.form === 'quoted') {
    return parseAlb(fields, client);
  }
  if (isHaproxy(fields)) return parseHaproxy(fields, client);
  return parseCombined(fields, client);
}

/** What the named field has; the format's own client where that has nothing: a request that came past the proxy. */
function namedClient(
  fields: readonly Field[],
  client: ClientField,
  own: string | undefined,
): string | undefined {
  const text = present(fields.at(client === 'last' ? -1 : Number(client) - 1)?.text);
  return text === undefined ? own : (addressIn(text) ?? text);
}

function parseCombined(fields: readonly Field[], client: ClientField | undefined): Parsed {
  const at = fields.findIndex(({ form }) => form === 'bracketed');
  const requested = fields[at + 1];
  if (at < 3 || requested?.form !== 'quoted') return bad('format');
  const [status, bytes, referrer, userAgent] = fields.slice(at + 2);
  // The common format may have more fields, and no quoted one alone.
  const isCombined = referrer?.form === 'quoted';
  if (isCombined && userAgent?.form !== 'quoted') return bad('request');
  const { host, own } = headOf(fields.slice(0, at));
  const last = fields.length > at + 6 ? addressIn(fields.at(-1)?.text) : undefined;
  const isOther = last !== undefined && last !== own && !isInside(last);
  if (client === undefined && isOther && own !== undefined && !isInside(own)) return bad('clients');
  const found = isOther ? last : own;
  const { method, target } = requestOf(requested.text);
  return lineOf({
    ...{ hostname: host?.replace(/:\d{1,5}$/, ''), method, target },
    address: client === undefined ? found : namedClient(fields, client, own),
    timeMs: logTimeMs(fields[at]?.text),
    status: status?.text,
    bytes: bytes?.text,
    ...(isCombined && { referrer: referrer.text, userAgent: userAgent?.text }),
  });
}

/** The fields before the time: the client's, or the host and the client's. A header of several addresses is one. */
function headOf(head: readonly Field[]): { host?: string | undefined; own: string | undefined } {
  const words = head.map(({ text }) => text);
  while (words[0]?.endsWith(',') && words.length > 1)
    words.splice(0, 2, words.slice(0, 2).join(''));
  const second = addressIn(words[1]);
  if (second !== undefined) return { host: words[0], own: second };
  return { own: addressIn(words[0]) };
}

/** The protocols that begin a balancer's line. */
const albTypes: ReadonlySet<string> = new Set(['http', 'https', 'h2', 'grpcs', 'ws', 'wss']);

function parseAlb(fields: readonly Field[], client: ClientField | undefined): Parsed {
  const text = (index: number): string | undefined => fields[index]?.text;
  const { method, target } = requestOf(text(12));
  const own = addressIn(text(3));
  return lineOf({
    // The host asked is in the request's address.
    ...{ method, target, status: text(8), bytes: text(11), userAgent: text(13) },
    timeMs: logTimeMs(text(1)),
    address: client === undefined ? own : namedClient(fields, client, own),
  });
}

function isHaproxy(fields: readonly Field[]): boolean {
  const [, time, , backend, timers] = fields;
  const isTime = time?.form === 'bracketed' && /\.\d{3}$/.test(time.text);
  return isTime && backend?.text.includes('/') === true && /^[\d/+-]+$/.test(timers?.text ?? '');
}

function parseHaproxy(fields: readonly Field[], client: ClientField | undefined): Parsed {
  const [own, time, , , , status, bytes] = fields.map(({ text }) => text);
  const { method, target } = requestOf(fields.findLast(({ form }) => form === 'quoted')?.text);
  // Captured headers have no names: an agent and a page are told by their form.
  const captures = fields
    .filter(({ form }) => form === 'braced')
    .flatMap(({ text }) => text.split('|'));
  const address = addressIn(own);
  return lineOf({
    ...{ method, target, status },
    ...{ bytes: bytes?.replace('+', ''), timeMs: logTimeMs(time) },
    userAgent: captures.find((text) => text.startsWith('Mozilla/')),
    referrer: captures.find((text) => /^https?:\/\//.test(text)),
    address: client === undefined ? address : namedClient(fields, client, address),
  });
}
