// What the steps of a funnel are called.

import {
  type InsightQuerySpec,
  FunnelQuery_Order as Order,
} from '../../../proto/gen/shared/insights/v1/insights_pb.js';
import { kindsName } from '../names.ts';

/** In any order a step is a number of them. */
export function stepName(spec: InsightQuerySpec, step: number): string {
  if (isAnyOrder(spec)) return `${step + 1} of the ${spec.events.length} steps`;
  return kindsName(spec, spec.events[step]?.event);
}

export function isAnyOrder({ funnel }: InsightQuerySpec): boolean {
  return funnel?.order === Order.ANY;
}
