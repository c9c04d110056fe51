// Decides which mail an organization's admins get next: a pause at once, the first exhausted delivery of a webhook at
// once, and everything after that in one digest an hour. It sends nothing and writes nothing.

import { dayMs } from '../../platform/clock.ts';
import type { WebhookRecord } from '../../platform/webhooks/webhook-record.ts';
import {
  type NoticeRecord,
  nothingToTell,
  type SendingMail,
  type WebhookNotices,
} from './notice-record.ts';

export type NotedWebhook = Pick<WebhookRecord, 'name' | 'status' | 'activeTime'>;
/** Undefined for a webhook that was deleted. */
export type FindWebhook = (webhookId: string) => NotedWebhook | undefined;

const digestEveryMs = 3_600_000;
/** A webhook's next exhausted delivery after so long a silence is a first one again. */
const quietMs = dayMs;
/** The notice of a pause may come before the pause itself. */
const pauseComesMs = 60_000;
const leaseMs = 180_000;
const firstWaitMs = 60_000;
const longestWaitMs = 3_600_000;

/** Between a mail that its server did not take, the `failures`th in a row, and its next try. */
export function retryWaitMs(failures: number): number {
  return Math.min(longestWaitMs, firstWaitMs * 2 ** (failures - 1));
}

/** False where the moment was written as further ahead than it may be: the clock was set back meanwhile. */
function isAhead(timeMs: number, nowMs: number, mostMs: number): boolean {
  return timeMs > nowMs && timeMs - nowMs <= mostMs;
}

function isLeased({ leaseEndMs }: SendingMail, nowMs: number): boolean {
  return isAhead(leaseEndMs, nowMs, leaseMs);
}

/**
 * The record without what nobody is to be told any more, of webhooks that were deleted, paused or resumed, and without
 * the mail that somebody left which tells of nothing else: resumed with what comes later, it would leave out admins.
 */
export function withoutStale(record: NoticeRecord, find: FindWebhook, nowMs: number): NoticeRecord {
  const webhooks: Record<string, WebhookNotices> = {};
  for (const [id, before] of Object.entries(record.webhooks)) {
    const webhook = find(id);
    const after = webhook && kept(before, webhook, nowMs);
    if (after !== undefined) webhooks[id] = after;
  }
  const { sending, ...rest } = record;
  const after: NoticeRecord = { ...rest, webhooks };
  const goesOn = sending && (isLeased(sending, nowMs) || resumable(after, sending) !== undefined);
  return goesOn ? { ...after, sending } : after;
}

function kept(
  notices: WebhookNotices,
  webhook: NotedWebhook,
  nowMs: number,
): WebhookNotices | undefined {
  const { pause, last, ...rest } = notices;
  const activeMs = Date.parse(webhook.activeTime);
  const isNew = pause !== undefined && notices.pauseToldTimeMs < activeMs;
  const comes = pause !== undefined && nowMs - pause.timeMs < pauseComesMs;
  const pauseHolds = isNew && (webhook.status === 'PAUSED' || comes);
  // What failed before it was resumed is the past.
  const active = webhook.status === 'ACTIVE' && notices.lastTimeMs >= activeMs;
  const after: WebhookNotices = {
    ...rest,
    ...(active ? { ...(last !== undefined && { last }) } : { exhausted: 0 }),
    ...(pauseHolds && { pause }),
  };
  const toldMs = Math.max(after.toldTimeMs, after.pauseToldTimeMs);
  const idle = after.exhausted === 0 && after.pause === undefined;
  return idle && nowMs - toldMs >= quietMs ? undefined : after;
}

/** Whether nobody is to be told anything, and what they were told is long ago. */
export function isEmpty(record: NoticeRecord): boolean {
  return Object.keys(record.webhooks).length === 0 && record.sending === undefined;
}

/** The mail to send now, with a lease; undefined where none is due, or somebody is sending. */
export function dueMail(
  record: NoticeRecord,
  find: FindWebhook,
  nowMs: number,
): SendingMail | undefined {
  if (isAhead(record.nextTryMs, nowMs, retryWaitMs(record.failures))) return undefined;
  const { sending } = record;
  if (sending !== undefined && isLeased(sending, nowMs)) return undefined;
  const resumed = sending && resumable(record, sending);
  const mail = resumed ?? nextMail(record, find, nowMs);
  return mail && { ...mail, leaseEndMs: nowMs + leaseMs };
}

/** A mail that some admins have goes on to the others, unless all that it tells of is stale. */
function resumable(record: NoticeRecord, sending: SendingMail): SendingMail | undefined {
  const holds = Object.entries(sending.told).filter(([id]) => {
    const notices = record.webhooks[id] ?? nothingToTell;
    return sending.kind === 'pause' ? notices.pause !== undefined : notices.exhausted > 0;
  });
  return holds.length === 0 ? undefined : { ...sending, told: Object.fromEntries(holds) };
}

function nextMail(
  record: NoticeRecord,
  find: FindWebhook,
  nowMs: number,
): Omit<SendingMail, 'leaseEndMs'> | undefined {
  const entries = Object.entries(record.webhooks);
  const paused = entries.find(([id, { pause }]) => pause && find(id)?.status === 'PAUSED');
  if (paused !== undefined) return { kind: 'pause', told: { [paused[0]]: 0 }, sentTo: [] };
  const untold = entries.filter(([, { exhausted }]) => exhausted > 0);
  const first = untold.find(([id, notices]) => isFirst(notices, find(id), nowMs));
  if (first !== undefined) {
    return { kind: 'first', told: { [first[0]]: first[1].exhausted }, sentTo: [] };
  }
  const digestMs = record.digestFromMs + digestEveryMs;
  if (untold.length === 0 || isAhead(digestMs, nowMs, digestEveryMs)) return undefined;
  const told = Object.fromEntries(untold.map(([id, { exhausted }]) => [id, exhausted]));
  return { kind: 'digest', told, sentTo: [] };
}

function isFirst(
  { toldTimeMs }: WebhookNotices,
  webhook: NotedWebhook | undefined,
  nowMs: number,
): boolean {
  const activeMs = Date.parse(webhook?.activeTime ?? '');
  return toldTimeMs < activeMs || nowMs - toldTimeMs >= quietMs;
}

/** The record once every admin has the mail, or is given up. */
export function afterMail(record: NoticeRecord, mail: SendingMail, nowMs: number): NoticeRecord {
  const webhooks = { ...record.webhooks };
  for (const [id, count] of Object.entries(mail.told)) {
    const { pause, last, ...rest } = webhooks[id] ?? nothingToTell;
    if (mail.kind === 'pause') {
      webhooks[id] = { ...rest, ...(last !== undefined && { last }), pauseToldTimeMs: nowMs };
      continue;
    }
    const exhausted = Math.max(0, rest.exhausted - count);
    webhooks[id] = {
      ...{ ...rest, exhausted, toldTimeMs: nowMs },
      // Those that came meanwhile may have been accepted before those that were told.
      ...(exhausted > 0 && last !== undefined && { last }),
      ...(pause !== undefined && { pause }),
    };
  }
  const { sending: _done, ...rest } = record;
  const startsHour = mail.kind === 'digest' || nowMs >= record.digestFromMs + digestEveryMs;
  const digestFromMs = mail.kind !== 'pause' && startsHour ? nowMs : record.digestFromMs;
  return { ...rest, webhooks, digestFromMs, failures: 0, nextTryMs: 0 };
}
