// The annotations of a project with the form that makes and changes one: in the settings, and in a dialog of a chart.

import { useState } from 'preact/hooks';
import type { Annotation } from '../../proto/gen/dashboard/annotations/v1/annotations_pb.js';
import type { Project } from '../../proto/gen/dashboard/projects/v1/projects_pb.js';
import { Field } from '../fields/field.tsx';
import { Form } from '../fields/form.tsx';
import { useResource } from '../resource.ts';
import { Action } from '../settings/action.tsx';
import { Time, toDate } from '../time/time.tsx';
import { momentOfText, wallText } from '../time/zone.ts';
import { Fault } from '../ui/fault.tsx';
import { Loading } from '../ui/loading.tsx';
import { toast } from '../ui/toasts.tsx';
import { hasRole, Role } from '../workspace.ts';
import { deleteAnnotation, listAnnotations, saveAnnotation } from './annotations-client.ts';
import { readAnnotations } from './known-annotations.ts';

/** `at`: when a new one begins, as a bucket's label; now unless given. */
export function Annotations(props: { project: Project; at?: string | undefined }) {
  const { project, at } = props;
  const list = useResource(`annotations ${project.id}`, (end) => listAnnotations(project.id, end));
  const [edited, setEdited] = useState<Annotation>();
  const mayWrite = hasRole(Role.MEMBER);
  const changed = (): void => {
    setEdited(undefined);
    list.reload();
    void readAnnotations(project.id);
  };
  return (
    <>
      {mayWrite ? (
        <AnnotationForm
          key={edited?.id ?? list.data?.length}
          project={project}
          before={edited}
          start={at === undefined ? new Date() : new Date(at)}
          onSaved={changed}
          onCancel={() => setEdited(undefined)}
        />
      ) : (
        <p class="hint">Members of the organization write them.</p>
      )}
      <Fault cause={list.error} retry={list.reload} />
      {list.isLoading && !list.data ? <Loading of="annotations" /> : null}
      {list.data?.length === 0 ? (
        <p class="hint">
          None yet. A release, a campaign, an outage: each chart of time shows what happened then.
        </p>
      ) : null}
      {list.data && list.data.length > 0 ? (
        <div class="scroll" tabIndex={0} role="region" aria-label="Annotations: table">
          <table class="stacks">
            <thead>
              <tr>
                <th scope="col">Time</th>
                <th scope="col">What happened</th>
                <th scope="col">
                  <span class="unseen">Actions</span>
                </th>
              </tr>
            </thead>
            <tbody>
              {list.data.map((one) => (
                <Row
                  key={one.id}
                  annotation={one}
                  projectId={project.id}
                  mayWrite={mayWrite}
                  onEdit={() => setEdited(one)}
                  onDeleted={changed}
                />
              ))}
            </tbody>
          </table>
        </div>
      ) : null}
    </>
  );
}

function AnnotationForm(props: {
  project: Project;
  before: Annotation | undefined;
  start: Date;
  onSaved: () => void;
  onCancel: () => void;
}) {
  const { project, before } = props;
  const zone = project.timezone || 'UTC';
  const [text, setText] = useState(before?.text ?? '');
  const [at, setAt] = useState(wallText(before?.time ? toDate(before.time) : props.start, zone));
  const moment = momentOfText(at, zone);
  const save = async (): Promise<void> => {
    if (moment === undefined) return;
    await saveAnnotation(project.id, { id: before?.id, at: moment, text });
    toast('Saved: charts show it');
    props.onSaved();
  };
  return (
    <Form
      action={before ? 'Save the annotation' : 'Add the annotation'}
      send={save}
      isReady={text.trim() !== '' && moment !== undefined}
    >
      <Field
        label="What happened"
        placeholder="Release 2.0"
        maxLength={300}
        required
        value={text}
        onValue={setText}
      />
      <Field
        label="Time"
        type="datetime-local"
        hint={`On the clock of ${zone}.`}
        required
        value={at}
        onValue={setAt}
      />
      {before ? (
        <button type="button" class="link" onClick={props.onCancel}>
          Write a new one instead
        </button>
      ) : null}
    </Form>
  );
}

function Row(props: {
  annotation: Annotation;
  projectId: string;
  mayWrite: boolean;
  onEdit: () => void;
  onDeleted: () => void;
}) {
  const { id, time, text } = props.annotation;
  return (
    <tr>
      <td>
        <Time at={time} />
      </td>
      <td>{text}</td>
      <td class="number">
        {props.mayWrite ? (
          <span class="row tight">
            <button type="button" class="link" aria-label={`Edit ${text}`} onClick={props.onEdit}>
              Edit
            </button>
            <Action
              class="link danger-text"
              label={`Delete ${text}`}
              done="Deleted"
              run={async () => {
                await deleteAnnotation(props.projectId, id);
                props.onDeleted();
              }}
            >
              Delete
            </Action>
          </span>
        ) : null}
      </td>
    </tr>
  );
}
