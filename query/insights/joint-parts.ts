// The parts of a statement that answers several questions of a board.

/**
 * Where a board asks for more, each question has a statement of its own: every part has terms, of which a statement has
 * 50,000 at most, and each question looks at those of all others.
 */
export const maxJointParts = 100;

/** Each once, in the same order whoever asks first: so all of them make the same statement. */
export function unlike<T>(asked: readonly T[], keyOf: (one: T) => string): T[] {
  const byKey = new Map(asked.map((one) => [keyOf(one), one]));
  return [...byKey].sort(([one], [other]) => (one < other ? -1 : 1)).map(([, one]) => one);
}
