// What a look makes of an alert: its next state, and the change that somebody is to be told of. It asks, writes and
// tells nothing.

import {
  type AlertStateName,
  type AlertStateRecord,
  type ChangeRecord,
  type LookRecord,
  maxChanges,
  maxLooks,
  newTelling,
} from '../../platform/alerts/alert-state.ts';
import { firesAbove } from '../../platform/alerts/condition-kind.ts';
import type { AlertCondition } from '../../proto/gen/dashboard/alerts/v1/alerts_pb.js';

/**
 * FIRING begins beyond the threshold and ends at the recovery threshold: between the two the state stays. `value` is
 * null where there is nothing to compare.
 */
export function nextState(
  before: AlertStateName,
  condition: AlertCondition,
  value: number | null,
): AlertStateName {
  if (value === null) return 'NO_DATA';
  const { threshold, recoveryThreshold = threshold } = condition;
  // Below is above with both signs turned.
  const sign = firesAbove(condition.kind) ? 1 : -1;
  if (sign * value > sign * threshold) return 'FIRING';
  return before === 'FIRING' && sign * value > sign * recoveryThreshold ? 'FIRING' : 'OK';
}

/** The change in per cent; null where nothing was before. */
export function changePercent(value: number, before: number): number | null {
  return before === 0 ? null : ((value - before) / Math.abs(before)) * 100;
}

/** The record after a look. `changeId` is the id of its change, where it is one. */
export function afterLook(
  record: AlertStateRecord,
  condition: AlertCondition,
  look: LookRecord,
  { changeId, nowMs }: { changeId: string; nowMs: number },
): AlertStateRecord {
  const state = nextState(record.state, condition, look.value);
  const looks = [...record.looks, look].slice(-maxLooks);
  const looked = { ...record, looks, problem: '' };
  if (state === record.state) {
    return { ...looked, sinceMs: record.sinceMs === 0 ? nowMs : record.sinceMs };
  }
  return { ...looked, ...changed(record, { id: changeId, state, look, timeMs: nowMs }) };
}

/** The record of an alert that could not be looked at for so long that nothing is known. */
export function withoutData(
  record: AlertStateRecord,
  look: LookRecord,
  { changeId, nowMs }: { changeId: string; nowMs: number },
): AlertStateRecord {
  if (record.state === 'NO_DATA') return record;
  const change = { id: changeId, state: 'NO_DATA', look, timeMs: nowMs } as const;
  return { ...record, ...changed(record, change) };
}

function changed(
  { state: before, changes }: AlertStateRecord,
  change: Pick<ChangeRecord, 'id' | 'state' | 'look' | 'timeMs'>,
): Pick<AlertStateRecord, 'state' | 'sinceMs' | 'changes'> {
  const all = [...changes, { ...change, before, telling: newTelling }];
  // Untold ones are fewer than those that are kept.
  return { state: change.state, sinceMs: change.timeMs, changes: all.slice(-maxChanges) };
}
