// Hashes and checks passwords in a thread of its own: the library's own way would hold the threads of libuv, and with
// them every gzip, file and name look-up of the process. One password at a time takes 64 MiB and at most one core; the
// calls that wait are bounded. Rules on a password's length are request-fields.ts's.

import { join } from 'node:path';
import { Piscina } from 'piscina';

export interface Passwords {
  /** Returns a PHC string. Throws PasswordsBusy if too many calls wait. */
  hash(password: string): Promise<string>;
  /**
   * `ok` if `stored` is a hash of `password`. Without a stored hash it does the same work and answers false. `rehash`
   * asks for a new hash because the stored one has other parameters. Throws PasswordsBusy like `hash`, later for a
   * customer whom a session names: strangers cannot take all places.
   */
  check(
    stored: string | undefined,
    password: string,
    caller?: 'stranger' | 'session',
  ): Promise<{ ok: boolean; rehash: boolean }>;
  close(): Promise<void>;
}

/** Too many calls wait already. The caller gets resource_exhausted. */
export class PasswordsBusy extends Error {}

export const minPasswordCharacters = 8;
export const maxPasswordCharacters = 128;

// Parameters of argon2id, the library's default. OWASP's minimum is 19 MiB and two passes; these take some 90 ms of one
// core.
const parameters = {
  memoryCost: 65_536,
  timeCost: 3,
  parallelism: 1,
} as const;
const parameterPrefix = '$argon2id$v=19$m=65536,t=3,p=1$';
/** Of a random text that nobody knows. */
const nobodysHash =
  '$argon2id$v=19$m=65536,t=3,p=1$b83Xxq5vhfIu5U7bWiLdmA$/Z5tdNAfYgCkfKbRnNSbQAzHBFgriQaeDgf93Z1h2VU';
/** At some ten a second the last call waits three seconds, and the last with a session four. */
const maxWaiting = { stranger: 32, session: 40 } as const;
// A thread takes some 10 MB. It goes when nobody signs in.
const idleMs = 60_000;

export function createPasswords(): Passwords {
  const thread = new Piscina({
    filename: join(import.meta.dirname, 'password-thread.mjs'),
    minThreads: 0,
    maxThreads: 1,
    idleTimeout: idleMs,
    atomics: 'disabled',
  });
  const run = async (name: 'hash' | 'verify', task: object, caller: 'stranger' | 'session') => {
    if (thread.queueSize >= maxWaiting[caller])
      throw new PasswordsBusy('too many sign-ins at once');
    return thread.run(task, { name });
  };
  return {
    hash: (password) => run('hash', { password: normal(password), parameters }, 'stranger'),
    async check(stored, password, caller = 'stranger') {
      const task = { password: normal(password), stored: stored ?? nobodysHash };
      const ok: boolean = await run('verify', task, caller);
      if (stored === undefined) return { ok: false, rehash: false };
      return { ok, rehash: ok && !stored.startsWith(parameterPrefix) };
    },
    close: () => thread.destroy(),
  };
}

// The same password from another keyboard may come with its characters composed differently.
function normal(password: string): string {
  return password.normalize('NFKC');
}
