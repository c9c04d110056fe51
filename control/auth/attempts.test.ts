// Each limit on attempts by a clock of its own: the attempts that pass at once, and those that pass later.

import { Code, ConnectError } from '@connectrpc/connect';
import { expect, it } from 'vitest';
import { createAttempts, defaultAttemptLimits } from './attempts.ts';

let nowMs = 0;
const clock = { nowMs: () => nowMs };

/** Counts the calls that pass before one is refused. */
async function passing(call: () => unknown): Promise<number> {
  for (let count = 0; count < 1_000; count++) {
    try {
      await call();
    } catch (error) {
      expect(ConnectError.from(error)).toMatchObject({ code: Code.ResourceExhausted });
      expect(Number(ConnectError.from(error).metadata.get('retry-after'))).toBeGreaterThan(0);
      return count;
    }
  }
  return Number.POSITIVE_INFINITY;
}

const stranger = (address: string | undefined, email: string) =>
  ({ kind: 'stranger', address, email }) as const;

it('limits wrong passwords from one address for one e-mail address, and allows more later', async () => {
  const attempts = createAttempts(clock, defaultAttemptLimits);
  const trying = () => attempts.password(stranger('192.0.2.1', 'a@example.com'));
  expect(await passing(trying)).toBe(20);
  await attempts.password(stranger('192.0.2.1', 'b@example.com'));
  nowMs += 30_000;
  expect(await passing(trying)).toBe(1);
});

it('wrong passwords from everywhere slow one e-mail address down, and lock it nowhere', async () => {
  const pauses: number[] = [];
  const attempts = createAttempts(clock, defaultAttemptLimits, async (ms) => pauses.push(ms));
  let address = 0;
  const trying = () => attempts.password(stranger(`198.51.100.${++address}`, 'a@example.com'));
  for (let count = 0; count < 20; count++) await trying();
  expect(pauses).toEqual([]);
  for (let count = 0; count < 200; count++) await trying();
  expect(pauses).toEqual(Array(200).fill(2_000));
  await attempts.password(stranger('192.0.2.7', 'b@example.com'));
  expect(pauses).toHaveLength(200);
  // A session of the owner waits for nothing.
  await attempts.password({ kind: 'session', sessionId: 'the owner’s' });
  expect(pauses).toHaveLength(200);
});

it('a try that took no place at full speed gives none back', async () => {
  const pauses: number[] = [];
  const attempts = createAttempts(clock, defaultAttemptLimits, async (ms) => pauses.push(ms));
  let address = 0;
  const trying = () => attempts.password(stranger(`198.51.100.${++address}`, 'a@example.com'));
  for (let count = 0; count < 20; count++) await trying();
  // Turned away unchecked, as where too many checks wait.
  for (let count = 0; count < 10; count++) (await trying()).right();
  expect(pauses).toHaveLength(10);
});

it('holds at most 256 requests in a pause', async () => {
  let pauses = 0;
  const wait = () => {
    pauses++;
    return new Promise(() => {});
  };
  const attempts = createAttempts(clock, defaultAttemptLimits, wait);
  for (let address = 0; address < 20 + 256; address++) {
    void attempts.password(stranger(`198.51.${address >> 8}.${address & 255}`, 'a@example.com'));
  }
  expect(pauses).toBe(256);
  await attempts.password(stranger('192.0.2.8', 'a@example.com'));
  expect(pauses).toBe(256);
});

it('right passwords do not count, beyond the limit of their address', async () => {
  const pauses: number[] = [];
  const attempts = createAttempts(clock, defaultAttemptLimits, async (ms) => pauses.push(ms));
  const signIn = async () => (await attempts.password(stranger('192.0.2.9', 'a@b.c'))).right();
  expect(await passing(signIn)).toBe(100);
  expect(pauses).toEqual([]);
});

it('limits the wrong passwords of one session', async () => {
  const attempts = createAttempts(clock, defaultAttemptLimits);
  expect(await passing(() => attempts.password({ kind: 'session', sessionId: 'a' }))).toBe(20);
  const right = async () => (await attempts.password({ kind: 'session', sessionId: 'b' })).right();
  expect(await passing(right)).toBe(Number.POSITIVE_INFINITY);
});

it('limits passwords from one IPv4 address and from one IPv6 network, and links apart from them', async () => {
  const attempts = createAttempts(clock, defaultAttemptLimits);
  let number = 0;
  const signUp = (address: string) => () =>
    attempts.signUp(address, `${++number}@example.com`).untold();
  expect(await passing(signUp('192.0.2.1'))).toBe(100);
  expect(await passing(signUp('::ffff:192.0.2.1'))).toBe(0);
  attempts.redeem('192.0.2.1');
  attempts.link('192.0.2.1', 'a@example.com');
  expect(await passing(() => attempts.redeem(`2001:db8:1:2::${(++number).toString(16)}`))).toBe(
    100,
  );
  expect(await passing(() => attempts.redeem('2001:0db8:0001:2:0:0:0:9'))).toBe(0);
  attempts.redeem('2001:db8:1:3::1');
  expect(await passing(() => attempts.redeem('2001:db8:1:3:0:0:0:9'))).toBe(99);
});

