// The reader's projects, each with its last day. A single one is opened at once.

import { useEffect, useState } from 'preact/hooks';
import { plural } from '../../platform/words/figures.ts';
import type { Project } from '../../proto/gen/dashboard/projects/v1/projects_pb.js';
import { Sparkline } from '../charts/sparkline.tsx';
import { useResource } from '../resource.ts';
import { address, navigate } from '../router.ts';
import { SecondFactorFirst } from '../settings/people/second-factor-rule.tsx';
import { ago, toDate } from '../time/time.tsx';
import { Fault } from '../ui/fault.tsx';
import { Icon } from '../ui/icon.tsx';
import { Loading } from '../ui/loading.tsx';
import { loadWorkspace, Role, workspace, workspaceFault } from '../workspace.ts';
import { loadLastDay } from './last-day.ts';
import { NewProject } from './new-project.tsx';
import '../styles/projects.css';

export function Page() {
  const loaded = workspace.value;
  const [isMaking, setMaking] = useState(false);
  // `/?all&new`: the menu of projects leads to the dialog.
  const isAsked = address.value.query.has('new');
  const close = (): void => {
    setMaking(false);
    if (isAsked) navigate('/?all', { replace: true });
  };
  const only = loaded?.projects.length === 1 ? loaded.projects[0] : undefined;
  // `/?all` is the way to the list from the project itself.
  const closed = loaded?.orgs.filter(({ lacksSecondFactor }) => lacksSecondFactor) ?? [];
  const goesOn = only !== undefined && closed.length === 0 && !address.value.query.has('all');
  useEffect(() => {
    // `/?setup`: of a new account, whose project has no event yet.
    const page = address.value.query.has('setup') ? '/setup' : '';
    if (goesOn) navigate(`/p/${only.id}${page}`, { replace: true });
  }, [goesOn]);
  if (workspaceFault.value)
    return <Fault cause={workspaceFault.value} retry={() => void loadWorkspace()} />;
  if (!loaded || goesOn) return <Loading of="your projects" />;
  const mayMake = loaded.orgs.some(({ role }) => role >= Role.ADMIN);
  return (
    <>
      <div class="page-head">
        <h1 tabIndex={-1}>Projects</h1>
        {mayMake ? (
          <button type="button" class="primary" onClick={() => setMaking(true)}>
            <Icon name="plus" />
            New project
          </button>
        ) : null}
      </div>
      {closed.map((org) => (
        <SecondFactorFirst key={org.id} org={org} />
      ))}
      {loaded.projects.length === 0 && closed.length === 0 ? (
        <section class="empty">
          <h2>No project yet</h2>
          <p>
            A project holds the events of one site or app. Ask an admin for an invitation, or make
            one where you are an admin.
          </p>
        </section>
      ) : null}
      {loaded.orgs.map((org) => {
        const projects = loaded.projects.filter(({ orgId }) => orgId === org.id);
        if (projects.length === 0) return null;
        return (
          <section key={org.id} class="stack">
            <h2>{org.displayName}</h2>
            <ul class="cards">
              {projects.map((project) => (
                <li key={project.id}>
                  <ProjectCard project={project} />
                </li>
              ))}
            </ul>
          </section>
        );
      })}
      {mayMake && (isMaking || isAsked) ? <NewProject onClose={close} /> : null}
    </>
  );
}

function ProjectCard({ project }: { project: Project }) {
  const { data, error } = useResource(`last day ${project.id}`, (end) =>
    loadLastDay(project.id, end),
  );
  const total = (data?.hours ?? []).reduce((sum, value) => sum + value, 0);
  const note = data?.last
    ? `${plural(total, 'event')} in 24 h, the last ${ago(toDate(data.last))}`
    : 'No event yet';
  return (
    <a class="card project-card" href={`/p/${project.id}${data && !data.last ? '/setup' : ''}`}>
      <h3>{project.displayName}</h3>
      <Sparkline values={data?.hours ?? []} />
      <small>{error ? 'Its figures could not be loaded' : data ? note : ' '}</small>
    </a>
  );
}
