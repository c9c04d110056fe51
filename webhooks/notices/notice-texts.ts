// The words of the mails about webhooks: what happened, why, and what to do where. Names are all that people typed in
// them, as name-in-mail.ts leaves them; a mail holds no endpoint's address, body or answer. When a mail is due is
// due-notice.ts's.

import { dayMs } from '../../platform/clock.ts';
import { composeMail, type MailContent } from '../../platform/mail/texts/compose-mail.ts';
import { nameInMail } from '../../platform/mail/texts/name-in-mail.ts';
import type { PauseReason } from '../../platform/webhooks/webhook-record.ts';
import type { LastFailure, WebhookNotices } from './notice-record.ts';

/** A webhook as a mail tells of it. */
export interface ToldWebhook {
  id: string;
  name: string;
  notices: WebhookNotices;
}

/** Where and whose. */
export interface NoticePlace {
  organizationId: string;
  organizationName: string;
  /** Without a slash at the end. */
  publicUrl: string;
}

export function exhaustedMail(
  place: NoticePlace,
  webhook: ToldWebhook,
  count: number,
): MailContent {
  const { firstTimeMs, lastTimeMs, last } = webhook.notices;
  const [name, organization] = [nameOf(webhook), organizationOf(place)];
  return composeMail({
    subject: `Webhook ${name}: ${count === 1 ? 'a delivery' : `${count} deliveries`} failed for good`,
    paragraphs: [
      `The webhook ${name} of ${organization} gave up on ${count === 1 ? 'a delivery' : `${count} deliveries`}: ` +
        `the last of all attempts was at ${time(lastTimeMs)} and ended with ${causeOf(last)}.`,
      [
        ...(last === undefined
          ? []
          : [`Event type: ${last.eventType}`, `Delivery: ${last.deliveryId}`]),
        `Webhook: ${webhook.id}`,
      ].join('\n'),
      whatToDo,
      `The log has each attempt and its answer for 30 days:\nGET ${urlOf(place, webhook)}/logs?status=EXHAUSTED`,
      `Once the endpoint works, send again what it missed:\n${recover(place, webhook, firstTimeMs, lastTimeMs)}`,
      'Further failures come together in one mail an hour. A webhook that goes on failing is paused.',
    ],
  });
}

export function digestMail(
  place: NoticePlace,
  webhooks: readonly { webhook: ToldWebhook; count: number }[],
): MailContent {
  const total = webhooks.reduce((sum, { count }) => sum + count, 0);
  const organization = organizationOf(place);
  const linesOf = ({ webhook, count }: { webhook: ToldWebhook; count: number }): string => {
    const { firstTimeMs, lastTimeMs, last } = webhook.notices;
    return [
      `${nameOf(webhook)} (${webhook.id}): ${count}, the last at ${time(lastTimeMs)} with ${causeOf(last)}.`,
      recover(place, webhook, firstTimeMs, lastTimeMs),
    ].join('\n');
  };
  return composeMail({
    subject: `Webhooks of ${organization}: ${total} more ${total === 1 ? 'delivery' : 'deliveries'} failed for good`,
    paragraphs: [
      `Since the last mail the webhooks of ${organization} gave up on ${total} more ${total === 1 ? 'delivery' : 'deliveries'}:`,
      ...webhooks.map(linesOf),
      whatToDo,
      'Once an endpoint works, its request above sends again what it missed. A webhook that goes on failing is paused.',
    ],
  });
}

export function pauseMail(
  place: NoticePlace,
  webhook: ToldWebhook,
  pause: { reason: PauseReason; timeMs: number },
): MailContent {
  const [name, organization] = [nameOf(webhook), organizationOf(place)];
  return composeMail({
    subject: `Webhook ${name} is paused`,
    paragraphs: [
      `The webhook ${name} of ${organization} was paused at ${time(pause.timeMs)}: ${reasons[pause.reason]}.`,
      'While it is paused, its deliveries are recorded and not sent.',
      whatToDo,
      `Then resume it:\nPATCH ${urlOf(place, webhook)} with {"content":{"status":"WEBHOOK_STATUS_ACTIVE"}}`,
      `And send again what it missed:\nPOST ${urlOf(place, webhook)}/recover with ` +
        `{"from":"${isoTime(pause.timeMs - longestLadderMs)}","to":"<now>","statuses":["EXHAUSTED","SKIPPED"]}`,
      'If the endpoint still fails, the webhook is paused again.',
    ],
  });
}

const whatToDo =
  'What to do: let the endpoint answer with a status from 200 to 299 within 15 seconds, without a redirect.';

const reasons: Readonly<Record<PauseReason, string>> = {
  NO_SUCCESS_FOR_DAYS: 'no delivery has succeeded for 5 days',
  FAILURES_IN_A_ROW: '100 deliveries in a row have failed',
  GONE: 'its endpoint answered 410, which says that it is gone',
};

const causes: Readonly<Record<string, string>> = {
  connection_failed: 'no connection',
  timeout: 'no answer in time',
  tls_failed: 'a failure of TLS',
  redirected: 'a redirect, which is not followed',
  body_failed: 'an answer that broke off',
};

function causeOf(last: LastFailure | undefined): string {
  if (last === undefined) return 'a failure';
  if (last.responseCode > 0) return `status ${last.responseCode}`;
  return causes[last.error] ?? 'a failure';
}

function nameOf({ id, name }: ToldWebhook): string {
  return nameInMail(name, id);
}

function organizationOf({ organizationName }: NoticePlace): string {
  return nameInMail(organizationName, 'your organization');
}

function urlOf({ publicUrl, organizationId }: NoticePlace, { id }: ToldWebhook): string {
  return `${publicUrl}/v1/organizations/${organizationId}/webhooks/${id}`;
}

/**
 * A delivery is found by the time of its first attempt. Retry-After can stretch each of the five delays to a day, and a
 * sixth is for waiting in between; eight are left of a range's 14 until somebody reads the mail.
 */
const longestLadderMs = 6 * dayMs;
const maxRangeMs = 14 * dayMs;

function recover(
  place: NoticePlace,
  webhook: ToldWebhook,
  firstTimeMs: number,
  lastTimeMs: number,
): string {
  const fromMs = Math.max(firstTimeMs, lastTimeMs - maxRangeMs);
  const [from, to] = [isoTime(fromMs), isoTime(lastTimeMs)];
  return `POST ${urlOf(place, webhook)}/recover with {"from":"${from}","to":"${to}"}`;
}

function isoTime(timeMs: number): string {
  return new Date(timeMs).toISOString();
}

function time(timeMs: number): string {
  return `${isoTime(timeMs).slice(0, 16).replace('T', ' ')} UTC`;
}
