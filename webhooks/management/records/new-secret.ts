// Makes the secrets that sign deliveries.

import { randomBytes } from 'node:crypto';

const secretBytes = 32;

/** In the form of Standard Webhooks: `whsec_` and standard base64. */
export function newSecret(): string {
  return `whsec_${randomBytes(secretBytes).toString('base64')}`;
}
