// Reports in words: schedules, states of runs and of recipients.

import { createClient } from '@connectrpc/connect';
import { plural } from '../../platform/words/figures.ts';
import {
  ReportFrequency as Frequency,
  ReportRecipientState as RecipientState,
  type Report,
  type ReportRecipient,
  type ReportRun,
  type ReportSchedule,
  ReportsService,
  ReportRunState as RunState,
} from '../../proto/gen/dashboard/reports/v1/reports_pb.js';
import { transport } from '../client.ts';
import { weekdayNames } from '../time/weekdays.ts';

export const reportsClient = createClient(ReportsService, transport);

export const frequencies: readonly { value: string; name: string }[] = [
  { value: String(Frequency.DAILY), name: 'Each day' },
  { value: String(Frequency.WEEKLY), name: 'Each week' },
  { value: String(Frequency.MONTHLY), name: 'Each month' },
];

const clock = (hour: number): string => `${String(hour).padStart(2, '0')}:00`;
export const hours = Array.from({ length: 24 }, (_, hour) => ({
  value: String(hour),
  name: clock(hour),
}));

/** "each day at 08:00", "on Mondays at 08:00", "on day 31 of each month at 08:00". */
export function scheduleText(schedule: ReportSchedule | undefined): string {
  if (!schedule) return '';
  const { frequency, weekday, dayOfMonth, hour = 0 } = schedule;
  const at = `at ${clock(hour)}`;
  switch (frequency) {
    case Frequency.WEEKLY:
      return `on ${weekdayNames[(weekday || 1) - 1]}s ${at}`;
    case Frequency.MONTHLY:
      return `on day ${dayOfMonth || 1} of each month ${at}`;
    case Frequency.DAILY:
    case Frequency.UNSPECIFIED:
      return `each day ${at}`;
    default:
      return frequency satisfies never;
  }
}

export function runText(state: RunState): { name: string; tone: string } {
  switch (state) {
    case RunState.SENDING:
      return { name: 'being sent', tone: 'warn' };
    case RunState.SENT:
      return { name: 'sent', tone: 'good' };
    case RunState.PARTLY_SENT:
      return { name: 'partly sent', tone: 'warn' };
    case RunState.FAILED:
      return { name: 'failed', tone: 'bad' };
    case RunState.UNSPECIFIED:
      return { name: 'not sent yet', tone: '' };
    default:
      return state satisfies never;
  }
}

/** Where there is something to say beside "gets it". */
export function recipientText(state: RecipientState): string {
  switch (state) {
    case RecipientState.UNCONFIRMED:
      return 'has not said yes';
    case RecipientState.UNSUBSCRIBED:
      return 'has unsubscribed';
    case RecipientState.ACTIVE:
    case RecipientState.UNSPECIFIED:
      return '';
    default:
      return state satisfies never;
  }
}

export function recipientsText({ recipients }: Pick<Report, 'recipients'>): string {
  const active = recipients.filter(({ state }) => state === RecipientState.ACTIVE).length;
  const others = recipients.length - active;
  return `${plural(active, 'recipient')}${others > 0 ? `, ${others} more ${others === 1 ? 'does' : 'do'} not get it` : ''}`;
}

/** What a run says beside its numbers. */
export function notesOf(
  { problem, leftOut, isIncomplete, failures }: ReportRun,
  nameOf: (one: Pick<ReportRecipient, 'customerId' | 'email'>) => string,
): string[] {
  return [
    ...(problem ? [`${problem}.`] : []),
    ...(isIncomplete ? ['Sent before all events of its time were counted.'] : []),
    ...(leftOut > 0 ? [`${plural(leftOut, 'earlier report')} left out.`] : []),
    ...failures.map((failure) => `${nameOf(failure)}: ${failure.reason}.`),
  ];
}
