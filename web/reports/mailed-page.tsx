// The page of the link in a report's mail: it says what the link is about, and a click, nothing less, says yes or no.

import { Code, ConnectError, createClient } from '@connectrpc/connect';
import { createConnectTransport } from '@connectrpc/connect-web';
import { ReportRecipientState } from '../../proto/gen/dashboard/reports/v1/reports_pb.js';
import {
  type GetResponse,
  MailedReportsService,
} from '../../proto/gen/public/reports/v1/mailed_reports_pb.js';
import { CardPage } from '../account/card-page.tsx';
import { Form } from '../fields/form.tsx';
import { useResource } from '../resource.ts';
import type { PageProps } from '../router.ts';
import { Fault } from '../ui/fault.tsx';
import { Loading } from '../ui/loading.tsx';

/** Without a session: whoever has the mail may answer. */
const mailed = createClient(
  MailedReportsService,
  createConnectTransport({ baseUrl: window.location.origin, useBinaryFormat: true }),
);

export function Page({ params }: PageProps) {
  const token = params['recipient'] ?? '';
  const found = useResource(`mailed ${token}`, (signal) => mailed.get({ token }, { signal }));
  const { data, error, reload } = found;
  if (data && !error) return <Answer token={token} about={data} onChange={reload} />;
  const isGone = error !== undefined && ConnectError.from(error).code === Code.NotFound;
  if (isGone)
    return (
      <CardPage title="This link leads nowhere">
        <p>
          The report is gone, or you are not among its recipients any more: it sends you nothing.
        </p>
      </CardPage>
    );
  return (
    <CardPage title="Report by mail">
      {error ? <Fault cause={error} retry={reload} /> : <Loading of="the report" />}
    </CardPage>
  );
}

function Answer(props: { token: string; about: GetResponse; onChange: () => void }) {
  const { token, about, onChange } = props;
  const isActive = about.state === ReportRecipientState.ACTIVE;
  const say = (answer: 'confirm' | 'unsubscribe') => async (): Promise<void> => {
    await mailed[answer]({ token });
    onChange();
  };
  return (
    <CardPage title={titleOf(about.state)}>
      <p>
        The report <strong>{about.displayName}</strong> of <strong>{about.organization}</strong>
        {isActive ? ' is mailed to you.' : ' is not mailed to you.'}
      </p>
      {isActive ? (
        <Form action="Unsubscribe" send={say('unsubscribe')}>
          {null}
        </Form>
      ) : (
        <Form
          action={
            about.state === ReportRecipientState.UNSUBSCRIBED ? 'Get it again' : 'Yes, mail it'
          }
          send={say('confirm')}
        >
          {null}
        </Form>
      )}
      {about.state === ReportRecipientState.UNCONFIRMED ? (
        <p class="hint">You get nothing unless you say yes.</p>
      ) : null}
    </CardPage>
  );
}

function titleOf(state: ReportRecipientState): string {
  switch (state) {
    case ReportRecipientState.UNCONFIRMED:
      return 'Do you want this report?';
    case ReportRecipientState.UNSUBSCRIBED:
      return 'You have unsubscribed';
    case ReportRecipientState.ACTIVE:
    case ReportRecipientState.UNSPECIFIED:
      return 'You get this report';
    default:
      return state satisfies never;
  }
}
