// The rules of a report's fields: its schedule, and who gets it.

import { create } from '@bufbuild/protobuf';
import { type Timestamp, timestampFromMs } from '@bufbuild/protobuf/wkt';
import { Code, ConnectError } from '@connectrpc/connect';
import { type OrganizationDirectory, roleCovers } from '../../platform/access/organizations.ts';
import type { Clock } from '../../platform/clock.ts';
import { newRecipientKey, recipientName } from '../../platform/reports/report-link.ts';
import {
  ReportFrequency,
  ReportFrequencySchema,
  type ReportRecipient,
  ReportRecipientSchema,
  ReportRecipientState,
  type ReportRecipients,
  type ReportSchedule,
  ReportScheduleSchema,
} from '../../proto/gen/dashboard/reports/v1/reports_pb.js';
import type { CustomerStore } from '../customers/customer-store.ts';
import { refuseUnproven } from '../customers/proven-customer.ts';
import { checkedMember, emailField, invalidArgument, wholeField } from '../request-fields.ts';
import type { SignedInMember, SignedInProjectMember } from '../signed-in-customer.ts';

export interface RecipientDeps {
  directory: Pick<OrganizationDirectory, 'placeOf'>;
  customers: Pick<CustomerStore, 'get' | 'findByEmail'>;
  clock: Clock;
}

type Caller = SignedInMember & SignedInProjectMember;

export const maxRecipients = 20;

/** With every member that its frequency has, so that it stays as it is when a default changes. */
export function scheduleField(schedule: ReportSchedule | undefined): ReportSchedule {
  if (schedule === undefined) throw invalidArgument('schedule', 'is required');
  const { frequency, weekday, dayOfMonth, hour = 0 } = schedule;
  if (ReportFrequencySchema.value[frequency] === undefined || frequency === 0) {
    throw invalidArgument('schedule.frequency', 'must be daily, weekly or monthly');
  }
  const isWeekly = frequency === ReportFrequency.WEEKLY;
  const isMonthly = frequency === ReportFrequency.MONTHLY;
  wholeField('schedule.hour', hour, 0, 23);
  return create(ReportScheduleSchema, {
    ...{ frequency, hour },
    ...(isWeekly && { weekday: wholeField('schedule.weekday', weekday || 1, 1, 7) }),
    ...(isMonthly && { dayOfMonth: wholeField('schedule.dayOfMonth', dayOfMonth || 1, 1, 31) }),
  });
}

/**
 * The recipients that a request names, as entries that nobody has answered yet. An address of a member who has the
 * project is the member. Throws invalid_argument for a member who does not have it.
 */
export function recipientsField(
  deps: RecipientDeps,
  prefix: string,
  { customerIds, emails }: Pick<ReportRecipients, 'customerIds' | 'emails'>,
  caller: Caller,
): ReportRecipient[] {
  const count = customerIds.length + emails.length;
  if (count > maxRecipients) {
    throw invalidArgument(`${prefix}emails`, `must be at most ${maxRecipients} recipients in all`);
  }
  const now = timestampFromMs(deps.clock.nowMs());
  const memberOf = (field: string, customerId: string): ReportRecipient =>
    memberEntry(checkedMember(deps.directory, field, customerId, caller), now);
  const members = customerIds.map((customerId, index) =>
    memberOf(`${prefix}customerIds[${index}]`, customerId),
  );
  const others = emails.map((text, index) => {
    const field = `${prefix}emails[${index}]`;
    const email = emailField(field, text);
    const known = deps.customers.findByEmail(email);
    const isMember =
      known !== undefined && deps.directory.placeOf(caller.organizationId, known.id) !== undefined;
    return isMember ? memberOf(field, known.id) : otherEntry(email, now);
  });
  const byName = new Map([...members, ...others].map((one) => [recipientName(one), one]));
  return [...byName.values()];
}

/**
 * Throws permission_denied where there are addresses of others and the caller is no admin: as a link to a board, they
 * show it to people outside; and failed_precondition where the caller's own address is not proven.
 */
export function refuseOthers(
  { customers }: Pick<RecipientDeps, 'customers'>,
  others: readonly ReportRecipient[],
  caller: Caller,
): void {
  if (others.length === 0) return;
  if (!roleCovers(caller.role, 'admin')) {
    const message = 'your role does not allow this: admins alone name people who are no members';
    throw new ConnectError(message, Code.PermissionDenied);
  }
  refuseUnproven(customers, caller);
}

export function isOther({ email }: Pick<ReportRecipient, 'email'>): boolean {
  return email !== '';
}

function memberEntry(customerId: string, stateTime: Timestamp): ReportRecipient {
  const state = ReportRecipientState.ACTIVE;
  const key = newRecipientKey();
  return create(ReportRecipientSchema, { customerId, state, stateTime, key });
}

function otherEntry(email: string, stateTime: Timestamp): ReportRecipient {
  const state = ReportRecipientState.UNCONFIRMED;
  const key = newRecipientKey();
  return create(ReportRecipientSchema, { email, state, stateTime, key });
}
