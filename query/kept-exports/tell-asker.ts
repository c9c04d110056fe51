// Tells that an export is ready: webhooks by their deliveries, then the member who asked by mail. A mail is sent again
// only where the process died, or the connection broke, between the server's taking it and the write that follows: its
// Message-ID is the same.

import type { Clock } from '../../platform/clock.ts';
import { type ExportRecord, sizeOf } from '../../platform/exports/export-record.ts';
import { composeMail } from '../../platform/mail/texts/compose-mail.ts';
import { nameInMail } from '../../platform/mail/texts/name-in-mail.ts';
import { waitAfter } from '../../platform/retry.ts';
import type { ExportParts, HeldExport } from './export-parts.ts';
import { tellWebhooks } from './tell-webhooks.ts';
import { keptDays } from './write-step.ts';

const waits = { baseMs: 30_000, capMs: 1_800_000 };
/** Some hours: the list on the page tells it, too. */
const maxTries = 16;

/** Throws LeaseLost. */
export async function tellAsker(
  parts: ExportParts,
  { projectId, held }: HeldExport,
): Promise<void> {
  const { clock, log } = parts;
  const { record } = held;
  const told = { isTold: true, tries: 0, nextTryMs: 0, reason: '' };
  const project = parts.project(projectId);
  const place = { projectId, organizationId: project?.organizationId ?? '' };
  if (project !== undefined && record.areQueued !== true) {
    const queued = await tellWebhooks(parts.deliveries, place, record);
    const tries = record.tries + 1;
    if (queued === 'later' && tries < maxTries) {
      log.warn({ exportId: record.id }, 'the deliveries of an export are not queued');
      return held.write({ ...record, ...laterBy(tries, clock) });
    }
    return held.write({ ...record, areQueued: true, tries: 0, nextTryMs: 0 });
  }
  const [member] = record.customerId === '' ? [] : parts.members(place, [record.customerId]);
  // Nobody asked who can be told: a key, or somebody who may not see the project any more.
  const isOver = clock.nowMs() >= record.expireMs;
  if (project === undefined || member === undefined || isOver) {
    return held.write({ ...record, ...told });
  }
  await held.renew();
  const mail = {
    ...readyMail(record, project.displayName, `${parts.publicUrl()}/p/${projectId}/exports`),
    to: member.email,
    messageId: `export.${record.id}`,
  };
  const outcome = await parts.sendMail(project.organizationId, mail);
  const tries = record.tries + 1;
  switch (outcome.kind) {
    case 'sent':
      return held.write({ ...held.record, ...told });
    case 'refused':
      log.warn(
        { exportId: record.id, reason: outcome.reason },
        'the mail of an export is not sent',
      );
      return held.write({ ...held.record, ...told });
    case 'unavailable':
      log.warn({ exportId: record.id, reason: outcome.reason }, 'the mail of an export waits');
      if (tries >= maxTries) return held.write({ ...held.record, ...told });
      return held.write({ ...held.record, ...laterBy(tries, clock) });
    default:
      return outcome satisfies never;
  }
}

function laterBy(tries: number, clock: Clock): { tries: number; nextTryMs: number } {
  return { tries, nextTryMs: clock.nowMs() + waitAfter(tries, waits, 1) };
}

function readyMail(record: ExportRecord, projectName: string, link: string) {
  const { rows, bytes } = sizeOf(record);
  const name = nameInMail(projectName, 'your project');
  const files = record.parts.length === 1 ? 'one file' : `${record.parts.length} files`;
  const MiB = Math.max(1, Math.round(bytes / 1_048_576));
  return composeMail({
    subject: `Your export of ${name} is ready`,
    paragraphs: [
      `The export that you asked for in ${name} is ready: ${rows} rows in ${files}, ${MiB} MiB.`,
      `It is kept for ${keptDays} days, until ${new Date(record.expireMs).toISOString().slice(0, 10)}.`,
    ],
    button: { label: 'Open the exports', link },
  });
}
