// Hashes and checks with the real argon2id, and the bound on checks at once.

import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import { hash } from '@node-rs/argon2';
import { afterAll, expect, it } from 'vitest';
import { createPasswords, PasswordsBusy } from './passwords.ts';

const passwords = createPasswords();
afterAll(() => passwords.close());

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

it('lets 32 calls wait, and 8 more of customers with a session, and turns the others away', async () => {
  await passwords.check(undefined, 'a thread that runs');
  const count = async (caller: 'stranger' | 'session', calls: number) => {
    const checks = Array.from({ length: calls }, () =>
      passwords.check(undefined, 'anything', caller).then(
        () => 'checked',
        (error) => (error instanceof PasswordsBusy ? 'busy' : String(error)),
      ),
    );
    return () => Promise.all(checks);
  };
  const strangers = await count('stranger', 40);
  const known = await count('session', 12);
  expect((await strangers()).filter((outcome) => outcome === 'busy')).toHaveLength(7);
  expect((await known()).filter((outcome) => outcome === 'busy')).toHaveLength(4);
  expect(await passwords.check(undefined, 'anything')).toEqual({ ok: false, rehash: false });
});

it('leaves the threads of libuv free: gzip is done before the first of many waiting passwords', async () => {
  await passwords.check(undefined, 'a thread that runs');
  const done: string[] = [];
  const checks = Array.from({ length: 12 }, () =>
    passwords.check(undefined, 'anything').then(() => done.push('password')),
  );
  await promisify(gzip)('x').then(() => done.push('gzip'));
  await Promise.all(checks);
  expect(done.indexOf('gzip')).toBe(0);
});
