// What one form of a question has and no other: visits, ways, the greatest groups, the window of a funnel.

import { create } from '@bufbuild/protobuf';
import { DurationSchema } from '@bufbuild/protobuf/wkt';
import {
  AggregationType,
  TopKQuery_Dimension as Dimension,
  UserFlowQuery_GroupBy as GroupBy,
  type InsightQuerySpec,
  InsightType,
  UserFlowQuery_NodeKind as NodeKind,
  SessionMetric,
} from '../../../proto/gen/shared/insights/v1/insights_pb.js';
import { Check, Select } from '../../fields/field.tsx';
import { Count } from '../../fields/number-field.tsx';
import { needsProperty } from '../forms.ts';
import { FunnelFields } from '../funnel/funnel-fields.tsx';
import { MeasuredPropertyField, PropertyField, ScopeFields } from '../scope-fields.tsx';
import { AddUp, AverageField } from '../series/add-up.tsx';
import { FlowEndFields } from '../series/flow-end-fields.tsx';
import { RetentionFields } from '../series/retention-fields.tsx';
import { aggregationOptions } from '../series-fields.tsx';
import { StickinessFields } from './stickiness-fields.tsx';

type Change = (changes: Partial<InsightQuerySpec>) => void;

export function SpecialFields({ spec, onChange }: { spec: InsightQuerySpec; onChange: Change }) {
  if (spec.session) return <VisitFields spec={spec} onChange={onChange} />;
  if (spec.userFlow) return <FlowFields spec={spec} onChange={onChange} />;
  if (spec.topK) return <TopFields spec={spec} onChange={onChange} />;
  if (spec.insightType === InsightType.FUNNEL)
    return (
      <>
        <WindowFields spec={spec} onChange={onChange} />
        <FunnelFields spec={spec} onChange={onChange} />
      </>
    );
  if (spec.insightType === InsightType.STICKINESS)
    return <StickinessFields spec={spec} onChange={onChange} />;
  if (spec.insightType === InsightType.REVENUE)
    return (
      <>
        <AddUp spec={spec} onChange={onChange} />
        <AverageField spec={spec} onChange={onChange} />
      </>
    );
  if (spec.insightType === InsightType.RETENTION)
    return <RetentionFields spec={spec} onChange={onChange} />;
  return null;
}

const metrics = [
  { value: String(SessionMetric.SESSIONS), name: 'Number of visits' },
  { value: String(SessionMetric.AVG_DURATION), name: 'Their mean duration' },
  { value: String(SessionMetric.BOUNCE_RATE), name: 'Bounce rate' },
  { value: String(SessionMetric.AVG_EVENTS_PER_SESSION), name: 'Events per visit' },
  { value: String(SessionMetric.ENTRY), name: 'Visits that begin with the event' },
  { value: String(SessionMetric.EXIT), name: 'Visits that end with the event' },
];

const shapes = [
  { value: String(InsightType.TRENDS), name: 'Over time' },
  { value: String(InsightType.SEGMENTATION), name: 'The whole range' },
];

function VisitFields({ spec, onChange }: { spec: InsightQuerySpec; onChange: Change }) {
  const { session } = spec;
  if (!session) return null;
  return (
    <fieldset class="series">
      <legend>Visits</legend>
      <Select
        label="Value"
        value={String(session.metric)}
        options={metrics}
        onValue={(metric) => onChange({ session: { ...session, metric: Number(metric) } })}
      />
      <Select
        label="Shown"
        value={String(spec.insightType)}
        options={shapes}
        onValue={(type) => onChange({ insightType: Number(type), movingAverage: 0 })}
      />
      <AverageField spec={spec} onChange={onChange} />
      <ScopeFields
        label="Visits with the event"
        scope={session.scope}
        onChange={(scope) => onChange({ session: { ...session, scope } })}
      />
    </fieldset>
  );
}

const nodeKinds = [
  { value: String(NodeKind.EVENT_KIND), name: 'Events' },
  { value: String(NodeKind.PROPERTY), name: 'Values of a property' },
];

const ways = [
  { value: String(GroupBy.SESSION), name: 'Visits' },
  { value: String(GroupBy.USER), name: 'Users, across their visits' },
];

