// Sends the open run of a report: renders its board, then mails each recipient, and writes each mail as soon as it is
// done. A mail is sent again only where the process died, or the connection broke, between the server's taking it and
// the write that follows: its Message-ID is the same. The other side would be a report that nobody gets.

import { sha256 } from '../../platform/access/ids.ts';
import { dayMs } from '../../platform/clock.ts';
import type { MailOutcome } from '../../platform/mail/mail.ts';
import { recipientName } from '../../platform/reports/report-link.ts';
import {
  type FailedMail,
  maxFailuresKept,
  type RunRecord,
  withinBounds,
} from '../../platform/reports/report-state.ts';
import { waitAfter } from '../../platform/retry.ts';
import {
  type ReportRecipient,
  ReportRecipientState,
} from '../../proto/gen/dashboard/reports/v1/reports_pb.js';
import type { OwnedReport } from '../owned-reports.ts';
import { type RenderedReport, renderReport } from './compose-report.ts';
import type { HeldReport, ReportParts } from './report-parts.ts';

const waits = { baseMs: 30_000, capMs: 1_800_000 };
/** What could not be sent for a day is no news any more. */
const giveUpMs = dayMs;
/** So long a report waits for all events of its period; then it says that it has not. */
const completeWithinMs = 7_200_000;
/** So long it waits for questions that the engine was too busy to answer. */
const answeredWithinMs = 900_000;
const againMs = 60_000;
/** A server that has turned so many away is not there. */
const maxUnavailable = 2;
const maxReasonCharacters = 120;

/** The run that is not done; undefined where there is none. */
export function openRun({ record }: HeldReport): RunRecord | undefined {
  const run = record.runs.at(-1);
  return run === undefined || run.isDone ? undefined : run;
}

/** Ends where something has to be waited for: the record says when it goes on. Throws LeaseLost. */
export async function sendRun(
  parts: ReportParts,
  owned: OwnedReport,
  held: HeldReport,
): Promise<void> {
  const run = openRun(held);
  const nowMs = parts.clock.nowMs();
  if (run === undefined || run.nextTryMs > nowMs) return;
  if (nowMs - run.beginMs > giveUpMs) {
    await finish(parts, owned, held, run.problem || 'it could not be sent for a day');
    return;
  }
  const newest = await parts.reports.find(owned.projectId, owned.report.id);
  // No board is asked for nobody.
  if (leftOver(newest?.report.recipients ?? [], run).length === 0) {
    return finish(parts, owned, held, '');
  }
  const rendered = await rendering(parts, owned, run);
  if (typeof rendered === 'string') return later(parts, owned, held, rendered);
  if (rendered === undefined) return finish(parts, owned, held, 'the board is gone');
  if (!rendered.isComplete && nowMs - run.beginMs < completeWithinMs) {
    const problem = 'not all events of its time are counted yet';
    return write(held, { problem, nextTryMs: nowMs + againMs });
  }
  if (rendered.mayGetBetter && nowMs - run.beginMs < answeredWithinMs) {
    return later(parts, owned, held, 'some questions could not be answered');
  }
  await write(held, { isIncomplete: !rendered.isComplete });
  await mailAll(parts, owned, held, rendered);
}

/** A text is why there is nothing now; undefined, the board is gone. */
async function rendering(
  parts: ReportParts,
  owned: OwnedReport,
  run: RunRecord,
): Promise<RenderedReport | string | undefined> {
  try {
    return await renderReport(parts, owned, run);
  } catch (error) {
    parts.log.warn(
      { err: error, report: owned.report.id },
      'the board of a report is not rendered',
    );
    return 'its figures could not be asked for';
  }
}

