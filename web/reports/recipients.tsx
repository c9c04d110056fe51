// Who gets a report, and who does not and why.

import type { Report, ReportRecipient } from '../../proto/gen/dashboard/reports/v1/reports_pb.js';
import { ReportRecipientState } from '../../proto/gen/dashboard/reports/v1/reports_pb.js';
import { inProject } from '../client.ts';
import { useMembers } from '../fields/members-field.tsx';
import { Action } from '../settings/action.tsx';
import { hasRole, Role } from '../workspace.ts';
import { recipientText, reportsClient } from './report-words.ts';

export type NameOf = (one: Pick<ReportRecipient, 'customerId' | 'email'>) => string;

/** The address of a member, or of somebody else. */
export function useNames(): NameOf {
  const members = useMembers();
  return ({ customerId, email }) => {
    if (customerId === '') return email;
    const member = members?.find((one) => one.customerId === customerId);
    return member?.email ?? (members ? 'Somebody who has left' : 'A member');
  };
}

export function Recipients(props: { report: Report; projectId: string; nameOf: NameOf }) {
  const { report, projectId, nameOf } = props;
  return (
    <section class="card">
      <h2>Recipients</h2>
      <ul class="stack">
        {report.recipients.map((one) => (
          <li key={one.customerId || one.email} class="row between">
            <span>
              {nameOf(one)} {one.customerId ? null : <small>(no member)</small>}{' '}
              {recipientText(one.state) ? (
                <span class="badge" data-tone="warn">
                  {recipientText(one.state)}
                </span>
              ) : null}
            </span>
            {one.state === ReportRecipientState.UNCONFIRMED && hasRole(Role.ADMIN) ? (
              <Action
                label={`Ask again ${one.email}`}
                done="A mail is on its way"
                run={async () => {
                  const { id } = report;
                  await reportsClient.sendConfirmation(
                    { id, email: one.email },
                    inProject(projectId),
                  );
                }}
              >
                Ask again
              </Action>
            ) : null}
          </li>
        ))}
      </ul>
    </section>
  );
}
