// The error for a request that breaks a rule: it names the field as the caller wrote it, then the rule.

import { Code, ConnectError } from '@connectrpc/connect';

/** `field` is a path such as `filters[2].values`; `rule` is the rest of the sentence, such as "must be a UUID". */
export function invalidArgument(field: string, rule: string): ConnectError {
  return new ConnectError(`${field}: ${rule}`, Code.InvalidArgument);
}

/** For the end of a switch: JSON and binary requests can hold a number that no name of an enum has. */
export function notKnown(field: string, value: never, rule = 'is not known'): ConnectError {
  return invalidArgument(field, `${Number(value)} ${rule}`);
}
