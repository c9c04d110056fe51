// Hashes and checks passwords. A check costs the same with and without a stored hash, and the number of checks at once
// is bounded, as each takes 64 MiB. Rules on a password's length are request-fields.ts's.

import { hash, verify } from '@node-rs/argon2';

export interface Passwords {
  /** Returns a PHC string. Throws PasswordsBusy if too many calls wait. */
  hash(password: string): Promise<string>;
  /**
   * `ok` if `stored` is a hash of `password`. Without a stored hash it does the same work and answers false. `rehash`
   * asks for a new hash because the stored one has other parameters. Throws PasswordsBusy like `hash`.
   */
  check(stored: string | undefined, password: string): Promise<{ ok: boolean; rehash: boolean }>;
}

/** Too many calls wait already. The caller gets resource_exhausted. */
export class PasswordsBusy extends Error {}

export const minPasswordCharacters = 8;
export const maxPasswordCharacters = 128;

// Parameters of argon2id, the library's default. OWASP's minimum is 19 MiB and two passes; these take some 50 ms of one
// core.
const parameters = {
  memoryCost: 65_536,
  timeCost: 3,
  parallelism: 1,
} as const;
const parameterPrefix = '$argon2id$v=19$m=65536,t=3,p=1$';
/** 4 x 64 MiB at once. */
const maxAtOnce = 4;
/** At about 20 a second the last call waits some three seconds. */
const maxWaiting = 64;

export function createPasswords(): Passwords {
  const slots = createSlots();
  // Made at the start, so that the first sign-in with an unknown address costs no more than the second.
  const nobodysHash = hash(crypto.randomUUID(), parameters);
  return {
    hash: (password) => slots(() => hash(normal(password), parameters)),
    check: (stored, password) =>
      slots(async () => {
        const ok = await matches(stored ?? (await nobodysHash), normal(password));
        if (stored === undefined) return { ok: false, rehash: false };
        return { ok, rehash: ok && !stored.startsWith(parameterPrefix) };
      }),
  };
}

// The same password from another keyboard may come with its characters composed differently.
function normal(password: string): string {
  return password.normalize('NFKC');
}

async function matches(stored: string, password: string): Promise<boolean> {
  try {
    return await verify(stored, password);
  } catch {
    return false;
  }
}

function createSlots(): <T>(work: () => Promise<T>) => Promise<T> {
  let running = 0;
  const waiting: (() => void)[] = [];
  return async (work) => {
    if (running >= maxAtOnce) {
      if (waiting.length >= maxWaiting) throw new PasswordsBusy('too many sign-ins at once');
      await new Promise<void>((resolve) => waiting.push(resolve));
    } else {
      running++;
    }
    try {
      return await work();
    } finally {
      const next = waiting.shift();
      if (next === undefined) running--;
      else next();
    }
  };
}
