// A new project: its name, its organization, its time zone. It opens at its setup.

import { useState } from 'preact/hooks';
import { Field, Select } from '../fields/field.tsx';
import { Form } from '../fields/form.tsx';
import { ZoneField } from '../fields/zone-field.tsx';
import { navigate } from '../router.ts';
import { Dialog } from '../ui/dialog.tsx';
import { loadWorkspace, projectsClient, Role, workspace } from '../workspace.ts';

export function NewProject({ onClose }: { onClose: () => void }) {
  const orgs = (workspace.value?.orgs ?? []).filter(({ role }) => role >= Role.ADMIN);
  const [displayName, setDisplayName] = useState('');
  const [orgId, setOrgId] = useState(orgs[0]?.id ?? '');
  const [timezone, setTimezone] = useState(Intl.DateTimeFormat().resolvedOptions().timeZone);
  const send = async (): Promise<void> => {
    const { project } = await projectsClient.create({ orgId, displayName, timezone });
    await loadWorkspace();
    onClose();
    if (project) navigate(`/p/${project.id}/setup`);
  };
  return (
    <Dialog title="New project" onClose={onClose}>
      <Form action="Create project" send={send} isReady={displayName.trim() !== ''}>
        <Field label="Name" required maxLength={150} value={displayName} onValue={setDisplayName} />
        {orgs.length > 1 ? (
          <Select
            label="Organization"
            value={orgId}
            options={orgs.map((org) => ({ value: org.id, name: org.displayName }))}
            onValue={setOrgId}
          />
        ) : null}
        <ZoneField value={timezone} onValue={setTimezone} />
      </Form>
    </Dialog>
  );
}
