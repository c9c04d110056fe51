import { expect, it } from 'vitest';
import { idName, userName } from './user-name.ts';

const id = '3fa94c01aabbccddeeff001122334455';

it('calls an anonymous user the same by the profile as by an event', () => {
  expect(userName({ id, externalId: '' })).toBe('Visitor 3fa94c01');
  expect(idName('anon-6f1b', id)).toBe('Visitor 3fa94c01');
  expect(userName({ id, externalId: 'anon-6f1b', properties: {} })).toBe('Visitor 3fa94c01');
});

it('calls others by what names them, and cookieless visitors by their id', () => {
  expect(userName({ id, externalId: 'u1', properties: { email: 'ada@example.org' } })).toBe(
    'ada@example.org',
  );
  expect(userName({ id, externalId: 'u1', properties: { name: '', email: 1 } })).toBe('u1');
  expect(idName('u1', id)).toBe('u1');
  expect(idName('cookieless-77', '')).toBe('cookieless-77');
});
