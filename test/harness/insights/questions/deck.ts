// Draws that leave nothing out: each item comes once before any comes again.

import type { Draw } from '../random.ts';

export type Deal<T> = () => T;

export function createDeck<T>(draw: Draw, items: readonly T[]): Deal<T> {
  let rest: T[] = [];
  return () => {
    if (rest.length === 0) rest = [...items];
    const [dealt] = rest.splice(draw.below(rest.length), 1);
    if (dealt === undefined) throw new Error('an empty deck');
    return dealt;
  };
}
