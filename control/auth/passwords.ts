// Hashes and checks passwords. Costs the same whether or not there is a password to check, and never more at once
// than the machine has memory for.

import { hash, verify } from '@node-rs/argon2';

export interface Passwords {
  /** A PHC string. Throws PasswordsBusy where too many callers wait. */
  hash(password: string): Promise<string>;
  /**
   * Whether `password` is the one that `stored` was made of. Does the same work and answers false where nothing is
   * stored. `rehash` asks for a new hash because the stored one was made with other parameters.
   */
  check(stored: string | undefined, password: string): Promise<{ ok: boolean; rehash: boolean }>;
}

/** More callers wait than are worth keeping: answer resource_exhausted. */
export class PasswordsBusy extends Error {}

export const minPasswordCharacters = 8;
export const maxPasswordCharacters = 128;

// Of argon2id, the library's default. Well above OWASP's minimum of 19 MiB and two passes; some 50 ms of one core.
const parameters = {
  memoryCost: 65_536,
  timeCost: 3,
  parallelism: 1,
} as const;
const parameterPrefix = '$argon2id$v=19$m=65536,t=3,p=1$';
/** 4 x 64 MiB at once. */
const maxAtOnce = 4;
/** At about 20 a second the last of them waits for some three seconds. */
const maxWaiting = 64;

export function createPasswords(): Passwords {
  const slots = createSlots();
  // Made before the first check looks at it, so that the first unknown address costs no more than the second.
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

// The same password typed on another keyboard may arrive composed differently.
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
