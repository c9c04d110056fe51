// An organization: its name, whether it asks for a second factor, its members and invitations, its keys, its mail.

import { useState } from 'preact/hooks';
import type { Org } from '../../proto/gen/dashboard/orgs/v1/orgs_pb.js';
import { DeleteOrg } from '../deletions/delete-org.tsx';
import { DeletedProjects } from '../deletions/deleted-projects.tsx';
import { Field } from '../fields/field.tsx';
import { Form } from '../fields/form.tsx';
import type { PageProps } from '../router.ts';
import { navigate } from '../router.ts';
import { Confirm } from '../ui/dialog.tsx';
import { Loading } from '../ui/loading.tsx';
import { Tabs, useTab } from '../ui/tabs.tsx';
import { toast } from '../ui/toasts.tsx';
import { loadWorkspace, orgsClient, Role, workspace } from '../workspace.ts';
import { MailProvider } from './mail-provider.tsx';
import { Members } from './members.tsx';
import { OrgKeys } from './org-keys.tsx';
import { SecondFactorFirst, SecondFactorRule } from './people/second-factor-rule.tsx';

const tabs = [
  { id: 'members', name: 'Members' },
  { id: 'keys', name: 'Organization keys' },
  { id: 'mail', name: 'Mail' },
  { id: 'general', name: 'General' },
] as const;

export function Page({ params }: PageProps) {
  if (!workspace.value) return <Loading of="the organization" />;
  const org = workspace.value.orgs.find(({ id }) => id === params['org']);
  if (!org)
    return (
      <section class="empty">
        <h1 tabIndex={-1}>No such organization</h1>
        <p>You are not a member of it.</p>
        <a class="button" href="/?all">
          Your projects
        </a>
      </section>
    );
  return (
    <>
      <div class="page-head">
        <h1 tabIndex={-1}>{org.displayName}</h1>
      </div>
      {org.lacksSecondFactor ? <SecondFactorFirst org={org} /> : <Parts org={org} />}
    </>
  );
}

function Parts({ org }: { org: Org }) {
  const tab = useTab(tabs);
  return (
    <>
      <Tabs label="Organization" tabs={tabs} />
      {tab === 'members' ? <Members org={org} /> : null}
      {tab === 'keys' ? <OrgKeys org={org} /> : null}
      {tab === 'mail' ? <MailProvider org={org} /> : null}
      {tab === 'general' ? <General org={org} /> : null}
    </>
  );
}

function General({ org }: { org: Org }) {
  const [displayName, setDisplayName] = useState(org.displayName);
  const [isLeaving, setLeaving] = useState(false);
  const save = async (): Promise<void> => {
    await orgsClient.update({ orgId: org.id, id: org.id, displayName });
    await loadWorkspace();
    toast('Saved');
  };
  const leave = async (): Promise<void> => {
    await orgsClient.leave({ orgId: org.id });
    await loadWorkspace();
    navigate('/');
  };
  return (
    <>
      {org.role >= Role.ADMIN ? (
        <section class="card">
          <h2>Name</h2>
          <Form action="Save" send={save} isReady={displayName.trim() !== ''}>
            <Field label="Name" maxLength={150} value={displayName} onValue={setDisplayName} />
          </Form>
        </section>
      ) : null}
      {org.role >= Role.ADMIN ? <SecondFactorRule org={org} /> : null}
      {org.role >= Role.ADMIN ? <DeletedProjects key={org.id} org={org} /> : null}
      <section class="card">
        <h2>Leave</h2>
        <p class="hint">You lose its projects at once. Its last admin cannot leave.</p>
        <div>
          <button type="button" onClick={() => setLeaving(true)}>
            Leave {org.displayName}
          </button>
        </div>
      </section>
      {org.role >= Role.ADMIN ? <DeleteOrg key={org.id} org={org} /> : null}
      {isLeaving ? (
        <Confirm
          title={`Leave ${org.displayName}`}
          action="Leave it"
          onClose={() => setLeaving(false)}
          onConfirm={leave}
        >
          <p>Only an admin can bring you back.</p>
        </Confirm>
      ) : null}
    </>
  );
}
