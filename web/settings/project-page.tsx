// A project's name, its time zone, who may send to it and what is left out, its keys, and its annotations.

import { useState } from 'preact/hooks';
import type { Project } from '../../proto/gen/dashboard/projects/v1/projects_pb.js';
import { Annotations } from '../annotations/annotations.tsx';
import { inProject } from '../client.ts';
import { DeleteProject } from '../deletions/delete-project.tsx';
import { Field, Select } from '../fields/field.tsx';
import { Form } from '../fields/form.tsx';
import { ZoneField } from '../fields/zone-field.tsx';
import { forgetAll } from '../resource.ts';
import { RetentionDays } from '../retained/retention-days.tsx';
import { AllowedOrigins } from '../senders/allowed-origins.tsx';
import { Exclusions } from '../senders/exclusions.tsx';
import { weekdayNames, weekdayOptions } from '../time/weekdays.ts';
import { toast } from '../ui/toasts.tsx';
import {
  currentOrg,
  currentProject,
  hasRole,
  loadWorkspace,
  projectsClient,
  Role,
} from '../workspace.ts';
import { ProjectKeys } from './project-keys.tsx';
import { VendorFamilies } from './vendor-families.tsx';

export function Page() {
  const project = currentProject.value;
  if (!project) return null;
  return (
    <>
      <div class="page-head">
        <h1 tabIndex={-1}>Settings</h1>
        <span class="row">
          <a href={`/p/${project.id}/settings/import`}>Import history</a>
          <a href={`/p/${project.id}/exports`}>Exports</a>
          <a href={`/o/${project.orgId}/settings`}>
            Members, mail and keys of {currentOrg.value?.displayName}
          </a>
        </span>
      </div>
      <section class="card">
        <h2>General</h2>
        {hasRole(Role.ADMIN) ? (
          <General project={project} />
        ) : (
          <p class="hint">
            Figures are in {project.timezone}, and weeks begin on{' '}
            {weekdayNames[(project.weekStart || 1) - 1]}. An admin of the organization may change
            name, zone and weeks.
          </p>
        )}
      </section>
      <VendorFamilies key={project.id} project={project} />
      <AllowedOrigins key={project.id} project={project} />
      <Exclusions key={project.id} project={project} />
      <RetentionDays key={project.id} project={project} />
      <ProjectKeys project={project} />
      <section class="card">
        <h2>Annotations</h2>
        <Annotations key={project.id} project={project} />
      </section>
      <DeleteProject key={project.id} project={project} />
    </>
  );
}

function General({ project }: { project: Project }) {
  const [displayName, setDisplayName] = useState(project.displayName);
  const [timezone, setTimezone] = useState(project.timezone || 'UTC');
  const [currency, setCurrency] = useState(project.currency);
  const [weekday, setWeekday] = useState(String(project.weekStart || 1));
  const save = async (): Promise<void> => {
    const weekStart = Number(weekday);
    const changed = { id: project.id, displayName, timezone, weekStart, currency };
    await projectsClient.update(changed, inProject(project.id));
    await loadWorkspace();
    // Answers of other days and weeks.
    forgetAll();
    toast('Saved');
  };
  return (
    <Form action="Save" send={save} isReady={displayName.trim() !== ''}>
      <Field label="Name" maxLength={150} required value={displayName} onValue={setDisplayName} />
      <ZoneField value={timezone} onValue={setTimezone} />
      <Select
        label="Weeks begin on"
        hint="Buckets of a week, this week and the week before, and weekly reports."
        value={weekday}
        options={weekdayOptions()}
        onValue={setWeekday}
      />
      <Field
        label="Currency"
        hint="Three capitals, such as EUR. Revenue in it comes first. Nothing is converted, and amounts without a currency stay apart."
        placeholder="None"
        maxLength={3}
        value={currency}
        onValue={(text) => setCurrency(text.toUpperCase())}
      />
    </Form>
  );
}
