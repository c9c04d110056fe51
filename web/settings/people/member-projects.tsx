// The projects of one member, and their change.

import { useState } from 'preact/hooks';
import type { Member } from '../../../proto/gen/dashboard/orgs/v1/orgs_pb.js';
import { Form } from '../../fields/form.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { toast } from '../../ui/toasts.tsx';
import { orgsClient } from '../../workspace.ts';
import {
  type Chosen,
  isChoice,
  ProjectChoice,
  projectNames,
  projectsField,
} from './project-choice.tsx';

export function MemberProjects(props: {
  orgId: string;
  member: Member;
  mayChange: boolean;
  onChange: () => void;
}) {
  const { orgId, member, mayChange } = props;
  const [isOpen, setOpen] = useState(false);
  const names = projectNames(orgId, member.projects?.projectIds);
  if (!mayChange) return <>{names}</>;
  return (
    <>
      <button
        type="button"
        class="link"
        aria-label={`Projects of ${member.email}: ${names}`}
        onClick={() => setOpen(true)}
      >
        {names}
      </button>
      {isOpen ? <Change {...props} onClose={() => setOpen(false)} /> : null}
    </>
  );
}

function Change(props: {
  orgId: string;
  member: Member;
  onChange: () => void;
  onClose: () => void;
}) {
  const { orgId, member, onChange, onClose } = props;
  const { customerId, email } = member;
  const [chosen, setChosen] = useState<Chosen>(member.projects?.projectIds);
  const save = async (): Promise<void> => {
    await orgsClient.updateMemberProjects({ orgId, customerId, ...projectsField(chosen) });
    onClose();
    toast(`${email} has the chosen projects`);
    onChange();
  };
  return (
    <Dialog title={`Projects of ${email}`} onClose={onClose}>
      <Form action="Save" send={save} isReady={isChoice(chosen)}>
        <p class="hint">They see neither the others nor the members of those.</p>
        <ProjectChoice orgId={orgId} chosen={chosen} onChoose={setChosen} />
      </Form>
    </Dialog>
  );
}
