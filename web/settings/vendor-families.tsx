// Which other vendors' SDKs may send to a project.

import { useState } from 'preact/hooks';
import type { Project } from '../../proto/gen/dashboard/projects/v1/projects_pb.js';
import { inProject } from '../client.ts';
import { Check } from '../fields/field.tsx';
import { Form } from '../fields/form.tsx';
import { vendorSnippets } from '../setup/vendor-snippets.ts';
import { toast } from '../ui/toasts.tsx';
import { hasRole, loadWorkspace, projectsClient, Role } from '../workspace.ts';

export function VendorFamilies({ project }: { project: Project }) {
  const [families, setFamilies] = useState<readonly string[]>(project.compat);
  const named = vendorSnippets.filter(({ id }) => project.compat.includes(id));
  const save = async (): Promise<void> => {
    const compat = { families: [...families] };
    await projectsClient.update({ id: project.id, compat }, inProject(project.id));
    await loadWorkspace();
    toast('Saved');
  };
  return (
    <section class="card">
      <h2>SDKs of other vendors</h2>
      {hasRole(Role.ADMIN) ? (
        <Form action="Save" send={save}>
          <p>
            SDKs that pages and programs have already may send here, once{' '}
            <a href={`/p/${project.id}/setup`}>their address and key</a> are this service’s.
          </p>
          <div class="checks">
            {vendorSnippets.map(({ id, name }) => (
              <Check
                key={id}
                label={name}
                checked={families.includes(id)}
                onValue={(isOn) =>
                  setFamilies(isOn ? [...families, id] : families.filter((family) => family !== id))
                }
              />
            ))}
          </div>
        </Form>
      ) : (
        <p class="hint">
          {named.length === 0
            ? 'None may send.'
            : `${named.map(({ name }) => name).join(', ')} may send.`}
        </p>
      )}
    </section>
  );
}
