// From nothing to the first event: the key, what to put where, and a list that ticks itself while one looks.

import { createClient } from '@connectrpc/connect';
import { useState } from 'preact/hooks';
import {
  type ApiKey,
  ApiKeyKind,
  ProjectsService,
} from '../../proto/gen/dashboard/projects/v1/projects_pb.js';
import { inProject, transport } from '../client.ts';
import { Select } from '../fields/field.tsx';
import { Form } from '../fields/form.tsx';
import { forget, useResource } from '../resource.ts';
import type { PageProps } from '../router.ts';
import { Code, CopyButton } from '../ui/copy.tsx';
import { Fault } from '../ui/fault.tsx';
import { Loading } from '../ui/loading.tsx';
import { Tabs, useTab } from '../ui/tabs.tsx';
import { hasRole, Role } from '../workspace.ts';
import { Checklist } from './checklist.tsx';
import {
  type Consent,
  callsSnippet,
  curlSnippet,
  htmlSnippet,
  identifyCurl,
  nodeSnippet,
} from './snippets.ts';
import { vendorSnippets } from './vendor-snippets.ts';
import { VendorWay } from './vendor-way.tsx';
import '../styles/setup.css';

const projects = createClient(ProjectsService, transport);

export function Page({ params }: PageProps) {
  const projectId = params['project'] ?? '';
  const keys = useResource(`keys ${projectId}`, (end) =>
    projects.listApiKeys({}, inProject(projectId, end)),
  );
  const publicKeys = (keys.data?.apiKeys ?? []).filter(({ kind }) => kind === ApiKeyKind.PUBLIC);
  const [chosen, setChosen] = useState('');
  const key = publicKeys.find(({ id }) => id === chosen) ?? publicKeys[0];
  return (
    <>
      <div class="page-head">
        <h1 tabIndex={-1}>Setup</h1>
      </div>
      <Fault cause={keys.error} retry={keys.reload} />
      {keys.data === undefined && !keys.error ? <Loading of="the project’s keys" /> : null}
      {keys.data && !key ? (
        <NoKey
          projectId={projectId}
          onMade={() => {
            forget(`keys ${projectId}`);
            keys.reload();
          }}
        />
      ) : null}
      {key ? (
        <div class="setup">
          <div class="stack">
            <KeyCard keys={publicKeys} apiKey={key} onChoose={setChosen} />
            <Ways projectId={projectId} apiKey={key.key} />
          </div>
          <Checklist projectId={projectId} publicKey={key.key} />
        </div>
      ) : null}
    </>
  );
}

function KeyCard(props: {
  keys: readonly ApiKey[];
  apiKey: ApiKey;
  onChoose: (id: string) => void;
}) {
  const { keys, apiKey } = props;
  return (
    <section class="card">
      <header>
        <h2>The project’s public key</h2>
      </header>
      {keys.length > 1 ? (
        <Select
          label="Key"
          isLabelHidden
          value={apiKey.id}
          options={keys.map(({ id, displayName, key }) => ({
            value: id,
            name: `${displayName} (${key.slice(0, 10)}…)`,
          }))}
          onValue={props.onChoose}
        />
      ) : null}
      <div class="row tight setup-key-row">
        <code class="setup-key">{apiKey.key}</code>
        <CopyButton text={apiKey.key} what="The key" />
      </div>
      <p class="hint">It can only write, so it may stand in a page for everybody to see.</p>
    </section>
  );
}

const ownWays = [
  { id: 'page', name: 'Web page' },
  { id: 'node', name: 'Node' },
  { id: 'curl', name: 'curl' },
] as const;
const ways: readonly { id: string; name: string }[] = [...ownWays, ...vendorSnippets];

const consents: { value: Consent; name: string; hint: string }[] = [
  {
    value: 'cookieless',
    name: 'Cookieless: counted per day',
    hint: 'Nothing is stored in the browser: a visitor is another one each day.',
  },
  {
    value: 'granted',
    name: 'With consent: users return',
    hint: 'The browser keeps an id: visitors and visits are known again.',
  },
  {
    value: 'denied',
    name: 'Off until the page says so',
    hint: 'Nothing is sent before the page says that the visitor agrees.',
  },
];

function Ways({ projectId, apiKey }: { projectId: string; apiKey: string }) {
  const way = useTab(ways) ?? 'page';
  return (
    <section class="card">
      <header>
        <h2>Send events</h2>
      </header>
      <Tabs label="Ways to send" tabs={ways} />
      <AnyWay way={way} projectId={projectId} apiKey={apiKey} />
    </section>
  );
}

function AnyWay(props: { way: string; projectId: string; apiKey: string }) {
  const { way, ...rest } = props;
  const of = { origin: window.location.origin, key: props.apiKey };
  const vendor = vendorSnippets.find(({ id }) => id === way);
  const own = ownWays.find(({ id }) => id === way) ?? ownWays[0];
  return vendor ? <VendorWay vendor={vendor} of={of} /> : <Way way={own.id} {...rest} />;
}

function Way(props: { way: (typeof ownWays)[number]['id']; projectId: string; apiKey: string }) {
  const [consent, setConsent] = useState<Consent>('cookieless');
  const of = { origin: window.location.origin, key: props.apiKey };
  switch (props.way) {
    case 'page':
      return (
        <>
          <p>
            Put this line into the head of each page. Page views, links to other sites and downloads
            follow by themselves.
          </p>
          <Select
            label="Consent"
            hint={consents.find(({ value }) => value === consent)?.hint}
            value={consent}
            options={consents}
            onValue={setConsent}
          />
          <Code text={htmlSnippet(of, consent)} what="The line for the page" />
          <p>Then tell what else happens:</p>
          <Code text={callsSnippet} what="Calls of the script" />
        </>
      );
    case 'node':
      return (
        <>
          <p>
            Copy <code>sdk/node/client.ts</code> and <code>typed-event.ts</code> beside it from
            Millrace into your program; they need Node and nothing else. The key is a private one
            from <a href={`/p/${props.projectId}/settings`}>the project’s settings</a>; the public
            one works too.
          </p>
          <Code text={nodeSnippet(of)} what="The program" />
        </>
      );
    case 'curl':
      return (
        <>
          <p>An event, in the form that every SDK sends:</p>
          <Code text={curlSnippet(of)} what="The command for an event" />
          <p>Name the user, with traits:</p>
          <Code text={identifyCurl(of)} what="The command for a user" />
        </>
      );
    default:
      return props.way satisfies never;
  }
}

function NoKey({ projectId, onMade }: { projectId: string; onMade: () => void }) {
  return (
    <section class="empty">
      <h2>The project has no public key</h2>
      {hasRole(Role.ADMIN) ? (
        <Form
          action="Create public key"
          send={async () => {
            await projects.createApiKey(
              { displayName: 'Web', kind: ApiKeyKind.PUBLIC },
              inProject(projectId),
            );
            onMade();
          }}
        >
          <p>Senders show it with each event. It can write and not read.</p>
        </Form>
      ) : (
        <p>An admin of the organization can make one here.</p>
      )}
    </section>
  );
}
