// What is left out of the events that a project's public keys send.

import { useState } from 'preact/hooks';
import type { Project } from '../../proto/gen/dashboard/projects/v1/projects_pb.js';
import { inProject } from '../client.ts';
import { TextArea } from '../fields/field.tsx';
import { Form } from '../fields/form.tsx';
import { toast } from '../ui/toasts.tsx';
import { hasRole, loadWorkspace, projectsClient, Role } from '../workspace.ts';
import { linesOf, textOfLines } from './lines.ts';

type Lists = Record<keyof typeof names, readonly string[]>;

const names = {
  networks: 'Networks',
  paths: 'Paths',
  countries: 'Countries',
  userAgents: 'User agents',
};

const hints: Record<keyof Lists, string> = {
  networks: 'Addresses, or networks such as 203.0.113.0/24: the office, your own line.',
  paths: 'Whole paths of pages; a star is any text: /admin/*',
  countries: 'Two letters: DE. Asked where the service knows places.',
  userAgents: 'A part of the agent, whatever its case: HeadlessChrome',
};

const lists: readonly (keyof Lists)[] = ['networks', 'paths', 'countries', 'userAgents'];

export function Exclusions({ project }: { project: Project }) {
  const kept = listsOf(project);
  return (
    <section class="card">
      <h2>Exclusions</h2>
      {hasRole(Role.ADMIN) ? (
        <ExclusionsForm project={project} />
      ) : (
        <p class="hint">
          {lists.every((name) => kept[name].length === 0)
            ? 'Nothing is left out.'
            : lists
                .filter((name) => kept[name].length > 0)
                .map((name) => `${names[name]}: ${kept[name].join(', ')}.`)
                .join(' ')}
        </p>
      )}
    </section>
  );
}

function ExclusionsForm({ project }: { project: Project }) {
  const [texts, setTexts] = useState(() => textsOf(project));
  const save = async (): Promise<void> => {
    const exclusions = {
      networks: linesOf(texts.networks),
      paths: linesOf(texts.paths),
      countries: linesOf(texts.countries),
      userAgents: linesOf(texts.userAgents),
    };
    const answer = await projectsClient.update(
      { id: project.id, exclusions },
      inProject(project.id),
    );
    if (answer.project) setTexts(textsOf(answer.project));
    await loadWorkspace();
    toast('Saved');
  };
  return (
    <Form action="Save" send={save}>
      <p>
        Events of a public key that one of these names are counted, and not stored: see{' '}
        <a href={`/p/${project.id}/events?tab=refused`}>refused events</a>. One per line.
      </p>
      {lists.map((name) => (
        <TextArea
          key={name}
          label={names[name]}
          hint={hints[name]}
          rows={2}
          value={texts[name]}
          onValue={(text) => setTexts({ ...texts, [name]: text })}
        />
      ))}
    </Form>
  );
}

function listsOf({ exclusions }: Project): Lists {
  const { networks = [], paths = [], countries = [], userAgents = [] } = exclusions ?? {};
  return { networks, paths, countries, userAgents };
}

function textsOf(project: Project): Record<keyof Lists, string> {
  const { networks, paths, countries, userAgents } = listsOf(project);
  return {
    networks: textOfLines(networks),
    paths: textOfLines(paths),
    countries: textOfLines(countries),
    userAgents: textOfLines(userAgents),
  };
}
