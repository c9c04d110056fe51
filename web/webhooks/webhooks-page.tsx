// The organization's webhooks: the page stands under each of its projects.

import { useState } from 'preact/hooks';
import { plural } from '../../platform/words/figures.ts';
import type { Org } from '../../proto/gen/dashboard/orgs/v1/orgs_pb.js';
import { narrow, useMedia } from '../browser/media.ts';
import { explain } from '../client.ts';
import { foldCase } from '../fields/fold-case.ts';
import { useResource } from '../resource.ts';
import { navigate } from '../router.ts';
import { Code } from '../ui/copy.tsx';
import { Dialog } from '../ui/dialog.tsx';
import { Fault } from '../ui/fault.tsx';
import { Icon } from '../ui/icon.tsx';
import { Loading } from '../ui/loading.tsx';
import { Table } from '../ui/table.tsx';
import { toast } from '../ui/toasts.tsx';
import { currentOrg, currentProject, hasRole, projectsOf, Role } from '../workspace.ts';
import { statusOf, type Webhook, webhooksApi } from './api.ts';
import { WebhookForm } from './webhook-form.tsx';

const columns = [
  { name: 'Name', cell: ({ name }: Webhook) => name },
  { name: 'Endpoint', width: 'minmax(160px, 2fr)', cell: (row: Webhook) => row.endpoint_url },
  {
    name: 'Status',
    width: '90px',
    cell: ({ status }: Webhook) => (
      <span class="badge" data-tone={statusOf(status).tone}>
        {statusOf(status).name}
      </span>
    ),
  },
  {
    name: 'Subscriptions',
    width: '110px',
    isNumber: true,
    cell: ({ subscriptions }: Webhook) => subscriptions.length,
  },
];

/** For a phone: what tells one from the other, and whether it works. */
const fewColumns = columns.filter(({ name }) => name === 'Name' || name === 'Status');

export function Page() {
  const org = currentOrg.value;
  const list = useResource(org ? `webhooks ${org.id}` : undefined, () =>
    webhooksApi.list(org?.id ?? ''),
  );
  const [isMaking, setMaking] = useState(false);
  const [secret, setSecret] = useState<{ title: string; value: string }>();
  if (!org) return <Loading of="the organization" />;
  const all = list.data?.webhooks ?? [];
  const isAdmin = hasRole(Role.ADMIN);
  const base = `/p/${currentProject.value?.id}/webhooks`;
  const rotate = async (): Promise<void> => {
    try {
      const answer = await webhooksApi.rotate(org.id);
      setSecret({ title: 'The secret of webhooks made from now on', value: answer.secret });
    } catch (cause) {
      toast(explain(cause).what);
    }
  };
  return (
    <>
      <div class="page-head">
        <h1 tabIndex={-1}>Webhooks</h1>
        {isAdmin ? (
          <div class="row">
            {all.length > 0 ? (
              <button type="button" onClick={() => void rotate()}>
                New secret for new webhooks
              </button>
            ) : null}
            <button type="button" class="primary" onClick={() => setMaking(true)}>
              <Icon name="plus" />
              New webhook
            </button>
          </div>
        ) : null}
      </div>
      <Whose org={org} />
      <Fault cause={list.error} retry={list.reload} />
      {list.isLoading && !list.data ? <Loading of="webhooks" /> : null}
      {list.data && all.length === 0 ? <Empty isAdmin={isAdmin} /> : null}
      {all.length > 0 ? <List webhooks={all} base={base} /> : null}
      {isMaking ? (
        <Dialog title="New webhook" onClose={() => setMaking(false)}>
          <WebhookForm
            action="Create webhook"
            send={async (content) => {
              const answer = await webhooksApi.create(org.id, content);
              setMaking(false);
              setSecret({ title: `The secret of ${answer.webhook.name}`, value: answer.secret });
              list.reload();
            }}
          />
        </Dialog>
      ) : null}
      {secret ? <NewSecret {...secret} onClose={() => setSecret(undefined)} /> : null}
    </>
  );
}

/** How many projects are named one by one. */
const maxNamed = 5;

/** The page stands under a project, and what it shows does not. */
function Whose({ org }: { org: Org }) {
  const projects = projectsOf(org.id).map(({ displayName }) => displayName);
  const rest = projects.length - maxNamed;
  const named = [...projects.slice(0, maxNamed), ...(rest > 0 ? [`${rest} more`] : [])];
  return (
    <p class="hint">
      They belong to the organization {org.displayName}, not to one project, and hear of the events
      of all its projects: {named.join(', ')}. The log of each can be narrowed down to one project.
    </p>
  );
}

function Empty({ isAdmin }: { isAdmin: boolean }) {
  return (
    <section class="empty">
      <h2>No webhook yet</h2>
      <p>
        A webhook tells another service at once when an event comes, chosen by its name and its
        properties: a <code>purchase</code> above 100, for example, or a message in a room. Each is
        signed, and repeated until it arrives.
      </p>
      {isAdmin ? null : <p class="hint">Admins of the organization make them.</p>}
      <p>
        To try one on your own machine, start the service with{' '}
        <code>MILLRACE_WEBHOOK_ALLOW=127.0.0.0/8</code>, make a webhook to{' '}
        <code>http://127.0.0.1:9000/</code>, and listen there with its secret:
      </p>
      <Code text="npm run webhook-listen -- --port 9000 --secret whsec_…" what="Command" />
    </section>
  );
}

function List({ webhooks, base }: { webhooks: Webhook[]; base: string }) {
  const [text, setText] = useState('');
  const isNarrow = useMedia(narrow);
  const shown = webhooks.filter(({ name }) => foldCase(name).includes(foldCase(text)));
  return (
    <>
      <input
        type="search"
        aria-label="Search webhooks by name"
        placeholder="Search by name"
        value={text}
        onInput={(event) => setText(event.currentTarget.value)}
      />
      <p class="hint">{plural(shown.length, 'webhook')}</p>
      <Table
        label="Webhooks"
        rows={shown}
        columns={isNarrow ? fewColumns : columns}
        rowKey={({ id }) => id}
        onOpen={({ id }) => navigate(`${base}/${id}`)}
        height={`${Math.min(12, shown.length + 1) * 34 + 2}px`}
      />
    </>
  );
}

function NewSecret(props: { title: string; value: string; onClose: () => void }) {
  return (
    <Dialog title={props.title} onClose={props.onClose}>
      <p>
        Copy it now: it is shown this once. The receiver checks each delivery’s signature with it.
      </p>
      <Code text={props.value} what="Secret" />
      <div class="row end">
        <button type="button" class="primary" onClick={props.onClose}>
          I have copied it
        </button>
      </div>
    </Dialog>
  );
}
