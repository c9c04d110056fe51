// Hashes and checks passwords in a thread of its own: the library's own way would hold the threads of libuv, and with
// them every gzip, file and name look-up of the process. One password at a time takes 64 MiB and at most one core; the
// calls that wait are bounded. Rules on a password's length are request-fields.ts's.

import { join } from 'node:path';
import { Piscina } from 'piscina';

/** Who asks for a check or a hash: a session of the customer whose password it is, or anybody. */
export interface PasswordCaller {
  kind: 'stranger' | 'session';
  /** Where the call comes from, such as a network address: nobody takes all places. Undefined counts with no other. */
  from: string | undefined;
}

export interface Passwords {
  /** Returns a PHC string. Throws PasswordsBusy if too many calls wait, in all or from where this one comes. */
  hash(password: string, caller?: PasswordCaller): Promise<string>;
  /**
   * `ok` if `stored` is a hash of `password`. Without a stored hash it does the same work and answers false. `rehash`
   * asks for a new hash because the stored one has other parameters. Throws PasswordsBusy like `hash`, later for a
   * customer whom a session names: strangers cannot take all places.
   */
  check(
    stored: string | undefined,
    password: string,
    caller?: PasswordCaller,
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
/** An office signs in at once; and a few customers' right passwords, which no limit counts, leave half the places. */
const maxFromOnePlace = 16;
const anybody: PasswordCaller = { kind: 'stranger', from: undefined };
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
  /** Unfinished calls by where they come from. */
  const unfinished = new Map<string, number>();
  const run = async (name: 'hash' | 'verify', task: object, { kind, from }: PasswordCaller) => {
    const others = from === undefined ? 0 : (unfinished.get(from) ?? 0);
    if (thread.queueSize >= maxWaiting[kind] || others >= maxFromOnePlace)
      throw new PasswordsBusy('too many sign-ins at once');
    if (from === undefined) return thread.run(task, { name });
    unfinished.set(from, others + 1);
    return thread.run(task, { name }).finally(() => {
      const left = (unfinished.get(from) ?? 1) - 1;
      if (left > 0) unfinished.set(from, left);
      else unfinished.delete(from);
    });
  };
  return {
    hash: (password, caller = anybody) =>
      run('hash', { password: normal(password), parameters }, caller),
    async check(stored, password, caller = anybody) {
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
