// For how many days a project keeps its events: what goes is said before it goes.

import { useState } from 'preact/hooks';
import type { Project } from '../../proto/gen/dashboard/projects/v1/projects_pb.js';
import { inProject } from '../client.ts';
import { Check, Field } from '../fields/field.tsx';
import { Form } from '../fields/form.tsx';
import { forgetAll } from '../resource.ts';
import { toast } from '../ui/toasts.tsx';
import { hasRole, loadWorkspace, projectsClient, Role } from '../workspace.ts';
import { lastDayThatGoes } from './last-day.ts';

export function RetentionDays({ project }: { project: Project }) {
  const { retentionDays } = project;
  return (
    <section class="card">
      <h2>How long events are kept</h2>
      {hasRole(Role.ADMIN) ? (
        <RetentionForm project={project} />
      ) : (
        <p class="hint">
          {retentionDays === 0
            ? 'Events are kept for ever.'
            : `Events are kept for ${retentionDays} days.`}
        </p>
      )}
    </section>
  );
}

const shown = (days: number): string => (days === 0 ? '' : String(days));

function RetentionForm({ project }: { project: Project }) {
  const [text, setText] = useState(shown(project.retentionDays));
  const [isSure, setSure] = useState(false);
  const days = text.trim() === '' ? 0 : Number(text);
  const lastDay = lastDayThatGoes(project.retentionDays, days, Date.now());
  const save = async (): Promise<void> => {
    const { project: saved } = await projectsClient.update(
      { id: project.id, retentionDays: days },
      inProject(project.id),
    );
    setText(shown(saved?.retentionDays ?? 0));
    setSure(false);
    await loadWorkspace();
    // Answers with older events.
    forgetAll();
    toast('Saved');
  };
  return (
    <Form
      action="Save"
      send={save}
      isReady={Number.isInteger(days) && (lastDay === undefined || isSure)}
    >
      <Field
        label="Days"
        hint="1 to 3,650; empty: for ever. Days of UTC: today and so many before it. Users and their traits are not events and stay."
        placeholder="For ever"
        type="number"
        min="1"
        max="3650"
        value={text}
        onValue={(next) => {
          setText(next);
          setSure(false);
        }}
      />
      {lastDay === undefined ? null : (
        <>
          <p class="hint bad" role="status">
            All events up to {lastDay} (UTC) are in no answer from now on, and are deleted within a
            day: from charts, visits, the lists of events, what users add up to, and kept exports.
            Nothing brings them back, a larger number neither. Export them before, if you may need
            them.
          </p>
          <Check label={`Delete the events up to ${lastDay}`} checked={isSure} onValue={setSure} />
        </>
      )}
    </Form>
  );
}
