// Tells the changes of an alert, the oldest first: its deliveries are queued, then its mails are sent, and each step is
// written as soon as it is done. Webhooks know a delivery by its id, however often it is queued. A mail is sent again
// only where the process died between the server's answer and the write that follows it; its Message-ID is the same.

import type { ChangeRecord, Telling } from '../../platform/alerts/alert-state.ts';
import { untold } from '../../platform/alerts/alert-state.ts';
import { type Clock, dayMs } from '../../platform/clock.ts';
import type { Log } from '../../platform/log.ts';
import type { Mail, MailOutcome } from '../../platform/mail/mail.ts';
import { waitAfter } from '../../platform/retry.ts';
import type { HeldAlert } from '../looking/held-alert.ts';
import type { OwnedAlert } from '../owned-alerts.ts';
import { alertMail } from './alert-mail.ts';
import type { QueueAlert } from './queue-alert.ts';

export interface Recipient {
  customerId: string;
  email: string;
}

export interface TellingParts {
  /** Those of the customers who may see the project and have proven their address. */
  recipients(
    project: { organizationId: string; projectId: string },
    customerIds: readonly string[],
  ): readonly Recipient[];
  /** By the organization's own e-mail provider, else the instance's. Takes at most 40 s. */
  sendMail(organizationId: string, mail: Mail): Promise<MailOutcome>;
  queueAlert: QueueAlert;
  projectName(projectId: string): string;
  timezoneOf(projectId: string): string;
  /** Where people reach the service, without a slash at the end. */
  publicUrl(): string;
  clock: Clock;
  log: Log;
}

const waits = { baseMs: 30_000, capMs: 1_800_000 };
/** What could not be told for a day is no news any more. */
const giveUpMs = dayMs;

/** Ends where a server cannot be reached: the record says when it goes on. Throws LeaseLost. */
export async function tellChanges(
  parts: TellingParts,
  owned: OwnedAlert,
  held: HeldAlert,
): Promise<void> {
  for (const { id } of untold(held.record)) {
    const isTold = await tellChange(parts, owned, held, id);
    if (!isTold) return;
  }
}

async function tellChange(
  parts: TellingParts,
  owned: OwnedAlert,
  held: HeldAlert,
  id: string,
): Promise<boolean> {
  const { clock, log } = parts;
  const change = changeIn(held, id);
  if (change.telling.nextTryMs > clock.nowMs()) return false;
  if (clock.nowMs() - change.timeMs > giveUpMs) {
    log.warn({ alert: owned.alert.id, change: id }, 'the change of an alert is given up');
    await write(held, id, { isDone: true, mailedTo: [] });
    return true;
  }
  if (!change.telling.areQueued) {
    const queued = await parts.queueAlert(owned, change);
    if (queued !== 'queued') return later(parts, owned, held, id, 'its deliveries are not queued');
    await write(held, id, { areQueued: true, failures: 0 });
  }
  const { organizationId, alert } = owned;
  for (const { customerId, email } of parts.recipients(owned, alert.recipientIds)) {
    if (changeIn(held, id).telling.mailedTo.includes(customerId)) continue;
    await held.renew();
    const mail = alertMail(parts, owned, change);
    const messageId = `alert.${id}.${customerId}`;
    const outcome = await parts.sendMail(organizationId, { ...mail, to: email, messageId });
    if (outcome.kind === 'unavailable') return later(parts, owned, held, id, outcome.reason);
    if (outcome.kind === 'refused') {
      log.warn({ alert: alert.id, reason: outcome.reason }, 'the mail of an alert is refused');
    }
    const { mailedTo } = changeIn(held, id).telling;
    await write(held, id, { mailedTo: [...mailedTo, customerId], failures: 0 });
  }
  await write(held, id, { isDone: true, mailedTo: [] });
  return true;
}

async function later(
  { clock, log }: TellingParts,
  { alert }: OwnedAlert,
  held: HeldAlert,
  id: string,
  reason: string,
): Promise<false> {
  const failures = changeIn(held, id).telling.failures + 1;
  const waitMs = waitAfter(failures, waits, 1);
  log.warn({ alert: alert.id, reason, failures }, 'the change of an alert is told later');
  await write(held, id, { failures, nextTryMs: clock.nowMs() + waitMs });
  return false;
}

function changeIn(held: HeldAlert, id: string): ChangeRecord {
  const change = held.record.changes.find((one) => one.id === id);
  if (change === undefined) throw new Error(`the change ${id} is not in its record`);
  return change;
}

async function write(held: HeldAlert, id: string, made: Partial<Telling>): Promise<void> {
  const changes = held.record.changes.map((one) =>
    one.id === id ? { ...one, telling: { ...one.telling, ...made } } : one,
  );
  await held.write({ ...held.record, changes });
}
