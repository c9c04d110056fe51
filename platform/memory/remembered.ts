// A pure function that remembers its last answers, bounded in entries: the answer that was used longest ago makes room.

import { setBounded } from './bounded-map.ts';

/** `compute` must depend on its argument alone: a forgotten answer is computed again. An error is not remembered. */
export function remembered<T>(
  maxEntries: number,
  compute: (text: string) => T,
): (text: string) => T {
  const answers = new Map<string, { readonly answer: T }>();
  return (text) => {
    const known = answers.get(text);
    if (known !== undefined) {
      // A map keeps its order of insertion: setting the entry again moves it to the end, away from the next to leave.
      answers.delete(text);
      answers.set(text, known);
      return known.answer;
    }
    const answer = compute(text);
    setBounded(answers, text, { answer }, maxEntries);
    return answer;
  };
}
