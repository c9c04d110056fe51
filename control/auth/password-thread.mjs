// The thread that hashes and checks passwords, one at a time. passwords.ts starts it and has its types. Plain
// JavaScript, because a thread cannot start from TypeScript.

import { hashSync, verifySync } from '@node-rs/argon2';

/** @param {{ password: string, parameters: import('@node-rs/argon2').Options }} task */
export function hash({ password, parameters }) {
  return hashSync(password, parameters);
}

/** @param {{ password: string, stored: string }} task */
export function verify({ password, stored }) {
  try {
    return verifySync(stored, password);
  } catch {
    // The stored text is no hash.
    return false;
  }
}
