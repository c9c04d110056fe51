// What the admins of an organization are still to be told of its webhooks, and what they were told: one record for each
// organization, in the bucket `webhook_notices`, which each process watches. All dispatchers change it by
// compare-and-set, so that a restart or a second process tells nobody twice. When a mail is due is due-notice.ts's.

import { hasNumbers, hasTexts } from '../../platform/broker/record-bucket.ts';
import type { WatchedBucket } from '../../platform/broker/watched-bucket.ts';
import { sleep } from '../../platform/retry.ts';
import type { PauseReason } from '../../platform/webhooks/webhook-record.ts';

/** Of the newest exhausted delivery. */
export interface LastFailure {
  deliveryId: string;
  eventType: string;
  responseCode: number;
  error: string;
}

/** Times are ms since the epoch. */
export interface WebhookNotices {
  /** Exhausted deliveries that no mail has told of. */
  exhausted: number;
  /** When the first of them was accepted, and when the last of them was given up. */
  firstTimeMs: number;
  lastTimeMs: number;
  last?: LastFailure;
  /** When a mail told of exhausted deliveries; 0 where none has. */
  toldTimeMs: number;
  /** A pause that no mail has told of. */
  pause?: { reason: PauseReason; timeMs: number };
  /** When a mail told of a pause; 0 where none has. */
  pauseToldTimeMs: number;
}

/** A mail that a process is sending, or began to send. */
export interface SendingMail {
  kind: 'first' | 'digest' | 'pause';
  /** Webhooks that the mail is about, each with the number of exhausted deliveries that it tells of. */
  told: Readonly<Record<string, number>>;
  /** Customers who have it. */
  sentTo: readonly string[];
  /** Other processes leave it alone until then. */
  leaseEndMs: number;
}

export interface NoticeRecord {
  schemaVersion: 1;
  webhooks: Readonly<Record<string, WebhookNotices>>;
  /** A digest comes an hour after it at the earliest. */
  digestFromMs: number;
  sending?: SendingMail;
  /** Tries in a row at which the mail server could not be reached, and the time of the next. */
  failures: number;
  nextTryMs: number;
}

export type NoticeBucket = Pick<
  WatchedBucket<NoticeRecord>,
  'ask' | 'create' | 'update' | 'records'
>;

export const noNotices: NoticeRecord = {
  ...{ schemaVersion: 1, webhooks: {}, digestFromMs: 0, failures: 0, nextTryMs: 0 },
};

export const nothingToTell: WebhookNotices = {
  ...{ exhausted: 0, firstTimeMs: 0, lastTimeMs: 0, toldTimeMs: 0, pauseToldTimeMs: 0 },
};

/** What happened to a webhook and is not written down yet. */
export type FreshNotices = Pick<
  WebhookNotices,
  'exhausted' | 'firstTimeMs' | 'lastTimeMs' | 'last' | 'pause'
>;

/** More than an organization has: those deleted meanwhile take room until the next mail. */
const maxNotedWebhooks = 64;

export function withFresh(
  record: NoticeRecord,
  fresh: ReadonlyMap<string, FreshNotices>,
): NoticeRecord {
  const webhooks = { ...record.webhooks };
  for (const [id, news] of fresh) {
    const before = webhooks[id];
    if (before === undefined && Object.keys(webhooks).length >= maxNotedWebhooks) continue;
    webhooks[id] = { ...nothingToTell, ...before, ...joined(before, news) };
  }
  return { ...record, webhooks };
}

/** The first pause and the newest failure are kept. */
export function joined(before: FreshNotices | undefined, news: FreshNotices): FreshNotices {
  if (before === undefined) return news;
  const { exhausted, pause = news.pause } = before;
  const last = news.last ?? before.last;
  return {
    exhausted: exhausted + news.exhausted,
    firstTimeMs: firstTimeOf(before, news),
    lastTimeMs: news.exhausted === 0 ? before.lastTimeMs : news.lastTimeMs,
    ...(last !== undefined && { last }),
    ...(pause !== undefined && { pause }),
  };
}

function firstTimeOf(before: FreshNotices, news: FreshNotices): number {
  if (before.exhausted === 0) return news.firstTimeMs;
  if (news.exhausted === 0) return before.firstTimeMs;
  return Math.min(before.firstTimeMs, news.firstTimeMs);
}

/** Narrows a value of the bucket. */
export function readNoticeRecord(value: unknown): NoticeRecord | undefined {
  return isNoticeRecord(value) ? value : undefined;
}

function isNoticeRecord(value: unknown): value is NoticeRecord {
  if (!isObject(value) || Reflect.get(value, 'schemaVersion') !== 1) return false;
  const webhooks: unknown = Reflect.get(value, 'webhooks');
  const sending: unknown = Reflect.get(value, 'sending');
  return (
    hasNumbers(value, ['digestFromMs', 'failures', 'nextTryMs']) &&
    isObject(webhooks) &&
    Object.values(webhooks).every(isWebhookNotices) &&
    (sending === undefined || isSending(sending))
  );
}

function isWebhookNotices(value: unknown): boolean {
  return isObject(value) && hasNumbers(value, ['exhausted', 'toldTimeMs', 'pauseToldTimeMs']);
}

function isSending(value: unknown): boolean {
  if (!isObject(value) || !hasTexts(value, ['kind'])) return false;
  const sentTo: unknown = Reflect.get(value, 'sentTo');
  return (
    hasNumbers(value, ['leaseEndMs']) &&
    isObject(Reflect.get(value, 'told')) &&
    Array.isArray(sentTo) &&
    sentTo.every((id) => typeof id === 'string')
  );
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null;
}

const maxTries = 100;
const maxPauseMs = 20;

/**
 * Calls `decide` with the newest record, again after each conflict, and writes what it returns; undefined writes
 * nothing. A record that cannot be read counts as none. Returns what is there afterwards. Throws the bucket's errors,
 * and where other writers always come first.
 */
export async function changeNotices(
  bucket: Pick<NoticeBucket, 'ask' | 'create' | 'update'>,
  key: string,
  decide: (record: NoticeRecord) => NoticeRecord | undefined,
): Promise<NoticeRecord> {
  for (let tries = 0; tries < maxTries; tries++) {
    const found = await bucket.ask(key);
    const before = found.kind === 'found' ? found.record : noNotices;
    const after = decide(before);
    if (after === undefined) return before;
    const written =
      found.kind === 'absent'
        ? await bucket.create(key, after)
        : await bucket.update(key, after, found.revision);
    if (written.kind === 'written') return after;
    await sleep(Math.random() * maxPauseMs, new AbortController().signal);
  }
  throw new Error('the record of notices is being changed by too many at once');
}
