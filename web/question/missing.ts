// What a question lacks before it can be asked.

import {
  TopKQuery_Dimension as Dimension,
  type InsightQuerySpec,
  UserFlowQuery_NodeKind as NodeKind,
} from '../../proto/gen/shared/insights/v1/insights_pb.js';
import { formOf, needsProperty } from './forms.ts';

/** What is still to be chosen before the question can be asked; undefined where nothing is. */
export function missing(spec: InsightQuerySpec): string | undefined {
  const unnamed = spec.events.findIndex(
    ({ aggregation, aggregationProperty }) => needsProperty(aggregation) && !aggregationProperty,
  );
  if (unnamed >= 0)
    return `Choose the property of ${formOf(spec).events.nameOf(unnamed).toLowerCase()}.`;
  const scopes = [
    ...spec.events.map(({ event }) => event),
    ...[spec.session?.scope, spec.topK?.scope, spec.userFlow?.scope, spec.flow?.from],
    spec.flow?.to,
    ...(spec.funnel?.exclusions ?? []).map(({ event }) => event),
  ];
  if (scopes.some((scope) => scope?.kinds.includes(''))) return 'Choose the other event.';
  const unwritten = spec.formulas.findIndex(({ expression }) => expression.trim() === '');
  if (unwritten >= 0) return `Write formula ${unwritten + 1}.`;
  if (spec.breakdowns.some(({ property }) => property === ''))
    return 'Choose the property to split by.';
  const { topK, userFlow } = spec;
  if (topK?.dimension === Dimension.PROPERTY && !topK.property)
    return 'Choose the property to rank.';
  if (topK && needsProperty(topK.metric) && !topK.metricProperty)
    return 'Choose the property of the value.';
  if (userFlow?.nodeKind === NodeKind.PROPERTY && !userFlow.nodeProperty)
    return 'Choose the property of the steps.';
  return undefined;
}
