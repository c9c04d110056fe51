// The field of a list that was added just now, which gets the focus as it appears.

import { useEffect, useState } from 'preact/hooks';

/**
 * The place of the field that is to appear among `count`, else -1, and how to say it. It counts for its first
 * appearance alone: a field that is unfolded, or comes back with the history, was not asked for. The list is drawn
 * again without it, because what is folded is unfolded as it was drawn last.
 */
export function useAdded(count: number, first = -1): [number, (place: number) => void] {
  const [added, setAdded] = useState(first);
  useEffect(() => {
    if (added >= 0 && added < count) setAdded(-1);
  });
  return [added, setAdded];
}
