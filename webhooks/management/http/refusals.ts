// The refusals of the management interface, as the RPC methods word them: a code with its HTTP status, a message that
// names the field and the rule.

import { Code, ConnectError } from '@connectrpc/connect';

export function failedPrecondition(message: string): ConnectError {
  return new ConnectError(message, Code.FailedPrecondition);
}

/** Also the answer for an organization of other people, so that it does not tell that there is one. */
export function noSuchOrganization(): ConnectError {
  return new ConnectError('there is no such organization', Code.NotFound);
}

/** Also the answer for a project of other people. */
export function noSuchProject(field: string): ConnectError {
  return new ConnectError(`${field}: there is no such project`, Code.NotFound);
}

export function noSuchWebhook(): ConnectError {
  return new ConnectError('there is no such webhook', Code.NotFound);
}

export function exhausted(message: string, retryAfterSeconds: number): ConnectError {
  return new ConnectError(message, Code.ResourceExhausted, {
    'retry-after': String(retryAfterSeconds),
  });
}
