// The names of states and conditions in records, in deliveries and in the definitions.

import type { AlertStateName } from '../../platform/alerts/alert-state.ts';
import {
  AlertConditionKind,
  AlertConditionKindSchema,
} from '../../proto/gen/dashboard/alerts/v1/alerts_pb.js';

export type WireStateName = `ALERT_STATE_${AlertStateName}`;

export function stateName(state: AlertStateName): WireStateName {
  return `ALERT_STATE_${state}`;
}

export function conditionName(kind = AlertConditionKind.UNSPECIFIED): string {
  return AlertConditionKindSchema.value[kind]?.name ?? '';
}
