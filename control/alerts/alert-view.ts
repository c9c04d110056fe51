// The messages that show what is known of an alert, from its state's record. The record is alerts/'s to write.

import { create } from '@bufbuild/protobuf';
import { timestampFromMs } from '@bufbuild/protobuf/wkt';
import {
  type AlertStateRecord,
  alertStateKey,
  type LookRecord,
} from '../../platform/alerts/alert-state.ts';
import type { RecordBucket } from '../../platform/broker/record-bucket.ts';
import {
  type Alert,
  type AlertChange,
  AlertChangeSchema,
  type AlertLook,
  AlertLookSchema,
  AlertState,
} from '../../proto/gen/dashboard/alerts/v1/alerts_pb.js';

export type AlertStateBucket = Pick<RecordBucket<AlertStateRecord>, 'get'>;

/** Undefined before its first turn. */
export async function readState(
  states: AlertStateBucket,
  projectId: string,
  place: number,
  { id }: Alert,
): Promise<AlertStateRecord | undefined> {
  const found = await states.get(alertStateKey(projectId, place));
  return found.kind === 'found' && found.record.alertId === id ? found.record : undefined;
}

export function withState(alert: Alert, record: AlertStateRecord | undefined): Alert {
  if (record === undefined) return alert;
  const last = record.looks.at(-1);
  return {
    ...alert,
    problem: record.problem,
    ...(record.sinceMs > 0 && {
      state: AlertState[record.state],
      stateTime: timestampFromMs(record.sinceMs),
    }),
    ...(last !== undefined && { lastLook: lookMessage(last) }),
  };
}

/** The newest first. */
export function changesOf(record: AlertStateRecord | undefined): AlertChange[] {
  const changes = record?.changes ?? [];
  return changes.toReversed().map(({ id, state, before, timeMs, look, telling }) =>
    create(AlertChangeSchema, {
      ...{ id, state: AlertState[state], previousState: AlertState[before] },
      ...{ time: timestampFromMs(timeMs), look: lookMessage(look), isTold: telling.isDone },
    }),
  );
}

/** The oldest first. */
export function looksOf(record: AlertStateRecord | undefined): AlertLook[] {
  return (record?.looks ?? []).map(lookMessage);
}

function lookMessage({ fromMs, toMs, value }: LookRecord): AlertLook {
  return create(AlertLookSchema, {
    ...{ from: timestampFromMs(fromMs), to: timestampFromMs(toMs) },
    ...(value !== null && { value }),
  });
}
