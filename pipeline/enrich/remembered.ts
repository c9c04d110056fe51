// A pure function that remembers its last answers, bounded in entries: the one not used for longest makes room.

import { setBounded } from '../../platform/memory/bounded-map.ts';

/** `compute` must depend on its argument alone, or a batch that is built again would come out differently. */
export function remembered<T>(
  maxEntries: number,
  compute: (text: string) => T,
): (text: string) => T {
  const answers = new Map<string, { readonly answer: T }>();
  return (text) => {
    const known = answers.get(text);
    if (known !== undefined) {
      // To the end of the map's order, whose start is the entry not used for longest.
      answers.delete(text);
      answers.set(text, known);
      return known.answer;
    }
    const answer = compute(text);
    setBounded(answers, text, { answer }, maxEntries);
    return answer;
  };
}
