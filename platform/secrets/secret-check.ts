// Compares what a caller sends with a secret, in a time that tells nothing about the secret.

import { createHash, timingSafeEqual } from 'node:crypto';

/** True for the secret itself. Digests have one length, so that not even the secret's length shows. */
export function createSecretCheck(secret: string): (sent: string) => boolean {
  const expected = digest(secret);
  return (sent) => timingSafeEqual(digest(sent), expected);
}

function digest(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}
