// The headers of a unary request in the Connect protocol (https://connectrpc.com/docs/protocol): content type, protocol
// version, timeout. Knows no method.

import type { IncomingHttpHeaders } from 'node:http';
import { isJson, isPlainText } from '../../platform/http/content-type.ts';
import { versionRule } from '../../platform/http/router/call-headers.ts';
import { type Refusal, refusal } from './answer.ts';

export type Format = 'json' | 'binary';

/**
 * Undefined where the type is not unary Connect's. A beacon, which a browser sends while a page unloads and which
 * carries its key in the URL, cannot name its type: its text is read as JSON.
 */
export function formatOf(contentType: string | undefined, isBeacon: boolean): Format | undefined {
  if (contentType === 'application/json') return 'json';
  if (contentType === 'application/proto') return 'binary';
  if (contentType === undefined) return undefined;
  if (isJson(contentType)) return 'json';
  if (/^application\/proto$/i.test(contentType)) return 'binary';
  return isBeacon && isPlainText(contentType) ? 'json' : undefined;
}

/** Refuses a wrong protocol version and a malformed timeout; either may be missing. */
export function checkProtocol(headers: IncomingHttpHeaders): Refusal | undefined {
  const version = headers['connect-protocol-version'];
  if (version !== undefined && version !== '1') {
    return refusal('invalid_argument', 'protocol_version', versionRule);
  }
  const timeout = headers['connect-timeout-ms'];
  if (timeout !== undefined && !isTimeout(timeout)) {
    const message = 'Connect-Timeout-Ms must be a whole number of at most 10 digits';
    return refusal('invalid_argument', 'protocol_timeout', message);
  }
  return undefined;
}

/** How long the sender waits for an answer: for ever where it does not say. */
export function timeoutMsOf(headers: IncomingHttpHeaders): number {
  const timeout = headers['connect-timeout-ms'];
  return isTimeout(timeout) ? Number(timeout) : Number.POSITIVE_INFINITY;
}

function isTimeout(text: string | string[] | undefined): text is string {
  return typeof text === 'string' && /^\d{1,10}$/.test(text);
}
