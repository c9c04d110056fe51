import { expect, it } from 'vitest';
import { userName, visitorName } from './user-name.ts';

const id = '3fa94c01aabbccddeeff001122334455';

it('calls an anonymous user the same by the profile as by a visit', () => {
  const anonymous = { userName: '', profileId: id, distinctId: 'anon-6f1b' };
  expect(userName({ id, externalId: '' })).toBe('Visitor 3fa94c01');
  expect(visitorName(anonymous)).toBe('Visitor 3fa94c01');
  expect(visitorName({ ...anonymous, distinctId: 'u1' })).toBe('Visitor 3fa94c01');
  expect(visitorName({ ...anonymous, userName: 'anon-6f1b' })).toBe('Visitor 3fa94c01');
  expect(userName({ id, externalId: 'anon-6f1b', properties: {} })).toBe('Visitor 3fa94c01');
});

it('calls others by what names them, and cookieless visitors by their id', () => {
  expect(userName({ id, externalId: 'u1', properties: { email: 'ada@example.org' } })).toBe(
    'ada@example.org',
  );
  expect(userName({ id, externalId: 'u1', properties: { name: '', email: 1 } })).toBe('u1');
  const named = { userName: 'Ada', profileId: id, distinctId: 'anon-6f1b' };
  expect(visitorName(named)).toBe('Ada');
  expect(visitorName({ ...named, userName: '', profileId: '' })).toBe('anon-6f1b');
});
