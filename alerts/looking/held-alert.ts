// An alert's record as its turns read and hold it.

import { type AlertStateRecord, newAlertState } from '../../platform/alerts/alert-state.ts';
import type { ReadResult } from '../../platform/broker/record-bucket.ts';
import type { HeldRecord, LeasedBucket } from '../../platform/turns/held-record.ts';
import type { OwnedAlert } from '../owned-alerts.ts';

export type StateBucket = LeasedBucket<AlertStateRecord>;
export type HeldAlert = HeldRecord<AlertStateRecord>;

/** A question takes half of it at most. */
export const leaseMs = 60_000;

/** What the broker has of the alert. Throws where another version of the service wrote it. */
export function stateOf(
  found: ReadResult<AlertStateRecord>,
  { alert }: OwnedAlert,
): AlertStateRecord {
  switch (found.kind) {
    case 'found':
      return found.record.alertId === alert.id ? found.record : newAlertState(alert.id);
    case 'absent':
      return newAlertState(alert.id);
    case 'unreadable':
      throw new Error(`the state of alert ${alert.id} cannot be read by this version`);
    default:
      return found satisfies never;
  }
}
