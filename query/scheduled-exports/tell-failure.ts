// Tells by mail that a scheduled export fails for long, or was paused for it: whoever made it, or where they may not
// see the project any more, an admin of the organization. A mail is sent again only where the process died between the
// server's answer and the write that follows it, and then with the same Message-ID.

import type { ScheduleRecord } from '../../platform/exports/schedule-record.ts';
import { composeMail } from '../../platform/mail/texts/compose-mail.ts';
import { nameInMail } from '../../platform/mail/texts/name-in-mail.ts';
import { waitAfter } from '../../platform/retry.ts';
import type { HeldSchedule, ScheduleParts } from './schedule-parts.ts';

const waits = { baseMs: 30_000, capMs: 1_800_000 };
/** Some hours: the page tells it, too. */
const maxTries = 16;

/** Throws LeaseLost. */
export async function tellFailure(
  parts: ScheduleParts,
  { projectId, held }: HeldSchedule,
): Promise<void> {
  const { clock, log } = parts;
  const { record } = held;
  const told = { telling: 'nothing', tellTries: 0, nextTellMs: 0 } as const;
  const project = parts.project(projectId);
  const receiver = project && receiverOf(parts, { ...project, projectId }, record);
  if (project === undefined || receiver === undefined) {
    return held.write({ ...record, ...told });
  }
  await held.renew();
  const mail = {
    ...failureMail(record, project.displayName, `${parts.publicUrl()}/p/${projectId}/exports`),
    to: receiver.email,
    messageId: `schedule.${record.id}.${record.toldMs}.${record.telling}`,
  };
  const outcome = await parts.sendMail(project.organizationId, mail);
  switch (outcome.kind) {
    case 'sent':
      return held.write({ ...held.record, ...told });
    case 'refused':
      log.warn(
        { scheduleId: record.id, reason: outcome.reason },
        'the mail of a scheduled export is not sent',
      );
      return held.write({ ...held.record, ...told });
    case 'unavailable': {
      const tellTries = record.tellTries + 1;
      if (tellTries >= maxTries) return held.write({ ...held.record, ...told });
      const nextTellMs = clock.nowMs() + waitAfter(tellTries, waits, 1);
      return held.write({ ...held.record, tellTries, nextTellMs });
    }
    default:
      return outcome satisfies never;
  }
}

function receiverOf(
  parts: ScheduleParts,
  place: { organizationId: string; projectId: string },
  { customerId }: ScheduleRecord,
): { email: string } | undefined {
  const [maker] = parts.members(place, [customerId]);
  return maker ?? parts.admins(place.organizationId)[0];
}

function failureMail(record: ScheduleRecord, projectName: string, link: string) {
  const project = nameInMail(projectName, 'your project');
  const name = nameInMail(record.displayName, 'a scheduled export');
  const since = new Date(record.failingSinceMs).toISOString().slice(0, 16).replace('T', ' ');
  const isPaused = record.telling === 'paused';
  return composeMail({
    subject: isPaused ? `${name} of ${project} is paused` : `${name} of ${project} fails`,
    paragraphs: [
      `Nothing was written to the bucket ${record.target.bucket} since ${since} UTC: ${record.lastError}.`,
      isPaused
        ? 'It is paused. Once the bucket takes files again, resume it: it goes on where it was, and nothing is left out.'
        : 'It is tried again, and goes on where it was, so that nothing is left out. After a week of it, it is paused.',
    ],
    button: { label: 'Open the exports', link },
  });
}
