// The token in an invitation's mail: it names the organization and the invitation and carries a secret. The record
// keeps the secret's hash only, so that a mail sent again has a new secret.

import { randomBytes } from 'node:crypto';
import { Code, ConnectError } from '@connectrpc/connect';

const tokenPattern = /^inv_([0-9a-f-]{36})\.([0-9a-f-]{36})\.([A-Za-z0-9_-]{43})$/;

export function newSecret(): string {
  return randomBytes(32).toString('base64url');
}

export function invitationToken(
  organizationId: string,
  invitationId: string,
  secret: string,
): string {
  return `inv_${organizationId}.${invitationId}.${secret}`;
}

/** Undefined if the text does not have the form of a token. */
export function readInvitationToken(
  token: string,
): { organizationId: string; invitationId: string; secret: string } | undefined {
  const [, organizationId, invitationId, secret] = tokenPattern.exec(token) ?? [];
  if (organizationId === undefined || invitationId === undefined || secret === undefined) {
    return undefined;
  }
  return { organizationId, invitationId, secret };
}

/** One answer for every bad token or id, so that it tells nothing about other organizations. */
export function noSuchInvitation(): ConnectError {
  return new ConnectError('the invitation is unknown, expired, revoked or used', Code.NotFound);
}
