// The work that takes the events out of all tables which projects keep no longer, as the broker keeps it: a part of the
// record of the erasures' work, because only one of both may be under way.

import { hasNumbers, hasTexts } from '../broker/record-bucket.ts';
import { isObject } from '../json.ts';
import type { StoredMark } from './stored-marks.ts';

/** In their order. */
export const retainedSteps = ['sums', 'profiles', 'rows', 'settle', 'forget'] as const;
export type RetainedStep = (typeof retainedSteps)[number];

export interface RetainedProject {
  projectId: string;
  /** Its events from before that go: the beginning of a day of UTC, ms since the epoch. */
  beforeMs: number;
}

/** One piece of work: the events of some days of some projects. */
export interface RetainedWork {
  id: string;
  /** At least one. */
  projects: readonly RetainedProject[];
  /** The place of their group of ClickHouse servers. */
  group: number;
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
  if (!isObject(value)) return false;
  const { step, stored, takenOut, projects } = value;
  return (
    hasTexts(value, ['id']) &&
    hasNumbers(value, ['group', 'startedMs', 'nameSlices', 'slices', 'slice', 'attempts']) &&
    Array.isArray(projects) &&
    projects.length > 0 &&
    projects.every(isRetainedProject) &&
    retainedSteps.some((known) => known === step) &&
    Array.isArray(stored) &&
    (takenOut === undefined || Array.isArray(takenOut))
  );
}

function isRetainedProject(value: unknown): value is RetainedProject {
  return isObject(value) && hasTexts(value, ['projectId']) && hasNumbers(value, ['beforeMs']);
}

/** What an older version has begun, of one project, in the form of this one; anything else as it is. */
export function ofThisVersion(work: unknown): unknown {
  if (!isObject(work) || !isRetainedProject(work)) return work;
  const { projectId, beforeMs, ...rest } = work;
  return { ...rest, projects: [{ projectId, beforeMs }] };
}
