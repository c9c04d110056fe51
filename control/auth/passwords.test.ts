// Hashes and checks with the real argon2id, and the bound on checks at once.

import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import { hash } from '@node-rs/argon2';
import { afterAll, expect, it } from 'vitest';
import { createPasswords, type PasswordCaller, PasswordsBusy } from './passwords.ts';

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

const checks = (caller: PasswordCaller, calls: number) =>
  Array.from({ length: calls }, () =>
    passwords.check(undefined, 'anything', caller).then(
      () => 'checked',
      (error) => (error instanceof PasswordsBusy ? 'busy' : String(error)),
    ),
  );
const busyAmong = async (outcomes: readonly Promise<string>[]) =>
  (await Promise.all(outcomes)).filter((outcome) => outcome === 'busy').length;

it('calls from one place take 16 places at most, with and without a session, and leave the others to others', async () => {
  const from = '192.0.2.1';
  const sessions = checks({ kind: 'session', from }, 20);
  const strangers = checks({ kind: 'stranger', from }, 5);
  const elsewhere = checks({ kind: 'stranger', from: '192.0.2.2' }, 3);
  expect(await busyAmong(sessions)).toBe(4);
  expect(await busyAmong(strangers)).toBe(5);
  expect(await busyAmong(elsewhere)).toBe(0);
  // The places are free again.
  expect(await busyAmong(checks({ kind: 'stranger', from }, 3))).toBe(0);
});

it('lets 32 calls wait, and 8 more of customers with a session, and turns the others away', async () => {
  await passwords.check(undefined, 'a thread that runs');
  const strangers = checks({ kind: 'stranger', from: undefined }, 40);
  const known = checks({ kind: 'session', from: undefined }, 12);
  expect(await busyAmong(strangers)).toBe(7);
  expect(await busyAmong(known)).toBe(4);
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
