// Limits on attempts: calls without a credential, passwords, sign-ups, mails, counted per network address and e-mail
// address; invitations; test mails. Nobody can lock the owner of an e-mail address out: a count for the e-mail address
// alone refuses nothing. Counts live in this process's memory, and network addresses nowhere else.

import { setTimeout as delay } from 'node:timers/promises';
import { Code, ConnectError } from '@connectrpc/connect';
import { createTokenBuckets, type TokenBuckets } from '../../platform/access/token-bucket.ts';
import type { Clock } from '../../platform/clock.ts';

export interface Attempts {
  /**
   * A call of a method that needs no credential. Like all methods here, throws resource_exhausted with Retry-After
   * beyond a limit. `address` is the network's.
   */
  call(method: string, address: string | undefined): void;
  /**
   * Counts a password as wrong before it is checked; `right` takes that back. Resolves later after many wrong ones for
   * the e-mail address.
   */
  password(by: PasswordTry): Promise<{ right(): void }>;
  /** Counts a code of a second factor as wrong before it is checked; `right` takes that back. */
  code(by: CodeTry): { right(): void };
  /** Counts as an answer that the e-mail address has an account; `untold` takes that back. */
  signUp(address: string | undefined, email: string): { untold(): void };
  /** An attempt without an e-mail address: a token or a code. */
  redeem(address: string | undefined): void;
  /**
   * `sent_before`: the mailbox gets no further mail now. A link of the last ten minutes is in it, good for five more at
   * least, or the owner has used it: then `linkUsed` has made room for another.
   */
  link(address: string | undefined, email: string): 'send' | 'sent_before';
  linkUsed(email: string): void;
  /** An invitation's mail, over all organizations. Each organization's own limit is orgs/invitation-sends.ts's. */
  invite(customerId: string, email: string): void;
  /** A connection to the mail server that an organization names. */
  sendTest(organizationId: string): void;
}

/** Who tries a password: a session of the customer whose password it is, or anybody. */
export type PasswordTry =
  | { kind: 'session'; sessionId: string }
  | { kind: 'stranger'; address: string | undefined; email: string };

/** Who tries a code: a session of the customer, or whoever has done the first step of a sign-in. */
export type CodeTry =
  | { kind: 'session'; sessionId: string }
  | { kind: 'stranger'; address: string | undefined; customerId: string };

export interface AttemptLimits {
  /** Calls of each method without a credential from one network address: this many at once, then five per second. */
  callsPerAddress: number;
  /**
   * Passwords and sign-ups from one network address, and apart from them links, tokens and codes: this many at once,
   * then one more per second. 0 switches all limits off.
   */
  perAddress: number;
  /** Wrong passwords from one network address for one e-mail address, or by one session: like `perEmail`. */
  perAddressAndEmail: number;
  /** Wrong passwords for one e-mail address at full speed: this many at once, then one more per half a minute. */
  perEmail: number;
  /** Wrong codes of a customer from one network address, or by one session: this many, then one more per 10 minutes. */
  codesPerAddress: number;
  /** Wrong codes of a customer from all network addresses: this many at once, then one more per 5 minutes. */
  codesPerCustomer: number;
  /** Sign-ups from one network address for e-mail addresses with accounts: like `perAddressAndEmail`. */
  takenPerAddress: number;
  /** Links from one network address for one e-mail address: this many at once, then one more per 20 minutes. */
  linksPerAddressAndEmail: number;
  /** Links to one mailbox, whoever asks: this many at once, then one more per 10 minutes and for each that is used. */
  linksPerEmail: number;
  /** Mails asked for from one network address, to all e-mail addresses: this many at once, then one more per minute. */
  mailsPerAddress: number;
  /** Invitations by one customer: this many at once, then one more per 3 minutes. */
  invitesPerCustomer: number;
  /** Invitations to one e-mail address, whoever invites: this many at once, then one more per hour. */
  invitesPerEmail: number;
  /** Beyond that, by one customer to one e-mail address: this many at once, then one more per 8 hours. */
  invitesPerCustomerAndEmail: number;
  /** Test mails of one organization: this many at once, then one more per half a minute. */
  testsPerOrganization: number;
}

