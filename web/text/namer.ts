// Names that tell what they name apart from all else in one answer, list or picker.

import { kindName } from '../../platform/words/value-words.ts';

/**
 * `nameOf` of each, and the exact one, which nothing else has, where others of `all` have the same name. `all` may name
 * one thing several times.
 */
export function namer<T>(
  all: Iterable<T>,
  nameOf: (one: T, isExact: boolean) => string,
): (one: T) => string {
  const exactNames = new Map<string, Set<string>>();
  for (const one of all) {
    const name = nameOf(one, false);
    const exact = exactNames.get(name) ?? new Set();
    exactNames.set(name, exact.add(nameOf(one, true)));
  }
  return (one) => {
    const name = nameOf(one, false);
    return nameOf(one, (exactNames.get(name)?.size ?? 0) > 1);
  };
}

/** Of kinds by their titles: "Page view", and "Page view (page.view)" where another one is called so too. */
export function kindNamer(kinds: Iterable<string>): (kind: string) => string {
  return namer(kinds, (kind, isExact) => (isExact ? exactKindName(kind) : kindName(kind)));
}

/** "Page view (page.view)". */
export function exactKindName(kind: string): string {
  return `${kindName(kind)} (${kind})`;
}
