// Reports all problems of a start at once. Knows no dependency: it only waits for all of them and joins their errors.

/** Resolves with all values, or throws an Error whose message has a line for each failure. Waits for all either way. */
export async function allOrProblems<T extends readonly unknown[] | []>(
  work: T,
): Promise<{ -readonly [P in keyof T]: Awaited<T[P]> }> {
  const ends = await Promise.allSettled(work);
  const reasons = ends.flatMap((end) => (end.status === 'rejected' ? [end.reason] : []));
  if (reasons.length === 0) return Promise.all(work);
  const sentences = reasons.map((reason) =>
    reason instanceof Error ? reason.message : `${reason}`,
  );
  throw new Error(sentences.join('\n'), { cause: reasons[0] });
}
