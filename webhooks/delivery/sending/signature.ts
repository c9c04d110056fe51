// The signatures of a delivery: one over the body alone, and those of Standard Webhooks (standardwebhooks.com), which
// also cover id and time and so let a receiver refuse a body that is sent again later. Both are keyed with the secret
// of the webhook, but not with the same bytes: the first takes the secret's text, the second the bytes that its base64
// stands for. docs/webhooks.md tells receivers.

import { createHmac } from 'node:crypto';

const secretPrefix = 'whsec_';

export interface SignedParts {
  /** `whsec_` and standard base64. */
  secret: string;
  /** Holds no dot, which separates the parts that are signed. */
  deliveryId: string;
  /** The bytes that are sent. */
  payload: Uint8Array;
  /** Of this attempt, in seconds since the epoch: receivers refuse one that is more than five minutes off. */
  timestampS: number;
}

/** The headers that prove a delivery. Throws for a secret of another form, without saying it. */
export function signatureHeaders(parts: SignedParts): Record<string, string> {
  return {
    'X-Service-Signature': bodySignature(parts.secret, parts.payload),
    'webhook-id': parts.deliveryId,
    'webhook-timestamp': String(parts.timestampS),
    'webhook-signature': standardSignature(parts),
  };
}

/** Keyed with the UTF-8 bytes of the whole secret, prefix and all. */
export function bodySignature(secret: string, payload: Uint8Array): string {
  return `sha256=${createHmac('sha256', secret).update(payload).digest('hex')}`;
}

function standardSignature({ secret, deliveryId, payload, timestampS }: SignedParts): string {
  const hmac = createHmac('sha256', decodedKey(secret));
  hmac.update(`${deliveryId}.${timestampS}.`).update(payload);
  return `v1,${hmac.digest('base64')}`;
}

function decodedKey(secret: string): Buffer {
  const key = Buffer.from(secret.slice(secretPrefix.length), 'base64');
  if (!secret.startsWith(secretPrefix) || key.length === 0) {
    throw new Error('the webhook secret is not of the form whsec_<base64>');
  }
  return key;
}
