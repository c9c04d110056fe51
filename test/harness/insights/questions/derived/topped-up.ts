// By the seed and by the date that a project ends on, too few drawn questions may have a feature: more are drawn then,
// and those stay that have what is still too rare.

import type { Question } from '../question.ts';

/** How many questions are to have each feature, by its name. */
export type Wanted = ReadonlyMap<string, number>;

/** Those that fewer have than are wanted, each with its number, such as `touch EVERY: 15`. */
export function lacking(counts: ReadonlyMap<string, number>, wanted: Wanted): string[] {
  return [...wanted]
    .filter(([feature, least]) => (counts.get(feature) ?? 0) < least)
    .map(([feature]) => `${feature}: ${counts.get(feature) ?? 0}`);
}

/** How often each feature is named. */
export function countsOf(
  questions: readonly Question[],
  featuresOf: (question: Question) => readonly string[],
): Map<string, number> {
  const counts = new Map<string, number>();
  for (const feature of questions.flatMap(featuresOf)) {
    counts.set(feature, (counts.get(feature) ?? 0) + 1);
  }
  return counts;
}

/**
 * The questions, and after them those of at most `rounds` calls of `more` that have a feature which is still too rare.
 * Nothing is drawn where nothing is rare.
 */
export function toppedUp(
  questions: readonly Question[],
  wanted: Wanted,
  {
    featuresOf,
    more,
    rounds,
  }: {
    featuresOf: (question: Question) => readonly string[];
    more: (round: number) => readonly Question[];
    rounds: number;
  },
): Question[] {
  const counts = countsOf(questions, featuresOf);
  const isRare = (feature: string): boolean =>
    (counts.get(feature) ?? 0) < (wanted.get(feature) ?? 0);
  const all = [...questions];
  for (let round = 0; round < rounds && [...wanted.keys()].some(isRare); round += 1) {
    for (const question of more(round)) {
      const features = featuresOf(question);
      if (!features.some(isRare)) continue;
      for (const feature of features) counts.set(feature, (counts.get(feature) ?? 0) + 1);
      all.push(question);
    }
  }
  return all;
}
