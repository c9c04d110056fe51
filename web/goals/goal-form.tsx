// The fields of a goal, for a new one and for changes.

import { create } from '@bufbuild/protobuf';
import { useState } from 'preact/hooks';
import {
  type EventFilter,
  EventFilterSchema,
  PropertyFilterSchema,
} from '../../proto/gen/common/v1/filter_pb.js';
import type { Goal } from '../../proto/gen/dashboard/goals/v1/goals_pb.js';
import { inProject } from '../client.ts';
import { Field } from '../fields/field.tsx';
import { Form } from '../fields/form.tsx';
import { isValue } from '../question/rows-link.ts';
import { NumberPropertyField, ScopeFields } from '../question/scope-fields.tsx';
import { Dialog } from '../ui/dialog.tsx';
import { toast } from '../ui/toasts.tsx';
import { currentProject } from '../workspace.ts';
import { goalsClient } from './goals-client.ts';

/** Without `before` the goal is new. */
export function GoalDialog(props: {
  projectId: string;
  before?: Goal | undefined;
  onSaved: () => void;
  onClose: () => void;
}) {
  const { projectId, before } = props;
  const [displayName, setDisplayName] = useState(before?.displayName ?? '');
  const [event, setEvent] = useState(
    create(EventFilterSchema, { kind: before?.kind ?? '', filters: before?.filters ?? [] }),
  );
  const [valueProperty, setValueProperty] = useState(before?.valueProperty ?? '');
  const send = async (): Promise<void> => {
    const { kind, filters } = event;
    const fields = { displayName, kind: kind.trim(), valueProperty };
    if (before) {
      const changed = { ...fields, id: before.id, filters: { filters } };
      await goalsClient.update(changed, inProject(projectId));
    } else await goalsClient.create({ ...fields, filters }, inProject(projectId));
    toast('Saved');
    props.onSaved();
  };
  return (
    <Dialog title={before ? `Change ${before.displayName}` : 'New goal'} onClose={props.onClose}>
      <Form
        action={before ? 'Save the goal' : 'Create goal'}
        send={send}
        isReady={displayName.trim() !== '' && event.kind.trim() !== ''}
      >
        <Field
          label="Name"
          placeholder="Sign-up"
          maxLength={150}
          required
          value={displayName}
          onValue={setDisplayName}
        />
        {/* The pickers have forms of their own, whose events would send this one. */}
        <div class="form-part" onSubmit={(event) => event.stopPropagation()}>
          <ScopeFields
            label="Event that reaches it"
            filtersLabel="Conditions on the event"
            placeholder="sign_up"
            scope={event}
            onChange={setEvent}
          />
        </div>
        <NumberPropertyField
          label="Revenue: a property with numbers"
          placeholder="None"
          kind={event.kind}
          value={valueProperty}
          onValue={setValueProperty}
        />
        {valueProperty.trim() === '' ? null : <Currency {...{ event, onChange: setEvent }} />}
      </Form>
    </Dialog>
  );
}

/** Amounts of all currencies are one sum, unless a condition keeps one: the project's by a click. */
function Currency(props: { event: EventFilter; onChange: (event: EventFilter) => void }) {
  const { event, onChange } = props;
  const own = currentProject.value?.currency;
  if (event.filters.some(({ property }) => property === 'currency')) return null;
  const isOwn = create(PropertyFilterSchema, own ? isValue('currency', own) : {});
  return (
    <p class="hint">
      Amounts of every currency are added up, unless a condition keeps one.{' '}
      {own ? (
        <button
          type="button"
          class="link"
          onClick={() => onChange({ ...event, filters: [...event.filters, isOwn] })}
        >
          Count {own} alone
        </button>
      ) : null}
    </p>
  );
}
