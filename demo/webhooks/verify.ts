// What a receiver of webhooks must check: both signatures over the raw body, in constant time, and that the delivery is
// no older than five minutes.

import { createHmac, timingSafeEqual } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';

const toleranceS = 300;
const secretPrefix = 'whsec_';

/** `nowS`: seconds since the epoch. */
export function isGenuine(
  headers: IncomingHttpHeaders,
  body: Buffer,
  secret: string,
  nowS: number,
): boolean {
  return (
    hasBodySignature(headers, body, secret) && hasStandardSignature(headers, body, secret, nowS)
  );
}

/** Keyed with the secret as it was shown, as text. */
function hasBodySignature(headers: IncomingHttpHeaders, body: Buffer, secret: string): boolean {
  const expected = createHmac('sha256', secret).update(body).digest('hex');
  return isSame(textOf(headers['x-service-signature']), `sha256=${expected}`);
}

/** Standard Webhooks: keyed with the bytes that the secret's base64 stands for. */
function hasStandardSignature(
  headers: IncomingHttpHeaders,
  body: Buffer,
  secret: string,
  nowS: number,
): boolean {
  const id = textOf(headers['webhook-id']);
  const timestamp = textOf(headers['webhook-timestamp']);
  if (id === '' || !/^\d{1,12}$/.test(timestamp)) return false;
  if (Math.abs(nowS - Number(timestamp)) > toleranceS) return false;
  const base64 = secret.startsWith(secretPrefix) ? secret.slice(secretPrefix.length) : secret;
  const key = Buffer.from(base64, 'base64');
  const expected = createHmac('sha256', key).update(`${id}.${timestamp}.`).update(body);
  const wanted = `v1,${expected.digest('base64')}`;
  return textOf(headers['webhook-signature'])
    .split(' ')
    .some((signature) => isSame(signature, wanted));
}

function isSame(text: string, expected: string): boolean {
  const [a, b] = [Buffer.from(text), Buffer.from(expected)];
  return a.length === b.length && timingSafeEqual(a, b);
}

function textOf(header: string | string[] | undefined): string {
  return typeof header === 'string' ? header : '';
}
