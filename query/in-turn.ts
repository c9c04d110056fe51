// Several reads of one call, a few at once.

/**
 * Calls `work` for each item, a few at once; the results are in the order of the items. The first failure is thrown,
 * and nothing is begun after it.
 */
export async function inTurn<T, R>(
  items: readonly T[],
  atOnce: number,
  work: (item: T) => Promise<R>,
): Promise<R[]> {
  const results: R[] = [];
  const left = items.entries();
  let hasFailed = false;
  const worker = async (): Promise<void> => {
    for (const [index, item] of left) {
      if (hasFailed) return;
      try {
        results[index] = await work(item);
      } catch (error) {
        hasFailed = true;
        throw error;
      }
    }
  };
  await Promise.all(Array.from({ length: atOnce }, worker));
  return results;
}
