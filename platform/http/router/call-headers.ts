// The headers of a call as the Connect router reads them: rewritten where it would misread them, and checked where it
// would not look. Credentials are platform/access's.

import { Code, ConnectError } from '@connectrpc/connect';
import { maxTimerMs } from '../../limits.ts';
import { withoutCharset } from '../content-type.ts';

const msOfUnit: Readonly<Record<string, number>> = {
  H: 3_600_000,
  M: 60_000,
  S: 1_000,
  m: 1,
  u: 0.001,
  n: 0.000_001,
};

/**
 * Without the body's length: the router would compare it with a body that was decompressed before, and take memory for
 * all that it promises. Time-outs are no longer than a timer can wait. The router itself refuses malformed headers.
 */
export function routerHeaders(sent: Headers): Headers {
  const header = new Headers(sent);
  header.delete('content-length');
  const contentType = header.get('content-type');
  if (contentType !== null) header.set('content-type', withoutCharset(contentType));
  const connectTimeout = header.get('connect-timeout-ms') ?? '';
  if (/^\d{10}$/.test(connectTimeout) && Number(connectTimeout) > maxTimerMs) {
    header.set('connect-timeout-ms', String(maxTimerMs));
  }
  const [, amount, unit = ''] =
    /^(\d{1,8})([HMSmun])$/.exec(header.get('grpc-timeout') ?? '') ?? [];
  if (Number(amount) * (msOfUnit[unit] ?? 0) > maxTimerMs) {
    header.set('grpc-timeout', `${Math.floor(maxTimerMs / 1_000)}S`);
  }
  return header;
}

/** The rule for the header connect-protocol-version, where it is there. */
export const versionRule = 'Connect-Protocol-Version must be "1"';

/** Throws invalid_argument where the caller names another version of Connect, in whatever protocol. */
export function checkVersion(header: Headers): void {
  const version = header.get('connect-protocol-version');
  if (version !== null && version !== '1') {
    throw new ConnectError(versionRule, Code.InvalidArgument);
  }
}
