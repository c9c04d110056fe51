// The fields of one subscription: of a project's events by kind and properties, or of what happens in a room.

import { fromJson } from '@bufbuild/protobuf';
import {
  FilterOperatorSchema,
  PropertyFilterSchema,
  PropertySource,
  PropertySourceSchema,
} from '../../proto/gen/common/v1/filter_pb.js';
import { Field, Select } from '../fields/field.tsx';
import { type Condition, fromPropertyFilter, toPropertyFilter } from '../filter/condition.ts';
import { FilterBar } from '../filter/filter-bar.tsx';
import { KindPicker } from '../filter/kind-picker.tsx';
import { SuggestingProject } from '../filter/schema.ts';
import { currentOrg, currentProject, projectsOf } from '../workspace.ts';
import {
  happeningTypes,
  type PropertyFilterJson,
  projectSubject,
  projectSubscriptionType,
  type Subscription,
  type SubscriptionFilter,
  subjects,
  subscriptionTypes,
} from './api.ts';

export function SubscriptionFields(props: {
  value: Subscription;
  onChange: (next: Subscription) => void;
}) {
  const { value, onChange } = props;
  return (
    <>
      <Select
        label="When"
        value={value.subscription_type}
        options={subscriptionTypes}
        onValue={(type) => onChange(ofType(value, type))}
      />
      {isOfProject(value.subscription_type) ? (
        <ProjectFields {...props} />
      ) : (
        <RoomFields {...props} />
      )}
    </>
  );
}

function isOfProject(type: string): boolean {
  return type === projectSubscriptionType || isHappening(type);
}

function isHappening(type: string): boolean {
  return happeningTypes.some((one) => one === type);
}

/** A type of the other sort has other subjects and another filter. */
function ofType(value: Subscription, subscription_type: string): Subscription {
  const isProject = isOfProject(subscription_type);
  if (isProject === isOfProject(value.subscription_type)) {
    const { filter, ...rest } = value;
    const kept = filter && !isHappening(subscription_type) ? { filter } : {};
    return { ...rest, ...kept, subscription_type };
  }
  return isProject
    ? {
        subscription_type,
        subject_type: projectSubject,
        subject_id: currentProject.value?.id ?? '',
      }
    : { subscription_type, subject_type: subjects[0].value, subject_id: '' };
}

function RoomFields(props: { value: Subscription; onChange: (next: Subscription) => void }) {
  const { value, onChange } = props;
  return (
    <div class="row">
      <Select
        label="In"
        value={value.subject_type}
        options={subjects}
        onValue={(subject_type) => onChange({ ...value, subject_type })}
      />
      <Field
        label="Its id"
        required
        value={value.subject_id}
        onValue={(subject_id) => onChange({ ...value, subject_id })}
      />
      <Field
        label="Room type"
        placeholder="any"
        value={value.filter?.room_type ?? ''}
        onValue={(room_type) => onChange({ ...value, filter: room_type ? { room_type } : {} })}
      />
    </div>
  );
}

function ProjectFields(props: { value: Subscription; onChange: (next: Subscription) => void }) {
  const { value, onChange } = props;
  const { kinds = [], properties = [] } = value.filter ?? {};
  const projects = projectsOf(currentOrg.value?.id ?? '').map(({ id, displayName }) => ({
    value: id,
    name: displayName,
  }));
  const isGone = !projects.some((one) => one.value === value.subject_id);
  const put = (next: Pick<SubscriptionFilter, 'kinds' | 'properties'>): void =>
    onChange({ ...value, filter: filterOf({ kinds, properties, ...next }) });
  return (
    // The pickers have forms of their own, whose events would send this one.
    <div class="form-part" onSubmit={(event) => event.stopPropagation()}>
      <Select
        label="Project"
        value={value.subject_id}
        options={
          isGone
            ? [{ value: value.subject_id, name: 'A project that is gone' }, ...projects]
            : projects
        }
        onValue={(subject_id) => onChange({ ...value, subject_id })}
      />
      {value.subscription_type === projectSubscriptionType ? (
        <SuggestingProject.Provider value={value.subject_id}>
          <KindPicker
            kinds={kinds}
            title="Send an event"
            action="Add it"
            onChange={(next) => put({ kinds: next })}
          />
          <FilterBar
            label="Only events where"
            of="events alone"
            conditions={properties.map(conditionOf)}
            onChange={(next) => put({ properties: next.map(jsonOf) })}
          />
        </SuggestingProject.Provider>
      ) : null}
    </div>
  );
}

/** Without lists that are empty: they would match nothing. */
function filterOf({ kinds = [], properties = [] }: SubscriptionFilter): SubscriptionFilter {
  return {
    ...(kinds.length > 0 ? { kinds } : {}),
    ...(properties.length > 0 ? { properties } : {}),
  };
}

export function conditionOf(json: PropertyFilterJson): Condition {
  return fromPropertyFilter(fromJson(PropertyFilterSchema, json));
}

function jsonOf(condition: Condition): PropertyFilterJson {
  const { property, operator, value, values, source } = toPropertyFilter(condition);
  return {
    property,
    operator: FilterOperatorSchema.value[operator].name,
    ...(value !== '' && { value }),
    ...(values.length > 0 && { values }),
    ...(source !== PropertySource.UNSPECIFIED && {
      source: PropertySourceSchema.value[source].name,
    }),
  };
}
