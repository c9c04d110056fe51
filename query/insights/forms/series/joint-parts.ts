// The parts of a statement that answers several questions of a board.

/**
 * Of one statement. A board that asks for more has a statement for each question: a statement has 50,000 terms at most,
 * and each question looks at the parts of all others.
 */
export const maxJointParts = 100;

/** Each once, in the same order whoever asks first: so all of them make the same statement. */
export function unlike<T>(asked: readonly T[], keyOf: (one: T) => string): T[] {
  const byKey = new Map(asked.map((one) => [keyOf(one), one]));
  return [...byKey].sort(([one], [other]) => (one < other ? -1 : 1)).map(([, one]) => one);
}
