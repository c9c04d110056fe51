// The kinds of an alert's condition: which side of its line fires, and whether the value is a change.

import { AlertConditionKind } from '../../proto/gen/dashboard/alerts/v1/alerts_pb.js';

/** Whether it fires above its line; else below. */
export function firesAbove(kind: AlertConditionKind): boolean {
  switch (kind) {
    case AlertConditionKind.ABOVE:
    case AlertConditionKind.CHANGE_ABOVE:
      return true;
    case AlertConditionKind.BELOW:
    case AlertConditionKind.CHANGE_BELOW:
    case AlertConditionKind.UNSPECIFIED:
      return false;
    default:
      return kind satisfies never;
  }
}

/** Whether its value is a change in per cent against the period before. */
export function isOfChange(kind: AlertConditionKind | undefined): boolean {
  return kind === AlertConditionKind.CHANGE_ABOVE || kind === AlertConditionKind.CHANGE_BELOW;
}
