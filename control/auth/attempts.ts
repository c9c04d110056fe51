// Limits on attempts: sign-ins, sign-ups and mails, counted per network address and per e-mail address; invitations;
// test mails. Counts live in this process's memory, and network addresses nowhere else.

import { Code, ConnectError } from '@connectrpc/connect';
import { createTokenBuckets, type TokenBuckets } from '../../platform/access/token-bucket.ts';
import type { Clock } from '../../platform/clock.ts';

export interface Attempts {
  /** Like all methods here, throws resource_exhausted with Retry-After beyond a limit. `address`: the network's. */
  signIn(address: string | undefined, email: string): void;
  /** An attempt without an e-mail address: a token or a code. */
  redeem(address: string | undefined): void;
  sendMail(address: string | undefined, email: string): void;
  /** An invitation's mail, over all organizations. Each organization's own limit is orgs/invitation-sends.ts's. */
  invite(customerId: string, email: string): void;
  /** A connection to the mail server that an organization names. */
  sendTest(organizationId: string): void;
}

export interface AttemptLimits {
  /** Attempts from one network address: this many at once, then one more per second. 0 switches all limits off. */
  perAddress: number;
  /** Attempts for one e-mail address: this many at once, then one more per half a minute. */
  perEmail: number;
  /** Mails to one e-mail address: this many at once, then one more per 20 minutes. */
  mailsPerEmail: number;
  /** Mails asked for from one network address, to all e-mail addresses: this many at once, then one more per minute. */
  mailsPerAddress: number;
  /** Invitations by one customer: this many at once, then one more per 3 minutes. */
  invitesPerCustomer: number;
  /** Invitations to one e-mail address: this many at once, then one more per hour. */
  invitesPerEmail: number;
  /** Test mails of one organization: this many at once, then one more per half a minute. */
  testsPerOrganization: number;
}

export const defaultAttemptLimits: AttemptLimits = {
  perAddress: 100,
  perEmail: 20,
  mailsPerEmail: 3,
  mailsPerAddress: 30,
  invitesPerCustomer: 500,
  invitesPerEmail: 20,
  testsPerOrganization: 10,
};

export function createAttempts(clock: Clock, limits: AttemptLimits): Attempts {
  const off = limits.perAddress === 0;
  const buckets = (perSecond: number, burst: number): TokenBuckets =>
    createTokenBuckets({ perSecond: off ? 0 : perSecond, burst: Math.max(1, burst), clock });
  const byAddress = buckets(1, limits.perAddress);
  const byEmail = buckets(1 / 30, limits.perEmail);
  const mailsByEmail = buckets(1 / 1_200, limits.mailsPerEmail);
  const mailsByAddress = buckets(1 / 60, limits.mailsPerAddress);
  const invitesByCustomer = buckets(1 / 180, limits.invitesPerCustomer);
  const invitesByEmail = buckets(1 / 3_600, limits.invitesPerEmail);
  const testsByOrganization = buckets(1 / 30, limits.testsPerOrganization);
  const takeAddress = (address: string | undefined): void => {
    if (address !== undefined) take(byAddress, network(address));
  };
  return {
    signIn(address, email) {
      takeAddress(address);
      take(byEmail, email);
    },
    redeem: takeAddress,
    sendMail(address, email) {
      takeAddress(address);
      if (address !== undefined) take(mailsByAddress, network(address));
      take(mailsByEmail, email);
    },
    invite(customerId, email) {
      take(invitesByCustomer, customerId);
      take(invitesByEmail, email);
    },
    sendTest(organizationId) {
      take(testsByOrganization, organizationId);
    },
  };
}

function take(buckets: TokenBuckets, key: string): void {
  const waitSeconds = buckets.take(key, 1);
  if (waitSeconds === 0) return;
  throw new ConnectError('too many attempts, try again later', Code.ResourceExhausted, {
    'retry-after': String(waitSeconds),
  });
}

/** The first 64 bits of an IPv6 address: one household has one IPv4 address, but 2^64 IPv6 addresses. */
function network(address: string): string {
  if (!address.includes(':') || address.startsWith('::ffff:')) return address;
  const [head = '', tail] = address.split('::');
  const groups = head.split(':').filter(Boolean);
  const tailGroups = (tail ?? '').split(':').filter(Boolean);
  while (tail !== undefined && groups.length + tailGroups.length < 8) groups.push('0');
  return [...groups, ...tailGroups].slice(0, 4).join(':');
}
