// Hashes and checks with the real argon2id, and the bound on checks at once.

import { hash } from '@node-rs/argon2';
import { expect, it } from 'vitest';
import { createPasswords, PasswordsBusy } from './passwords.ts';

const passwords = createPasswords();

it('checks a password against its hash, however its characters are composed', async () => {
  const stored = await passwords.hash('Grüße aus Köln');
  expect(stored).toMatch(/^\$argon2id\$v=19\$m=65536,t=3,p=1\$/);
  expect(await passwords.hash('Grüße aus Köln')).not.toBe(stored);
  const good = { ok: true, rehash: false };
  expect(await passwords.check(stored, 'Grüße aus Köln')).toEqual(good);
  expect(await passwords.check(stored, 'Grüße aus Köln'.normalize('NFD'))).toEqual(good);
  expect(await passwords.check(stored, 'grüße aus köln')).toEqual({ ok: false, rehash: false });
});

it('asks for a new hash in place of a weaker one, only if the password is right', async () => {
  const weak = await hash('correct horse', { memoryCost: 8_192, timeCost: 1 });
  expect(await passwords.check(weak, 'correct horse')).toEqual({ ok: true, rehash: true });
  expect(await passwords.check(weak, 'wrong horse')).toEqual({ ok: false, rehash: false });
});

it('answers false without a stored hash, and for a stored text that is no hash', async () => {
  expect(await passwords.check(undefined, 'anything')).toEqual({ ok: false, rehash: false });
  expect(await passwords.check('garbage', 'anything')).toEqual({ ok: false, rehash: false });
});

it('checks four passwords at once, lets 64 calls wait and turns the others away', async () => {
  const calls = Array.from({ length: 72 }, () => passwords.check(undefined, 'anything'));
  const results = await Promise.allSettled(calls);
  const turnedAway = results.filter(
    (result) => result.status === 'rejected' && result.reason instanceof PasswordsBusy,
  );
  expect(turnedAway).toHaveLength(4);
  expect(await passwords.check(undefined, 'anything')).toEqual({ ok: false, rehash: false });
});
