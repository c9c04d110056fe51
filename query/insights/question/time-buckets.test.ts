// The names of time zones; their buckets are compared with the oracle's.

import { ConnectError } from '@connectrpc/connect';
import { expect, it } from 'vitest';
import { readTimezone } from './time-buckets.ts';

it('a zone has one name, however it is spelled: each name that is used stays in memory', () => {
  const spellings = ['Europe/Berlin', 'europe/berlin', 'EUROPE/bERLIN'];
  expect(new Set(spellings.map(readTimezone))).toEqual(new Set(['Europe/Berlin']));
  expect(readTimezone('aSIA/kOLKATA')).toBe(readTimezone('Asia/Kolkata'));
  expect(readTimezone('')).toBe('UTC');
});

it.each(['+01:00', 'Mars/Olympus', 'UTC\0', 'a'.repeat(1_000_000)])('%.20s is no zone', (name) => {
  expect(() => readTimezone(name)).toThrow(ConnectError);
});