async function mailAll(
  parts: ReportParts,
  owned: OwnedReport,
  held: HeldReport,
  rendered: RenderedReport,
): Promise<void> {
  const { reports, takeMail } = parts;
  const { projectId, organizationId, report } = owned;
  let unavailable: string[] = [];
  for (const { key } of report.recipients) {
    // Whoever has said no a moment ago gets nothing; nor does anybody of a report that is gone.
    const newest = await reports.find(projectId, report.id);
    const recipient = newest?.report.recipients.find((one) => one.key === key);
    if (recipient?.state !== ReportRecipientState.ACTIVE) continue;
    const name = recipientName(recipient);
    const run = openRun(held);
    if (run === undefined) return;
    if (run.sentTo.includes(name) || run.failures.some(({ to }) => to === name)) continue;
    const email = addressOf(parts, owned, recipient);
    if (email === undefined) {
      await writeFailure(held, run, name, 'is no member who has the project and a proven address');
      continue;
    }
    const waitSeconds = takeMail(organizationId);
    if (waitSeconds > 0) {
      const problem = 'the organization sends more reports than may leave in an hour';
      return write(held, { problem, nextTryMs: parts.clock.nowMs() + waitSeconds * 1_000 });
    }
    await held.renew();
    const outcome = await send(parts, owned, rendered, { run, recipient, email });
    switch (outcome.kind) {
      case 'sent':
        await write(held, { sentTo: [...run.sentTo, name], tries: 0, problem: '' });
        break;
      case 'refused':
        await writeFailure(held, run, name, outcome.reason);
        break;
      case 'unavailable':
        unavailable = [...unavailable, outcome.reason];
        break;
      default:
        return outcome satisfies never;
    }
    if (unavailable.length >= maxUnavailable) break;
  }
  const [reason] = unavailable;
  if (reason !== undefined) return later(parts, owned, held, reason);
  await finish(parts, owned, held, '');
}

function send(
  { sendMail }: ReportParts,
  { organizationId }: OwnedReport,
  { mailFor }: RenderedReport,
  to: { run: RunRecord; recipient: ReportRecipient; email: string },
): Promise<MailOutcome> {
  const { run, recipient, email } = to;
  const mail = mailFor(recipient, { leftOut: run.leftOut, isTest: false });
  const messageId = `report.${run.id}.${sha256(recipientName(recipient)).slice(0, 16)}`;
  return sendMail(organizationId, { ...mail, to: email, messageId });
}

/** Undefined where nothing of the project may go to them, or nobody has proved to read the address. */
function addressOf(
  { members, mayGet }: ReportParts,
  owned: OwnedReport,
  { customerId, email }: ReportRecipient,
): string | undefined {
  if (customerId === '') return mayGet(owned, email) ? email : undefined;
  const [member] = members(owned, [customerId]);
  return member?.email;
}

async function later(
  { clock, log }: ReportParts,
  { report }: OwnedReport,
  held: HeldReport,
  reason: string,
): Promise<void> {
  const tries = (openRun(held)?.tries ?? 0) + 1;
  const waitMs = waitAfter(tries, waits, 1);
  log.warn({ report: report.id, reason, tries }, 'a report is sent later');
  const problem = reason.slice(0, maxReasonCharacters);
  await write(held, { tries, problem, nextTryMs: clock.nowMs() + waitMs });
}

/** Whoever is left is given up. `problem`: why nobody got a mail. */
export async function finish(
  { clock, log }: Pick<ReportParts, 'clock' | 'log'>,
  { report }: OwnedReport,
  held: HeldReport,
  problem: string,
): Promise<void> {
  const run = openRun(held);
  if (run === undefined) return;
  const { sentTo, failures } = run;
  const left = problem === '' ? [] : leftOver(report.recipients, run);
  const failed = [...failures, ...left.map((to) => ({ to, reason: problem }))];
  if (failed.length > 0) {
    log.warn({ report: report.id, failed: failed.length }, 'mails of a report are not sent');
  }
  const nobody = sentTo.length + failed.length === 0 ? 'nobody is there to get it' : '';
  await write(held, {
    ...{ isDone: true, sent: sentTo.length, failed: failed.length, sentTo: [] },
    ...{ failures: failed.slice(0, maxFailuresKept), endMs: clock.nowMs() },
    problem: problem || nobody,
  });
}

function leftOver(recipients: readonly ReportRecipient[], run: RunRecord): string[] {
  return recipients
    .filter(({ state }) => state === ReportRecipientState.ACTIVE)
    .map(recipientName)
    .filter((name) => !run.sentTo.includes(name))
    .filter((name) => !run.failures.some(({ to }) => to === name));
}

function writeFailure(held: HeldReport, run: RunRecord, to: string, reason: string): Promise<void> {
  const failure: FailedMail = { to, reason: reason.slice(0, maxReasonCharacters) };
  return write(held, { failures: [...run.failures, failure] });
}

async function write(held: HeldReport, made: Partial<RunRecord>): Promise<void> {
  const runs = held.record.runs.map((run) => (run.isDone ? run : { ...run, ...made }));
  await held.write(withinBounds({ ...held.record, runs }));
}
