// The refusals of the management interface, as the RPC methods word them: a code with its HTTP status, a message that
// names the field and the rule.

import { Code, ConnectError } from '@connectrpc/connect';

/** `rule` is the rest of the sentence after the field's name, such as "must be a string". */
export function invalidArgument(field: string, rule: string): ConnectError {
  return new ConnectError(`${field}: ${rule}`, Code.InvalidArgument);
}

export function failedPrecondition(message: string): ConnectError {
  return new ConnectError(message, Code.FailedPrecondition);
}

/** Also the answer for an organization of other people, so that it does not tell that there is one. */
export function noSuchOrganization(): ConnectError {
  return new ConnectError('there is no such organization', Code.NotFound);
}

export function noSuchWebhook(): ConnectError {
  return new ConnectError('there is no such webhook', Code.NotFound);
}

export function exhausted(message: string, retryAfterSeconds: number): ConnectError {
  return new ConnectError(message, Code.ResourceExhausted, {
    'retry-after': String(retryAfterSeconds),
  });
}
