// The lines of retention: the share that returned, by the place of the bucket after the beginning.

import type {
  RetentionMean,
  RetentionSeries,
} from '../../../proto/gen/shared/insights/v1/insights_pb.js';
import type { Line } from '../../charts/line.ts';
import { openFrom } from '../../time/open-buckets.ts';

/** A cohort that is drawn, by its place in the answer. */
export type CohortLine = Line & { cohort: number };

/**
 * At most `most` of the cohorts that have users, the first, the last and those spread evenly between them. One with a
 * single bucket is a point, and is drawn only where no other has more. `labels`: the buckets of the answer.
 */
export function cohortLines(
  { cohorts }: RetentionSeries,
  labels: readonly string[],
  most: number,
  named: (index: number) => string,
): CohortLine[] {
  const known = cohorts
    .map((cohort, index) => ({ ...cohort, index }))
    .filter(({ cohortSize = 0 }) => cohortSize > 0);
  const courses = known.filter(({ points }) => points.length > 1);
  return spread(courses.length > 0 ? courses : known, most).map((cohort) => ({
    name: named(cohort.index),
    values: cohort.points.map(({ value = 0 }) => value / (cohort.cohortSize ?? 1)),
    openFrom: openFrom(labels, cohort.incompleteFrom) - cohort.index,
    cohort: cohort.index,
  }));
}

/** How many cohorts have users. */
export function cohortCount({ cohorts }: RetentionSeries): number {
  return cohorts.filter(({ cohortSize = 0 }) => cohortSize > 0).length;
}

/** Of the points that are over alone: a mean is never open. */
export function meanLine(name: string, means: readonly RetentionMean[]): Line {
  return { name, values: means.map(({ share }) => share ?? null) };
}

/** At most `most` of them, with both ends. */
export function spread<One>(all: readonly One[], most: number): One[] {
  if (all.length <= most) return [...all];
  const step = (all.length - 1) / Math.max(1, most - 1);
  return Array.from({ length: most }, (_, place) => all[Math.round(place * step)]).flatMap((one) =>
    one === undefined ? [] : [one],
  );
}
