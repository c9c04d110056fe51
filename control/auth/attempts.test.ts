// Each limit on attempts by a clock of its own: the attempts that pass at once, and those that pass later.

import { Code, ConnectError } from '@connectrpc/connect';
import { expect, it } from 'vitest';
import { createAttempts, defaultAttemptLimits } from './attempts.ts';

let nowMs = 0;
const clock = { nowMs: () => nowMs };

/** Counts the calls that pass before one is refused. */
function passing(call: () => void): number {
  for (let count = 0; count < 1_000; count++) {
    try {
      call();
    } catch (error) {
      expect(ConnectError.from(error)).toMatchObject({ code: Code.ResourceExhausted });
      expect(Number(ConnectError.from(error).metadata.get('retry-after'))).toBeGreaterThan(0);
      return count;
    }
  }
  return Number.POSITIVE_INFINITY;
}

it('limits attempts for one e-mail address from all networks, and allows more later', () => {
  const attempts = createAttempts(clock, defaultAttemptLimits);
  let address = 0;
  const trying = () => attempts.signIn(`192.0.2.${++address}`, 'a@example.com');
  expect(passing(trying)).toBe(20);
  attempts.signIn('192.0.2.1', 'b@example.com');
  nowMs += 30_000;
  expect(passing(trying)).toBe(1);
});

it('limits attempts from one IPv4 address and from one IPv6 network', () => {
  const attempts = createAttempts(clock, defaultAttemptLimits);
  let number = 0;
  expect(passing(() => attempts.signIn('192.0.2.1', `${++number}@example.com`))).toBe(100);
  attempts.redeem('192.0.2.2');
  expect(passing(() => attempts.redeem(`2001:db8:1:2::${(++number).toString(16)}`))).toBe(100);
  attempts.redeem('2001:db8:1:3::1');
  expect(passing(() => attempts.redeem('2001:db8:1:3:0:0:0:9'))).toBe(99);
});

it('limits mails to one e-mail address', () => {
  const attempts = createAttempts(clock, defaultAttemptLimits);
  expect(passing(() => attempts.sendMail(undefined, 'a@example.com'))).toBe(3);
  nowMs += 20 * 60_000;
  expect(passing(() => attempts.sendMail(undefined, 'a@example.com'))).toBe(1);
});

it('limits mails from one network to strangers, far below its other attempts', () => {
  const attempts = createAttempts(clock, defaultAttemptLimits);
  let number = 0;
  const asking = () => attempts.sendMail('192.0.2.1', `${++number}@example.com`);
  expect(passing(asking)).toBe(30);
  attempts.sendMail('192.0.2.2', 'a@example.com');
  attempts.redeem('192.0.2.1');
  nowMs += 60_000;
  expect(passing(asking)).toBe(1);
});

it('limits invitations by one customer and to one address, over all organizations', () => {
  const attempts = createAttempts(clock, defaultAttemptLimits);
  let number = 0;
  expect(passing(() => attempts.invite(`customer ${++number}`, 'a@example.com'))).toBe(20);
  nowMs += 3_600_000;
  expect(passing(() => attempts.invite(`customer ${++number}`, 'a@example.com'))).toBe(1);
  expect(passing(() => attempts.invite('one', `${++number}@example.com`))).toBe(500);
});

it('limits the test mails of one organization', () => {
  const attempts = createAttempts(clock, defaultAttemptLimits);
  expect(passing(() => attempts.sendTest('a'))).toBe(10);
  attempts.sendTest('b');
  nowMs += 30_000;
  expect(passing(() => attempts.sendTest('a'))).toBe(1);
});

it('can be switched off', () => {
  const attempts = createAttempts(clock, { ...defaultAttemptLimits, perAddress: 0 });
  expect(passing(() => attempts.signIn('192.0.2.1', 'a@example.com'))).toBe(
    Number.POSITIVE_INFINITY,
  );
});
