// What is known of an alert: one record for each place that a project has for alerts, changed by compare-and-set alone.
// Its lease says which process works on the alert; a change of state is written before anybody is told of it, and each
// telling when it is done, so that whatever dies, the record says what is left.

import { hasNumbers, hasTexts } from '../broker/record-bucket.ts';

export const alertStates = ['OK', 'FIRING', 'NO_DATA'] as const;
export type AlertStateName = (typeof alertStates)[number];

/** Half-open, in ms since the epoch. `value` is null where there was nothing to compare. */
export interface LookRecord {
  fromMs: number;
  toMs: number;
  value: number | null;
}

export interface ChangeRecord {
  /** UUID; the deliveries of its webhooks and the ids of its mails are made of it. */
  id: string;
  state: AlertStateName;
  before: AlertStateName;
  timeMs: number;
  look: LookRecord;
  telling: Telling;
}

/** How far the telling of a change is. */
export interface Telling {
  /** All are told, or given up. */
  isDone: boolean;
  /** Its deliveries are queued. */
  areQueued: boolean;
  /** Customers whose mail was taken or refused; empty once all is done. */
  mailedTo: readonly string[];
  /** Tries in a row that failed, and the moment of the next. */
  failures: number;
  nextTryMs: number;
}

/** Of a change that nobody is told of yet. */
export const newTelling: Telling = {
  ...{ isDone: false, areQueued: false, mailedTo: [], failures: 0, nextTryMs: 0 },
};

export interface AlertStateRecord {
  schemaVersion: 1;
  /** Whose it is: another alert's that is gone was in the same place. */
  alertId: string;
  state: AlertStateName;
  /** Since when; 0 before the first look. */
  sinceMs: number;
  /** The newest, the oldest of them first. */
  looks: readonly LookRecord[];
  /** The newest, the oldest of them first; never without one that is not told. */
  changes: readonly ChangeRecord[];
  /** Other processes leave the alert alone until then. */
  leaseEndMs: number;
  /** No look before then: a question that took long leaves the engine to others. */
  restUntilMs: number;
  /** Why the last look failed; empty where it did not. */
  problem: string;
}

/** The newest ones that an alert keeps. */
export const maxLooks = 100;
export const maxChanges = 20;
/** No look while so many changes wait to be told. */
export const maxUntold = 10;

/** Of an alert that nobody has looked at. */
export function newAlertState(alertId: string): AlertStateRecord {
  return {
    ...{ schemaVersion: 1, alertId, state: 'OK', sinceMs: 0, looks: [], changes: [] },
    ...{ leaseEndMs: 0, restUntilMs: 0, problem: '' },
  };
}

/** The key of the place, from 0, of one of the project's alerts. */
export function alertStateKey(projectId: string, place: number): string {
  return `${projectId}.${place}`;
}

/** The changes that somebody is still to be told of, the oldest first. */
export function untold({ changes }: AlertStateRecord): ChangeRecord[] {
  return changes.filter(({ telling }) => !telling.isDone);
}

/** Narrows a value of the bucket. */
export function readAlertState(value: unknown): AlertStateRecord | undefined {
  return isAlertState(value) ? value : undefined;
}

function isAlertState(value: unknown): value is AlertStateRecord {
  if (typeof value !== 'object' || value === null) return false;
  const [looks, changes] = ['looks', 'changes'].map((name): unknown => Reflect.get(value, name));
  return (
    Reflect.get(value, 'schemaVersion') === 1 &&
    hasTexts(value, ['alertId', 'problem']) &&
    isState(Reflect.get(value, 'state')) &&
    hasNumbers(value, ['sinceMs', 'leaseEndMs', 'restUntilMs']) &&
    Array.isArray(looks) &&
    looks.every(isLook) &&
    Array.isArray(changes) &&
    changes.every(isChange)
  );
}

function isChange(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return false;
  const telling: unknown = Reflect.get(value, 'telling');
  return (
    hasTexts(value, ['id']) &&
    isState(Reflect.get(value, 'state')) &&
    isState(Reflect.get(value, 'before')) &&
    hasNumbers(value, ['timeMs']) &&
    isLook(Reflect.get(value, 'look')) &&
    typeof telling === 'object' &&
    telling !== null &&
    hasNumbers(telling, ['failures', 'nextTryMs']) &&
    Array.isArray(Reflect.get(telling, 'mailedTo'))
  );
}

function isLook(value: unknown): boolean {
  return typeof value === 'object' && value !== null && hasNumbers(value, ['fromMs', 'toMs']);
}

function isState(value: unknown): boolean {
  return alertStates.some((state) => state === value);
}
