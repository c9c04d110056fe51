// How a request's fault is told: the field as the caller wrote it, then the rule.

import { Code, ConnectError } from '@connectrpc/connect';

/** `field` is a path such as `filters[2].values`; `rule` says what the field must be. */
export function invalidArgument(field: string, rule: string): ConnectError {
  return new ConnectError(`${field}: ${rule}`, Code.InvalidArgument);
}
