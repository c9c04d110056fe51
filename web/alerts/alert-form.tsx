// The fields of an alert, for a new one and for changes: the question, the threshold, and who is told.

import { create } from '@bufbuild/protobuf';
import { useState } from 'preact/hooks';
import { EventFilterSchema } from '../../proto/gen/common/v1/filter_pb.js';
import {
  type Alert,
  type AlertCondition,
  AlertConditionKind,
  AlertConditionSchema,
  AlertInterval,
} from '../../proto/gen/dashboard/alerts/v1/alerts_pb.js';
import {
  AggregationType,
  EventQuerySchema,
  type InsightQuerySpec,
  InsightQuerySpecSchema,
  InsightType,
  SessionMetric,
  SessionQuerySchema,
} from '../../proto/gen/shared/insights/v1/insights_pb.js';
import { inProject } from '../client.ts';
import { Field, Select } from '../fields/field.tsx';
import { Form } from '../fields/form.tsx';
import { MembersField, stillMembers, useMembersOfProject } from '../fields/members-field.tsx';
import { type Bots, groupWithoutBots } from '../filter/bots.tsx';
import { FilterGroups } from '../question/filter-groups.tsx';
import { needsProperty } from '../question/forms.ts';
import { MeasuredPropertyField, ScopeFields } from '../question/scope-fields.tsx';
import { aggregationOptions } from '../question/series-fields.tsx';
import { session } from '../session.ts';
import { toast } from '../ui/toasts.tsx';
import { alertsClient, intervals, isAbove, kinds } from './alert-words.ts';

const visits = [
  { value: `visits ${SessionMetric.SESSIONS}`, name: 'Number of visits' },
  { value: `visits ${SessionMetric.BOUNCE_RATE}`, name: 'Bounce rate, 0 to 1' },
  { value: `visits ${SessionMetric.AVG_DURATION}`, name: 'Duration of visits in seconds' },
];

const mailHint =
  'Members whose address is proven get it. Webhooks tell programs: subscribe one to alerts.';

/** Bots are left out where the project has any; the form shows the condition, and it can be taken away. */
export function newQuestion(bots: Bots): InsightQuerySpec {
  return create(InsightQuerySpecSchema, {
    insightType: InsightType.TRENDS,
    events: [{ event: {}, aggregation: AggregationType.TOTAL }],
    includeCookieless: true,
    filterGroups: bots === 'left out' ? [groupWithoutBots()] : [],
  });
}

/** Without `before` the alert is new; `spec` is what it begins with. */
export function AlertForm(props: {
  projectId: string;
  before?: Alert;
  spec: InsightQuerySpec;
  onSaved: (id: string) => void;
}) {
  const { projectId, before } = props;
  const condition = before?.condition;
  const me = session.value.state === 'signed-in' ? session.value.person.id : '';
  const [displayName, setDisplayName] = useState(before?.displayName ?? '');
  const [spec, setSpec] = useState(props.spec);
  const [kind, setKind] = useState(String(condition?.kind ?? AlertConditionKind.BELOW));
  const [threshold, setThreshold] = useState(condition ? String(condition.threshold) : '');
  const [recovery, setRecovery] = useState(String(condition?.recoveryThreshold ?? ''));
  const [interval, setInterval] = useState(String(before?.interval ?? AlertInterval.HOUR));
  const [told, setTold] = useState<readonly string[]>(before?.recipientIds ?? [me]);
  const members = useMembersOfProject(projectId);
  const send = async (): Promise<void> => {
    const fields = {
      displayName,
      spec,
      condition: conditionOf(kind, threshold, recovery),
      interval: Number(interval),
    };
    const recipientIds = stillMembers(told, members);
    const { alert } = before
      ? await alertsClient.update(
          { ...fields, id: before.id, recipients: { recipientIds } },
          inProject(projectId),
        )
      : await alertsClient.create(
          { ...fields, recipientIds, withoutMail: recipientIds.length === 0 },
          inProject(projectId),
        );
    toast('Saved');
    props.onSaved(alert?.id ?? '');
  };
  return (
    <Form
      action={before ? 'Save the alert' : 'Create alert'}
      send={send}
      isReady={displayName.trim() !== '' && threshold.trim() !== ''}
    >
      <Field
        label="Name"
        placeholder="Few sign-ups"
        maxLength={150}
        required
        value={displayName}
        onValue={setDisplayName}
      />
      <Question spec={spec} onChange={setSpec} />
      <fieldset>
        <legend>Notify when it</legend>
        <div class="row">
          <Select label="Condition" value={kind} options={kinds} onValue={setKind} />
          <Field label="Threshold" type="text" required value={threshold} onValue={setThreshold} />
          <Select label="In each" value={interval} options={intervals} onValue={setInterval} />
        </div>
        <Field
          label="Recovers at"
          hint={`Empty: at the threshold. A value ${isAbove(Number(kind)) ? 'below' : 'above'} it keeps the alert from going back and forth.`}
          value={recovery}
          onValue={setRecovery}
        />
      </fieldset>
      <MembersField members={members ?? []} told={told} onChange={setTold} hint={mailHint} />
    </Form>
  );
}

function conditionOf(kind: string, threshold: string, recovery: string): AlertCondition {
  return create(AlertConditionSchema, {
    ...{ kind: Number(kind), threshold: Number(threshold) },
    ...(recovery.trim() === '' ? {} : { recoveryThreshold: Number(recovery) }),
  });
}

function Question(props: { spec: InsightQuerySpec; onChange: (spec: InsightQuerySpec) => void }) {
  const { spec, onChange } = props;
  const [first = create(EventQuerySchema, {})] = spec.events;
  const chosen = spec.session
    ? `visits ${spec.session.metric}`
    : String(first.aggregation || AggregationType.TOTAL);
  const scope = (spec.session ? spec.session.scope : first.event) ?? create(EventFilterSchema);
  const choose = (value: string, next = scope): void => {
    const [, metric] = value.split(' ');
    if (metric !== undefined) {
      const query = create(SessionQuerySchema, { metric: Number(metric), scope: next });
      onChange({ ...spec, events: [], session: query });
      return;
    }
    const aggregation = Number(value);
    const { session: _none, ...rest } = spec;
    const aggregationProperty = needsProperty(aggregation) ? first.aggregationProperty : '';
    const event = create(EventQuerySchema, { event: next, aggregation, aggregationProperty });
    onChange({ ...rest, events: [event] });
  };
  return (
    // The pickers have forms of their own, whose events would send this one.
    <fieldset onSubmit={(event) => event.stopPropagation()}>
      <legend>Insight</legend>
      <Select
        label="Value"
        value={chosen}
        options={[...aggregationOptions, ...visits]}
        onValue={(value) => choose(value)}
      />
      <ScopeFields
        label={spec.session ? 'Visits with the event' : 'Event'}
        filtersLabel="Conditions on the event"
        scope={scope}
        onChange={(next) => choose(chosen, next)}
      />
      {!spec.session && needsProperty(first.aggregation) ? (
        <MeasuredPropertyField
          aggregation={first.aggregation}
          kind={scope.kind}
          value={first.aggregationProperty}
          onValue={(aggregationProperty) =>
            onChange({ ...spec, events: [{ ...first, aggregationProperty }] })
          }
        />
      ) : null}
      <FilterGroups spec={spec} onChange={(changes) => onChange({ ...spec, ...changes })} />
    </fieldset>
  );
}
