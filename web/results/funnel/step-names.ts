// What the steps of a funnel are called.

import {
  type InsightQuerySpec,
  FunnelQuery_Order as Order,
} from '../../../proto/gen/shared/insights/v1/insights_pb.js';
import { kindName } from '../names.ts';

/** In any order a step is a number of them. */
export function stepName(spec: InsightQuerySpec, step: number): string {
  if (isAnyOrder(spec)) return `${step + 1} of the ${spec.events.length} steps`;
  const { kind = '', kinds = [] } = spec.events[step]?.event ?? {};
  return kinds.length > 0 ? kinds.map(kindName).join(' or ') : kindName(kind);
}

export function isAnyOrder({ funnel }: InsightQuerySpec): boolean {
  return funnel?.order === Order.ANY;
}
