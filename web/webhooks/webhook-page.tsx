// One webhook: what it hears of, whether it is on, a test, and its delivery log.

import { useState } from 'preact/hooks';
import { explain } from '../client.ts';
import { Select } from '../fields/field.tsx';
import { inWords } from '../filter/condition.ts';
import { forget, useResource } from '../resource.ts';
import type { PageProps } from '../router.ts';
import { navigate } from '../router.ts';
import { kindNamer } from '../text/namer.ts';
import { Confirm, Dialog } from '../ui/dialog.tsx';
import { Fault } from '../ui/fault.tsx';
import { Icon } from '../ui/icon.tsx';
import { Loading } from '../ui/loading.tsx';
import { Menu, MenuItem } from '../ui/menu.tsx';
import { toast } from '../ui/toasts.tsx';
import { currentOrg, hasRole, Role, workspace } from '../workspace.ts';
import {
  projectSubject,
  projectSubscriptionType,
  type Subscription,
  statusOf,
  subjects,
  subscriptionTypes,
  type Webhook,
  webhooksApi,
} from './api.ts';
import { DeliveryLog } from './delivery-log.tsx';
import { Recover } from './recover.tsx';
import { conditionOf } from './subscription-fields.tsx';
import { WebhookForm } from './webhook-form.tsx';

export function Page({ params }: PageProps) {
  const orgId = currentOrg.value?.id;
  const id = params['webhook'] ?? '';
  const list = useResource(orgId ? `webhooks ${orgId}` : undefined, () =>
    webhooksApi.list(orgId ?? ''),
  );
  const webhook = list.data?.webhooks.find((one) => one.id === id);
  if (list.error) return <Fault cause={list.error} retry={list.reload} />;
  if (!orgId || !list.data) return <Loading of="the webhook" />;
  const back = `/p/${params['project']}/webhooks`;
  if (!webhook)
    return (
      <section class="empty">
        <h1 tabIndex={-1}>No such webhook</h1>
        <p>It was deleted.</p>
        <a class="button" href={back}>
          All webhooks
        </a>
      </section>
    );
  return <One orgId={orgId} webhook={webhook} back={back} reload={list.reload} />;
}

type Open = 'edit' | 'delete' | 'test' | 'recover' | undefined;

function One(props: { orgId: string; webhook: Webhook; back: string; reload: () => void }) {
  const { orgId, webhook, reload } = props;
  const [open, setOpen] = useState<Open>();
  const close = (): void => setOpen(undefined);
  const does = async (
    work: () => Promise<unknown>,
    done: string,
    next: () => void = reload,
  ): Promise<void> => {
    try {
      await work();
      toast(done);
      next();
    } catch (cause) {
      toast(explain(cause).what);
    }
  };
  const turn = (status: string, done: string): void =>
    void does(() => webhooksApi.update(orgId, webhook.id, { status }), done);
  const remove = (): Promise<void> =>
    does(
      () => webhooksApi.remove(orgId, webhook.id),
      'Deleted',
      () => {
        forget(`webhooks ${orgId}`);
        navigate(props.back);
      },
    );
  return (
    <>
      <div class="page-head">
        <div class="row">
          <h1 tabIndex={-1}>{webhook.name}</h1>
          <span class="badge" data-tone={statusOf(webhook.status).tone}>
            {statusOf(webhook.status).name}
          </span>
        </div>
        <Actions status={webhook.status} open={setOpen} turn={turn} />
      </div>
      <Facts webhook={webhook} />
      <DeliveryLog orgId={orgId} webhookId={webhook.id} />
      {open === 'edit' ? (
        <Edit orgId={orgId} webhook={webhook} onClose={close} onSaved={reload} />
      ) : null}
      {open === 'delete' ? (
        <Confirm
          title={`Delete ${webhook.name}`}
          action="Delete it"
          onConfirm={remove}
          onClose={close}
        >
          <p>Deliveries that wait are dropped. Its log stays for 30 days.</p>
        </Confirm>
      ) : null}
      {open === 'test' ? (
        <SendTest
          webhook={webhook}
          onClose={close}
          send={(event) => {
            close();
            void does(() => webhooksApi.test(orgId, webhook.id, event), 'The test is on its way');
          }}
        />
      ) : null}
      {open === 'recover' ? <Recover orgId={orgId} webhookId={webhook.id} onClose={close} /> : null}
    </>
  );
}

