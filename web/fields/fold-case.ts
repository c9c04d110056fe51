// Texts without the difference of upper and lower case, as the service searches them (docs/insights.md): ß is ss, ς is
// σ, and the dot of İ is none.

/** A text is in another one, whatever the case of either, where its folded text is in the other's. */
export function foldCase(text: string): string {
  return text.toLowerCase().replaceAll('i\u0307', 'i').toUpperCase();
}

/** Whether each word of a search is somewhere in a text, whatever the case of either. */
export function hasEachWord(text: string, search: string): boolean {
  const line = foldCase(text);
  return foldCase(search)
    .split(/\s+/)
    .every((word) => line.includes(word));
}