export const defaultAttemptLimits: AttemptLimits = {
  callsPerAddress: 300,
  perAddress: 100,
  perAddressAndEmail: 20,
  perEmail: 20,
  codesPerAddress: 10,
  codesPerCustomer: 30,
  takenPerAddress: 20,
  linksPerAddressAndEmail: 3,
  linksPerEmail: 10,
  mailsPerAddress: 30,
  invitesPerCustomer: 500,
  invitesPerEmail: 20,
  invitesPerCustomerAndEmail: 3,
  testsPerOrganization: 10,
};

/** A link must be good for longer: else an owner could find none while strangers ask for the mailbox's links. */
const secondsForOneLink = 600;
/** Long beside a check's tenth of a second, short for an owner who waits. */
const pauseMs = 2_000;
// Each pause holds a request. Beyond this the bound on waiting checks (passwords.ts) pushes back alone.
const maxPauses = 256;

/** `wait` is for tests. */
export function createAttempts(
  clock: Clock,
  limits: AttemptLimits,
  wait: (ms: number) => Promise<unknown> = delay,
): Attempts {
  const off = limits.perAddress === 0;
  const buckets = (perSecond: number, burst: number): TokenBuckets =>
    createTokenBuckets({ perSecond: off ? 0 : perSecond, burst: Math.max(1, burst), clock });
  const callsByAddress = buckets(5, limits.callsPerAddress);
  const passwordsByAddress = buckets(1, limits.perAddress);
  const bySession = buckets(1 / 30, limits.perAddressAndEmail);
  const byAddressAndEmail = buckets(1 / 30, limits.perAddressAndEmail);
  const byEmail = buckets(1 / 30, limits.perEmail);
  const takenByAddress = buckets(1 / 30, limits.takenPerAddress);
  const takePair = (address: string | undefined, email: string): string => {
    takeAddress(passwordsByAddress, address);
    const pair = pairOf(address, email);
    take(byAddressAndEmail, pair);
    return pair;
  };
  let pauses = 0;
  const pause = async (): Promise<void> => {
    if (pauses >= maxPauses) return;
    pauses++;
    await wait(pauseMs).finally(() => pauses--);
  };
  return {
    call(method, address) {
      if (address !== undefined) take(callsByAddress, `${network(address)} ${method}`);
    },
    async password(by) {
      if (by.kind === 'session') {
        take(bySession, by.sessionId);
        return { right: () => bySession.give(by.sessionId) };
      }
      const { address, email } = by;
      const pair = takePair(address, email);
      const isAtFullSpeed = byEmail.take(email, 1) === 0;
      if (!isAtFullSpeed) await pause();
      return {
        right() {
          byAddressAndEmail.give(pair);
          // What was not taken is not given: whoever is turned away unchecked would buy full speed for the next.
          if (isAtFullSpeed) byEmail.give(email);
        },
      };
    },
    signUp(address, email) {
      takePair(address, email);
      takeAddress(takenByAddress, address);
      return {
        untold() {
          if (address !== undefined) takenByAddress.give(network(address));
        },
      };
    },
    ...createCodeAttempts(buckets, limits),
    ...createLinkAttempts(buckets, limits),
    ...createMailAttempts(buckets, limits),
  };
}

type CreateBuckets = (perSecond: number, burst: number) => TokenBuckets;

/**
 * A guess is right three times in a million. Whoever has the password, and many networks, can hold the owner up at the
 * second step: not in their sessions, which count for themselves.
 */
