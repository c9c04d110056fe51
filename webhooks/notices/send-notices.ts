// Sends what is due in one organization, mail by mail: takes a lease on the mail in the record, sends it to one admin
// after the other, and writes down who has it. A server that cannot be reached is tried again later, from the record.

import { isDeepStrictEqual } from 'node:util';
import type { Clock } from '../../platform/clock.ts';
import type { Log } from '../../platform/log.ts';
import type { Mail, MailOutcome } from '../../platform/mail/mail.ts';
import type { MailContent } from '../../platform/mail/texts/compose-mail.ts';
import {
  afterMail,
  dueMail,
  type FindWebhook,
  isEmpty,
  retryWaitMs,
  withoutStale,
} from './due-notice.ts';
import {
  changeNotices,
  type NoticeBucket,
  type NoticeRecord,
  noNotices,
  nothingToTell,
  type SendingMail,
} from './notice-record.ts';
import {
  digestMail,
  exhaustedMail,
  type NoticePlace,
  pauseMail,
  type ToldWebhook,
} from './notice-texts.ts';

export interface Admin {
  customerId: string;
  email: string;
}

/** What notices need of accounts and mail servers, which the composition gives. */
interface OrganizationMail {
  /** An organization and its admins with a proven address; undefined where it is gone. */
  organization(
    organizationId: string,
  ): { displayName: string; admins: readonly Admin[] } | undefined;
  /** By the organization's own e-mail provider, else the instance's. Takes at most 40 s. */
  send(organizationId: string, mail: Mail): Promise<MailOutcome>;
}

export type NoticeMailOptions = OrganizationMail & {
  /** Undefined for a webhook that is gone. */
  webhook(organizationId: string, webhookId: string): ReturnType<FindWebhook>;
  /** Where people reach the service, without a slash at the end. */
  publicUrl(): string;
};

type Options = NoticeMailOptions & { bucket: NoticeBucket; clock: Clock; log: Log };

/** The further admins of an organization get none. */
const maxAdmins = 50;
/** A mail goes on after it with a new lease: the lease is three minutes, one send 40 s. */
const maxSendingMs = 120_000;
const maxFailures = 10;
/** One call sends no more: a mail for each of the webhooks, a digest, and mails that went on. */
const maxRounds = 200;

/** Returns a function that sends what is due in an organization. It throws the bucket's errors. */
export function createSendNotices(options: Options): (organizationId: string) => Promise<void> {
  return async (organizationId) => {
    for (let round = 0; round < maxRounds; round++) {
      const claimed = await claim(options, organizationId);
      if (claimed === undefined) return;
      const outcome = await sendToAdmins(options, organizationId, claimed);
      await settle(options, organizationId, claimed.mail, outcome);
      if (outcome.kind === 'unavailable') return;
    }
  };
}

interface Claimed {
  mail: SendingMail;
  content: MailContent;
}

/** Takes the due mail; removes what is stale, and a record that holds nothing. */
async function claim(
  { bucket, clock, ...options }: Options,
  organizationId: string,
): Promise<Claimed | undefined> {
  const key = organizationId;
  const find: FindWebhook = (webhookId) => options.webhook(organizationId, webhookId);
  const found = await bucket.ask(key);
  if (found.kind !== 'found') return undefined;
  const organization = options.organization(organizationId);
  const nowMs = clock.nowMs();
  const pruned = withoutStale(found.record, find, nowMs);
  const current = organization === undefined || isEmpty(pruned) ? noNotices : pruned;
  const mail = dueMail(current, find, nowMs);
  if (mail === undefined || organization === undefined) {
    // Left in the record, what is stale would be told with what comes.
    if (!isDeepStrictEqual(current, found.record)) {
      await bucket.update(key, current, found.revision);
    }
    return undefined;
  }
  const written = await bucket.update(key, { ...current, sending: mail }, found.revision);
  // Somebody else writes a fact, or takes the mail.
  if (written.kind === 'conflict') return claim({ bucket, clock, ...options }, organizationId);
  const { displayName: organizationName } = organization;
  const place = { organizationId, organizationName, publicUrl: options.publicUrl() };
  return { mail, content: contentOf(place, current, mail, find) };
}

function contentOf(
  place: NoticePlace,
  record: NoticeRecord,
  { kind, told }: SendingMail,
  find: FindWebhook,
): MailContent {
  const webhooks = Object.entries(told).map(([id, count]) => {
    const notices = record.webhooks[id] ?? nothingToTell;
    const webhook: ToldWebhook = { id, name: find(id)?.name ?? '', notices };
    return { webhook, count };
  });
  const [first] = webhooks;
  if (kind === 'digest' || first === undefined) return digestMail(place, webhooks);
  const { pause } = first.webhook.notices;
  if (kind === 'pause' && pause !== undefined) return pauseMail(place, first.webhook, pause);
  return exhaustedMail(place, first.webhook, first.count);
}

/** `paused`: it took long, and goes on with a new lease. */
type Outcome = { kind: 'done' } | { kind: 'paused' } | { kind: 'unavailable'; reason: string };

async function sendToAdmins(
  { bucket, log, ...options }: Options,
  organizationId: string,
  { mail, content }: Claimed,
): Promise<Outcome> {
  const startedMs = performance.now();
  const admins = (options.organization(organizationId)?.admins ?? []).slice(0, maxAdmins);
  for (const { customerId, email } of admins) {
    if (mail.sentTo.includes(customerId)) continue;
    if (performance.now() - startedMs > maxSendingMs) return { kind: 'paused' };
    const outcome = await options.send(organizationId, { to: email, ...content });
    if (outcome.kind === 'unavailable') return outcome;
    if (outcome.kind === 'refused') {
      log.warn({ organizationId, about: mail.kind, reason: outcome.reason }, 'a notice is refused');
    }
    mail = { ...mail, sentTo: [...mail.sentTo, customerId] };
    const { sentTo } = mail;
    await changeNotices(
      bucket,
      organizationId,
      (record) => record.sending && { ...record, sending: { ...record.sending, sentTo } },
    );
  }
  return { kind: 'done' };
}

async function settle(
  { bucket, clock, log }: Options,
  organizationId: string,
  mail: SendingMail,
  outcome: Outcome,
): Promise<void> {
  const key = organizationId;
  const nowMs = clock.nowMs();
  switch (outcome.kind) {
    case 'done':
      await changeNotices(bucket, key, (record) => afterMail(record, mail, nowMs));
      return;
    case 'paused':
      await changeNotices(bucket, key, (record) => withoutLease(record));
      return;
    case 'unavailable': {
      const after = await changeNotices(bucket, key, (record) => {
        const failures = record.failures + 1;
        if (failures >= maxFailures) return afterMail(record, mail, nowMs);
        return { ...withoutLease(record), failures, nextTryMs: nowMs + retryWaitMs(failures) };
      });
      const { failures } = after;
      const fields = { organizationId, about: mail.kind, reason: outcome.reason, failures };
      log.warn(fields, failures === 0 ? 'a notice is given up' : 'a notice waits for its server');
      return;
    }
    default:
      outcome satisfies never;
  }
}

function withoutLease(record: NoticeRecord): NoticeRecord {
  const { sending } = record;
  return sending === undefined ? record : { ...record, sending: { ...sending, leaseEndMs: 0 } };
}
