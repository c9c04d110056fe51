// The end of sessions in a customer's record: the list of ended ones forgets in time, and its bound ends them all.

import { expect, it } from 'vitest';
import { type CustomerRecord, withoutSession, withoutSessions } from './customer-record.ts';

const record: CustomerRecord = {
  schemaVersion: 1,
  id: 'c',
  email: 'a@example.com',
  emailVerified: true,
  displayName: 'A',
  identities: [],
  superAdmin: false,
  sessionsFromMs: 500,
  createTime: '2026-01-01T00:00:00Z',
  updateTime: '2026-01-01T00:00:00Z',
};

function signOut(from: CustomerRecord, times: number, nowMs: number): CustomerRecord {
  let after = from;
  for (let count = 0; count < times; count++) {
    after = withoutSession(after, `${nowMs} ${count}`, { nowMs, untilMs: nowMs + 100 });
  }
  return after;
}

it('an ended session is remembered while its tokens may be alive', () => {
  const once = signOut(record, 1, 1_000);
  expect(once.endedSessions).toEqual([{ id: '1000 0', untilMs: 1_100 }]);
  expect(signOut(once, 1, 1_099).endedSessions).toHaveLength(2);
  expect(signOut(once, 1, 1_100).endedSessions).toEqual([{ id: '1100 0', untilMs: 1_200 }]);
});

it('beyond 32 ended sessions at once all sessions end', () => {
  const full = signOut(record, 32, 1_000);
  expect(full).toMatchObject({ sessionsFromMs: 500 });
  expect(full.endedSessions).toHaveLength(32);
  const over = signOut(full, 1, 1_001);
  expect(over.sessionsFromMs).toBe(1_002);
  expect(over).not.toHaveProperty('endedSessions');
});

it('the end of all sessions only moves forward, whatever the clock says', () => {
  const ended = withoutSessions(record, 1_000);
  expect(ended.sessionsFromMs).toBe(1_001);
  expect(withoutSessions(ended, 400).sessionsFromMs).toBe(1_002);
});
