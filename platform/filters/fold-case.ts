// Texts without the difference of upper and lower case, by Unicode's full case folding, which makes ß ss and ﬁ fi.
// Beyond it the dot that a folded İ keeps above its i is dropped, so that "istanbul" is in "İstanbul". The SQL of
// text-search.ts folds alike.

/**
 * Folding a character takes three times as long as finding it. `remembered` moves what it finds to the end, which takes
 * longer than folding.
 */
const foldOf = new Map<string, string>();
const maxRemembered = 10_000;

/** Two texts are alike but for their case where their folded texts are equal. A character becomes three at most. */
export function foldCase(text: string): string {
  // ASCII, as nearly all texts.
  if (!/[^\0-\x7f]/.test(text)) return text.toLowerCase();
  let folded = '';
  for (const character of text) {
    const known = foldOf.get(character);
    const own = known ?? foldCharacter(character);
    if (known === undefined && foldOf.size < maxRemembered) foldOf.set(character, own);
    folded += own;
  }
  return folded.replaceAll('i\u0307', 'i');
}

/** Lower case after upper case, each character by itself: as an end of a word Σ would be ς. */
function foldCharacter(character: string): string {
  // The dotless ı is the lower case of I in Turkish alone, and no case of anything else.
  if (character === '\u0131') return character;
  const upper = character.toLowerCase().toUpperCase();
  return [...upper].map((one) => one.toLowerCase()).join('');
}