function Facts({ webhook }: { webhook: Webhook }) {
  return (
    <section class="card">
      {webhook.status === 'WEBHOOK_STATUS_PAUSED' ? (
        <p class="fault">
          It was paused after failures that went on. Deliveries are recorded meanwhile: mend the
          endpoint, resume, then redeliver the time range.
        </p>
      ) : null}
      <h2>Sends to</h2>
      <p class="mono whole">{webhook.endpoint_url}</p>
      {webhook.description ? <p class="hint">{webhook.description}</p> : null}
      <h3>When</h3>
      <ul>
        {webhook.subscriptions.map((one) => (
          <li key={JSON.stringify(one)}>
            <When subscription={one} />
          </li>
        ))}
      </ul>
    </section>
  );
}

function When({ subscription: one }: { subscription: Subscription }) {
  const type = subscriptionTypes.find(({ value }) => value === one.subscription_type)?.name;
  if (one.subject_type === projectSubject) {
    const { kinds = [], properties = [] } = one.filter ?? {};
    const isOfEvents = one.subscription_type === projectSubscriptionType;
    const project = workspace.value?.projects.find(({ id }) => id === one.subject_id);
    const where = properties.map((filter) => inWords(conditionOf(filter))).join(', ');
    return (
      <>
        {type} · project: {project?.displayName ?? <code>{one.subject_id}</code>}
        {isOfEvents
          ? ` · ${kinds.length > 0 ? kinds.map(kindNamer(kinds)).join(', ') : 'any event'}`
          : ''}
        {where ? ` · where ${where}` : ''}
      </>
    );
  }
  return (
    <>
      {type} · {subjects.find(({ value }) => value === one.subject_type)?.name.toLowerCase()}:{' '}
      <code>{one.subject_id}</code>
      {one.filter?.room_type ? ` · rooms of type ${one.filter.room_type}` : ''}
    </>
  );
}

function SendTest(props: { webhook: Webhook; onClose: () => void; send: (event: string) => void }) {
  const [first] = props.webhook.subscriptions;
  const own = subscriptionTypes.find(({ value }) => value === first?.subscription_type);
  const [event, setEvent] = useState<string>((own ?? subscriptionTypes[0]).event);
  return (
    <Dialog title="Send a test" onClose={props.onClose}>
      <p>An example event is signed and delivered like a real one.</p>
      <Select
        label="Event"
        value={event}
        options={subscriptionTypes.map((one) => ({ value: one.event, name: one.name }))}
        onValue={setEvent}
      />
      <div class="row end">
        <button type="button" class="primary" onClick={() => props.send(event)}>
          Send it
        </button>
      </div>
    </Dialog>
  );
}

function Actions(props: {
  status: string;
  open: (dialog: Open) => void;
  turn: (status: string, done: string) => void;
}) {
  if (!hasRole(Role.ADMIN)) return null;
  const isActive = props.status === 'WEBHOOK_STATUS_ACTIVE';
  return (
    <div class="row">
      {isActive ? (
        <button type="button" onClick={() => props.open('test')}>
          <Icon name="send" />
          Send a test
        </button>
      ) : (
        <button
          type="button"
          class="primary"
          onClick={() =>
            props.turn('WEBHOOK_STATUS_ACTIVE', 'Active: counting of failures begins anew')
          }
        >
          <Icon name="play" />
          Resume
        </button>
      )}
      <Menu label="More" align="end" button={<>More</>}>
        <MenuItem onChoose={() => props.open('edit')}>Change it</MenuItem>
        <MenuItem onChoose={() => props.open('recover')}>Redeliver a time range</MenuItem>
        {isActive ? (
          <MenuItem
            onChoose={() => props.turn('WEBHOOK_STATUS_INACTIVE', 'Inactive: nothing is sent')}
          >
            Turn it off
          </MenuItem>
        ) : null}
        <MenuItem isDanger onChoose={() => props.open('delete')}>
          Delete it
        </MenuItem>
      </Menu>
    </div>
  );
}

function Edit(props: {
  orgId: string;
  webhook: Webhook;
  onClose: () => void;
  onSaved: () => void;
}) {
  const { orgId, webhook, onClose, onSaved } = props;
  return (
    <Dialog title={`Change ${webhook.name}`} onClose={onClose}>
      <WebhookForm
        action="Save"
        start={webhook}
        send={async ({ name, description, endpoint_url, subscriptions }) => {
          const content = { name, description, endpoint_url, subscriptions };
          await webhooksApi.update(orgId, webhook.id, content);
          onClose();
          onSaved();
        }}
      />
    </Dialog>
  );
}
