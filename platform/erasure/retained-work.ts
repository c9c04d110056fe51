// The work that takes the events out of all tables which a project keeps no longer, as the broker keeps it: a part of
// the record of the erasures' work, because only one of both may be under way.

import { hasNumbers, hasTexts } from '../broker/record-bucket.ts';
import type { StoredMark } from './stored-marks.ts';

/** In their order. */
export const retainedSteps = ['sums', 'profiles', 'rows', 'settle', 'forget'] as const;
export type RetainedStep = (typeof retainedSteps)[number];

/** One piece of work: the events of some days of a project. */
export interface RetainedWork {
  id: string;
  projectId: string;
  /** The place of its group of ClickHouse servers. */
  group: number;
  /** Events from before it go: the beginning of a day of UTC, ms since the epoch. */
  beforeMs: number;
  startedMs: number;
  step: RetainedStep;
  /** What was stored when the work began: events that came later are left to the next piece. */
  stored: readonly StoredMark[];
  /** Names of properties are counted in so many slices of the events, profiles anew in so many of theirs. */
  nameSlices: number;
  slices: number;
  /** The one of the step that is next. */
  slice: number;
  /** How often a slice was taken out: the tokens of its inserts end with it. */
  attempts: number;
  /** What was stored when the slice was taken out, until it is counted anew. */
  takenOut?: readonly StoredMark[];
}

export function isRetainedWork(value: unknown): value is RetainedWork {
  if (typeof value !== 'object' || value === null) return false;
  const step: unknown = Reflect.get(value, 'step');
  const takenOut: unknown = Reflect.get(value, 'takenOut');
  return (
    hasTexts(value, ['id', 'projectId']) &&
    hasNumbers(value, [
      'group',
      'beforeMs',
      'startedMs',
      'nameSlices',
      'slices',
      'slice',
      'attempts',
    ]) &&
    retainedSteps.some((known) => known === step) &&
    Array.isArray(Reflect.get(value, 'stored')) &&
    (takenOut === undefined || Array.isArray(takenOut))
  );
}
