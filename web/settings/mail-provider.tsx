// How the organization's mail is sent. Secrets go in and never come back.

import { Code, ConnectError, createClient } from '@connectrpc/connect';
import { useState } from 'preact/hooks';
import {
  type EmailProvider,
  OrgEmailProvidersService,
} from '../../proto/gen/dashboard/orgemailproviders/v1/org_email_providers_pb.js';
import type { Org } from '../../proto/gen/dashboard/orgs/v1/orgs_pb.js';
import { transport } from '../client.ts';
import { Check, Field, Select } from '../fields/field.tsx';
import { Form } from '../fields/form.tsx';
import { useResource } from '../resource.ts';
import { Fault } from '../ui/fault.tsx';
import { Loading } from '../ui/loading.tsx';
import { toast } from '../ui/toasts.tsx';
import { Role } from '../workspace.ts';
import { Action } from './action.tsx';

const providers = createClient(OrgEmailProvidersService, transport);

export function MailProvider({ org }: { org: Org }) {
  const isAdmin = org.role >= Role.ADMIN;
  // Where none is set the service answers not_found: an answer, and no fault here.
  const provider = useResource(isAdmin ? `mail ${org.id}` : undefined, async (signal) => {
    try {
      const { emailProvider } = await providers.get({ orgId: org.id }, { signal });
      return { set: emailProvider };
    } catch (cause) {
      if (ConnectError.from(cause).code === Code.NotFound) return { set: undefined };
      throw cause;
    }
  });
  if (!isAdmin) return <p class="hint">Admins of the organization set how its mail is sent.</p>;
  if (!provider.data && !provider.error) return <Loading of="the mail settings" />;
  return (
    <section class="card">
      <h2>Mail</h2>
      <p class="hint">
        Invitations and notices of webhooks go out through it, or else through the instance’s mail
        server. Without either no mail goes out, and an invitation is a link that you hand over.
      </p>
      {provider.error ? <Fault cause={provider.error} retry={provider.reload} /> : null}
      <ProviderForm
        key={String(provider.data?.set !== undefined)}
        orgId={org.id}
        now={provider.data?.set}
        onSaved={provider.reload}
      />
      {provider.data?.set ? (
        <div class="row">
          <Action
            done="A test mail is on its way to you"
            run={async () => {
              await providers.sendTest({ orgId: org.id });
            }}
          >
            Send me a test
          </Action>
          <Action
            class="danger-text"
            done="Removed"
            run={async () => {
              await providers.delete({ orgId: org.id });
              provider.reload();
            }}
          >
            Remove it
          </Action>
        </div>
      ) : null}
    </section>
  );
}

function ProviderForm(props: {
  orgId: string;
  now: EmailProvider | undefined;
  onSaved: () => void;
}) {
  const smtp = props.now?.provider.case === 'smtp' ? props.now.provider.value : undefined;
  const [kind, setKind] = useState<'smtp' | 'resend'>(props.now?.provider.case ?? 'smtp');
  const [host, setHost] = useState(smtp?.host ?? '');
  const [port, setPort] = useState(String(smtp?.port ?? 587));
  const [username, setUsername] = useState(smtp?.username ?? '');
  const [secret, setSecret] = useState('');
  const [useTls, setUseTls] = useState(smtp?.useTls ?? true);
  const [fromAddress, setFromAddress] = useState(props.now?.fromAddress ?? '');
  const [replyTo, setReplyTo] = useState(props.now?.replyTo ?? '');
  const save = async (): Promise<void> => {
    await providers.upsert({
      orgId: props.orgId,
      fromAddress,
      replyTo,
      provider:
        kind === 'smtp'
          ? {
              case: 'smtp',
              value: { host, port: Number(port), username, password: secret, useTls },
            }
          : { case: 'resend', value: { apiKey: secret } },
    });
    setSecret('');
    toast('Saved');
    props.onSaved();
  };
  return (
    <Form action="Save" send={save}>
      <Select
        label="Provider"
        value={kind}
        options={[
          { value: 'smtp', name: 'SMTP' },
          { value: 'resend', name: 'Resend' },
        ]}
        onValue={setKind}
      />
      {kind === 'smtp' ? (
        <div class="row">
          <Field label="Host" required value={host} onValue={setHost} />
          <Field label="Port" type="number" required value={port} onValue={setPort} />
          <Field label="User name" value={username} onValue={setUsername} />
        </div>
      ) : null}
      <Field
        label={kind === 'smtp' ? 'Password' : 'API key'}
        type="password"
        autoComplete="off"
        hint="Kept encrypted; typed again at each change."
        value={secret}
        onValue={setSecret}
      />
      {kind === 'smtp' ? (
        <Check label="Use TLS from the start" checked={useTls} onValue={setUseTls} />
      ) : null}
      <div class="row">
        <Field label="From" type="email" required value={fromAddress} onValue={setFromAddress} />
        <Field label="Reply to" type="email" value={replyTo} onValue={setReplyTo} />
      </div>
    </Form>
  );
}
