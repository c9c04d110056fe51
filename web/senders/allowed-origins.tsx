// The origins whose pages may send to a project.

import { useState } from 'preact/hooks';
import type { Project } from '../../proto/gen/dashboard/projects/v1/projects_pb.js';
import { inProject } from '../client.ts';
import { TextArea } from '../fields/field.tsx';
import { Form } from '../fields/form.tsx';
import { toast } from '../ui/toasts.tsx';
import { hasRole, loadWorkspace, projectsClient, Role } from '../workspace.ts';
import { linesOf, textOfLines } from './lines.ts';

export function AllowedOrigins({ project }: { project: Project }) {
  const [text, setText] = useState(textOfLines(project.allowedOrigins));
  const save = async (): Promise<void> => {
    const allowedOrigins = { origins: linesOf(text) };
    const { project: saved } = await projectsClient.update(
      { id: project.id, allowedOrigins },
      inProject(project.id),
    );
    setText(textOfLines(saved?.allowedOrigins ?? []));
    await loadWorkspace();
    toast('Saved');
  };
  return (
    <section class="card">
      <h2>Allowed origins</h2>
      {hasRole(Role.ADMIN) ? (
        <Form action="Save" send={save}>
          <TextArea
            label="Origins whose pages may send"
            hint="One per line: https://example.com, example.com:8080, *.example.com. None: every page may send that has a public key. Programs and private keys are not asked."
            rows={3}
            value={text}
            onValue={setText}
          />
        </Form>
      ) : (
        <p class="hint">
          {project.allowedOrigins.length === 0
            ? 'Pages of every origin may send.'
            : `Pages of ${project.allowedOrigins.join(', ')} may send.`}
        </p>
      )}
    </section>
  );
}