function createCodeAttempts(buckets: CreateBuckets, limits: AttemptLimits): Pick<Attempts, 'code'> {
  const bySession = buckets(1 / 600, limits.codesPerAddress);
  const byAddress = buckets(1 / 600, limits.codesPerAddress);
  const byCustomer = buckets(1 / 300, limits.codesPerCustomer);
  return {
    code(by) {
      if (by.kind === 'session') {
        take(bySession, by.sessionId);
        return { right: () => bySession.give(by.sessionId) };
      }
      const pair = pairOf(by.address, by.customerId);
      take(byAddress, pair);
      take(byCustomer, by.customerId);
      return {
        right() {
          byAddress.give(pair);
          byCustomer.give(by.customerId);
        },
      };
    },
  };
}

/** Tokens and codes, and the links that bring them. */
function createLinkAttempts(
  buckets: CreateBuckets,
  limits: AttemptLimits,
): Pick<Attempts, 'redeem' | 'link' | 'linkUsed'> {
  const byAddress = buckets(1, limits.perAddress);
  const mailsByAddress = buckets(1 / 60, limits.mailsPerAddress);
  const byAddressAndEmail = buckets(1 / 1_200, limits.linksPerAddressAndEmail);
  const byEmail = buckets(1 / secondsForOneLink, limits.linksPerEmail);
  return {
    redeem: (address) => takeAddress(byAddress, address),
    link(address, email) {
      takeAddress(byAddress, address);
      takeAddress(mailsByAddress, address);
      take(byAddressAndEmail, pairOf(address, email));
      return byEmail.take(email, 1) === 0 ? 'send' : 'sent_before';
    },
    linkUsed: (email) => byEmail.give(email),
  };
}

/** Mails that customers have sent. */
function createMailAttempts(
  buckets: CreateBuckets,
  limits: AttemptLimits,
): Pick<Attempts, 'invite' | 'sendTest'> {
  const byCustomer = buckets(1 / 180, limits.invitesPerCustomer);
  const byEmail = buckets(1 / 3_600, limits.invitesPerEmail);
  const byCustomerAndEmail = buckets(1 / 28_800, limits.invitesPerCustomerAndEmail);
  const testsByOrganization = buckets(1 / 30, limits.testsPerOrganization);
  return {
    invite(customerId, email) {
      take(byCustomer, customerId);
      const waitSeconds = byEmail.take(email, 1);
      if (waitSeconds === 0) return;
      // Others may have invited the address all day: an inviter's own first invitations go all the same.
      const ownWaitSeconds = byCustomerAndEmail.take(`${customerId} ${email}`, 1);
      if (ownWaitSeconds > 0) throw tooMany(Math.min(waitSeconds, ownWaitSeconds));
    },
    sendTest: (organizationId) => take(testsByOrganization, organizationId),
  };
}

function takeAddress(from: TokenBuckets, address: string | undefined): void {
  if (address !== undefined) take(from, network(address));
}

function take(buckets: TokenBuckets, key: string): void {
  const waitSeconds = buckets.take(key, 1);
  if (waitSeconds > 0) throw tooMany(waitSeconds);
}

function tooMany(waitSeconds: number): ConnectError {
  return new ConnectError('too many attempts, try again later', Code.ResourceExhausted, {
    'retry-after': String(waitSeconds),
  });
}

function pairOf(address: string | undefined, email: string): string {
  return `${address === undefined ? '' : network(address)} ${email}`;
}

/** The first 64 bits of an IPv6 address: one household has one IPv4 address, but 2^64 IPv6 addresses. */
export function network(address: string): string {
  if (!address.includes(':')) return address;
  if (address.startsWith('::ffff:')) return address.slice('::ffff:'.length);
  const [head = '', tail] = address.split('::');
  const groups = head.split(':').filter(Boolean);
  const tailGroups = (tail ?? '').split(':').filter(Boolean);
  while (tail !== undefined && groups.length + tailGroups.length < 8) groups.push('0');
  const first = [...groups, ...tailGroups].slice(0, 4);
  // One spelling: zeros before a group are optional.
  return first.map((group) => Number.parseInt(group, 16).toString(16)).join(':');
}