it('limits links from one address for one e-mail address, and nobody’s by what others ask for', async () => {
  const attempts = createAttempts(clock, defaultAttemptLimits);
  const asking = () => attempts.link('192.0.2.1', 'a@example.com');
  expect(await passing(asking)).toBe(3);
  expect(attempts.link('192.0.2.2', 'a@example.com')).toBe('send');
  nowMs += 20 * 60_000;
  expect(await passing(asking)).toBe(1);
});

it('a mailbox gets at most ten links at once and six an hour, and never has none that is good', async () => {
  const attempts = createAttempts(clock, defaultAttemptLimits);
  let stranger = 0;
  let sent = 0;
  let lastSentMs = Number.NEGATIVE_INFINITY;
  const hours = 24;
  for (const endMs = nowMs + hours * 3_600_000; nowMs < endMs; nowMs += 30_000) {
    const address = `2001:db8:${(++stranger).toString(16)}::1`;
    if (attempts.link(address, 'a@example.com') === 'send') {
      sent++;
      lastSentMs = nowMs;
    }
    // Whoever asks now finds a link that is good for minutes.
    expect(nowMs - lastSentMs).toBeLessThanOrEqual(10 * 60_000);
  }
  expect(sent).toBeLessThanOrEqual(10 + 6 * hours);
  expect(attempts.link('192.0.2.1', 'a@example.com')).toBe('send');
  expect(attempts.link('192.0.2.1', 'a@example.com')).toBe('sent_before');
  // The owner has used it and asks for another, on a telephone.
  attempts.linkUsed('a@example.com');
  expect(attempts.link('192.0.2.1', 'a@example.com')).toBe('send');
});

it('limits mails from one network to strangers, far below its other attempts', async () => {
  const attempts = createAttempts(clock, defaultAttemptLimits);
  let number = 0;
  const asking = () => attempts.link('192.0.2.1', `${++number}@example.com`);
  expect(await passing(asking)).toBe(30);
  attempts.link('192.0.2.2', 'a@example.com');
  attempts.redeem('192.0.2.1');
  nowMs += 60_000;
  expect(await passing(asking)).toBe(1);
});

it('limits what one network is told of accounts by signing up, and not its new accounts', async () => {
  const attempts = createAttempts(clock, defaultAttemptLimits);
  let number = 0;
  const signUp = (address: string) => attempts.signUp(address, `${++number}@example.com`);
  expect(await passing(() => signUp('192.0.2.1').untold())).toBe(100);
  expect(await passing(() => signUp('192.0.2.2'))).toBe(20);
  signUp('192.0.2.3');
  nowMs += 30_000;
  expect(await passing(() => signUp('192.0.2.2'))).toBe(1);
});

it('limits the calls of each open method from one network', async () => {
  const attempts = createAttempts(clock, defaultAttemptLimits);
  expect(await passing(() => attempts.call('a', '192.0.2.1'))).toBe(300);
  attempts.call('b', '192.0.2.1');
  attempts.call('a', '192.0.2.2');
  nowMs += 1_000;
  expect(await passing(() => attempts.call('a', '192.0.2.1'))).toBe(5);
});

it('limits invitations by one customer and to one address, over all organizations', async () => {
  const attempts = createAttempts(clock, defaultAttemptLimits);
  const inviting = () => attempts.invite('one', 'a@example.com');
  expect(await passing(inviting)).toBe(20 + 3);
  nowMs += 3_600_000;
  expect(await passing(inviting)).toBe(1);
  let number = 0;
  expect(await passing(() => attempts.invite('two', `${++number}@example.com`))).toBe(500);
});

it('keeps nobody from inviting an address that others invite all day', async () => {
  const attempts = createAttempts(clock, defaultAttemptLimits);
  const stranger = () => attempts.invite('stranger', 'a@example.com');
  await passing(stranger);
  expect(await passing(() => attempts.invite('admin', 'a@example.com'))).toBe(3);
  let passed = 0;
  for (let hours = 0; hours < 24; hours++) {
    nowMs += 3_600_000;
    passed += await passing(stranger);
  }
  // One an hour of the address's, and one in eight hours of the stranger's own.
  expect(passed).toBe(24 + 3);
  expect(await passing(() => attempts.invite('admin', 'a@example.com'))).toBe(3);
});

it('limits the test mails of one organization', async () => {
  const attempts = createAttempts(clock, defaultAttemptLimits);
  expect(await passing(() => attempts.sendTest('a'))).toBe(10);
  attempts.sendTest('b');
  nowMs += 30_000;
  expect(await passing(() => attempts.sendTest('a'))).toBe(1);
});

it('can be switched off', async () => {
  const attempts = createAttempts(clock, { ...defaultAttemptLimits, perAddress: 0 });
  expect(await passing(() => attempts.password(stranger('192.0.2.1', 'a@example.com')))).toBe(
    Number.POSITIVE_INFINITY,
  );
});

it('limits wrong codes of a customer from one network and from all, and those of a session apart', async () => {
  const attempts = createAttempts(clock, defaultAttemptLimits);
  const from = (address: string) => () =>
    attempts.code({ kind: 'stranger', address, customerId: 'a customer' });
  expect(await passing(from('192.0.2.1'))).toBe(10);
  nowMs += 600_000;
  expect(await passing(from('192.0.2.1'))).toBe(1);
  let address = 0;
  expect(await passing(() => from(`198.51.100.${++address}`)())).toBe(21);
  const session = { kind: 'session', sessionId: 'the owner’s' } as const;
  attempts.code(session).right();
  expect(await passing(() => attempts.code(session))).toBe(10);
});