function FlowFields({ spec, onChange }: { spec: InsightQuerySpec; onChange: Change }) {
  const { userFlow } = spec;
  if (!userFlow) return null;
  const put = (changes: Partial<typeof userFlow>): void =>
    onChange({ userFlow: { ...userFlow, ...changes } });
  return (
    <fieldset class="series">
      <legend>Paths</legend>
      <Select
        label="Steps are"
        value={String(userFlow.nodeKind || NodeKind.EVENT_KIND)}
        options={nodeKinds}
        onValue={(nodeKind) => put({ nodeKind: Number(nodeKind), nodeProperty: '' })}
      />
      {userFlow.nodeKind === NodeKind.PROPERTY ? (
        <PropertyField
          label="Property"
          value={userFlow.nodeProperty}
          onValue={(nodeProperty) => put({ nodeProperty })}
        />
      ) : null}
      <Select
        label="Paths of"
        value={String(userFlow.groupBy || GroupBy.SESSION)}
        options={ways}
        onValue={(groupBy) => put({ groupBy: Number(groupBy) })}
      />
      <ScopeFields
        label="Of the event"
        scope={userFlow.scope}
        onChange={(scope) => put({ scope })}
      />
      <FlowEndFields spec={spec} onChange={onChange} />
      <div class="row">
        <Count
          label="Steps"
          value={userFlow.maxHops}
          most={10}
          onValue={(maxHops) => put({ maxHops })}
        />
        <Count
          label="Values a step"
          value={userFlow.maxNodes}
          most={50}
          onValue={(maxNodes) => put({ maxNodes })}
        />
      </div>
    </fieldset>
  );
}

const dimensions = [
  { value: String(Dimension.PROPERTY), name: 'Values of a property' },
  { value: String(Dimension.EVENT_KIND), name: 'Events' },
  { value: String(Dimension.USER), name: 'Users' },
];

/** Of series alone. */
const meansOfUsers = [AggregationType.SUM_PER_USER, AggregationType.AVG_PER_USER].map(String);

function TopFields({ spec, onChange }: { spec: InsightQuerySpec; onChange: Change }) {
  const { topK } = spec;
  if (!topK) return null;
  const put = (changes: Partial<typeof topK>): void => onChange({ topK: { ...topK, ...changes } });
  const isOfUsers = topK.dimension === Dimension.USER;
  const userMetrics = [AggregationType.UNIQUE_USERS, AggregationType.PER_USER_AVG].map(String);
  return (
    <fieldset class="series">
      <legend>Ranking</legend>
      <Select
        label="Rank"
        value={String(topK.dimension)}
        options={dimensions}
        onValue={(dimension) =>
          put({
            ...{ dimension: Number(dimension), property: '' },
            ...{ metric: AggregationType.TOTAL, metricProperty: '' },
          })
        }
      />
      {topK.dimension === Dimension.PROPERTY ? (
        <PropertyField
          label="Property"
          value={topK.property}
          onValue={(property) => put({ property })}
        />
      ) : null}
      <Select
        label="By"
        value={String(topK.metric || AggregationType.TOTAL)}
        options={aggregationOptions.filter(
          ({ value }) =>
            !meansOfUsers.includes(value) && (!isOfUsers || !userMetrics.includes(value)),
        )}
        onValue={(value) => {
          const metric = Number(value);
          put({ metric, metricProperty: needsProperty(metric) ? topK.metricProperty : '' });
        }}
      />
      {needsProperty(topK.metric) ? (
        <MeasuredPropertyField
          aggregation={topK.metric}
          kind={topK.scope?.kind ?? ''}
          value={topK.metricProperty}
          onValue={(metricProperty) => put({ metricProperty })}
        />
      ) : null}
      <ScopeFields label="Of the event" scope={topK.scope} onChange={(scope) => put({ scope })} />
      <Count label="Rows" value={topK.limit} most={100} onValue={(limit) => put({ limit })} />
      <Check
        label="Leave out all others"
        checked={topK.omitOthers}
        onValue={(omitOthers) => put({ omitOthers })}
      />
    </fieldset>
  );
}

const windows = [
  { value: '600', name: '10 minutes' },
  { value: '3600', name: '1 hour' },
  { value: '86400', name: '1 day' },
  { value: '604800', name: '7 days' },
  { value: '1209600', name: '14 days' },
  { value: '2592000', name: '30 days' },
  { value: '7776000', name: '90 days' },
];

function WindowFields({ spec, onChange }: { spec: InsightQuerySpec; onChange: Change }) {
  const seconds = String(spec.conversionWindow?.seconds ?? 86_400n);
  const isListed = windows.some(({ value }) => value === seconds);
  return (
    <fieldset class="series">
      <legend>Conversion</legend>
      <Select
        label="From the first step to the last, at most"
        value={seconds}
        options={isListed ? windows : [...windows, { value: seconds, name: `${seconds} seconds` }]}
        onValue={(value) =>
          onChange({ conversionWindow: create(DurationSchema, { seconds: BigInt(value) }) })
        }
      />
      {spec.funnel?.overTime ? null : (
        <Check
          label="Show how long each step takes"
          checked={spec.includeStepTiming}
          onValue={(includeStepTiming) => onChange({ includeStepTiming })}
        />
      )}
    </fieldset>
  );
}
