// Texts of events and of boards, as a mail shows them: whoever sends events with a public key writes values that a
// member reads in a mail of ours, and mail programs make links of what looks like one.

/** What follows is cut off before anything looks at the text. */
const maxReadCharacters = 2_000;

/**
 * One line without control and invisible characters. An invisible space stands behind what makes a domain, an address
 * or a path, so that nothing becomes a link.
 */
export function lineInMail(text: string, maxCharacters: number): string {
  const line = text
    .slice(0, maxReadCharacters)
    .replace(/[\p{C}\u2028\u2029]+/gu, ' ')
    .replace(/ +/g, ' ')
    .trim();
  const characters = [...line];
  const short = characters.slice(0, maxCharacters).join('');
  return withoutLinks(characters.length > maxCharacters ? `${short}…` : short);
}

/** As lineInMail, of several lines. */
export function linesInMail(text: string, maxCharacters: number): string {
  const lines = text.slice(0, maxCharacters).split(/\r?\n/);
  return lines
    .map((line) => lineInMail(line, maxReadCharacters))
    .join('\n')
    .replace(/\n{3,}/g, '\n\n')
    .trim();
}

/** Full stops of other scripts make domains, too. */
function withoutLinks(text: string): string {
  return text.replace(/[.:@/\\\u3002\uff0e\uff61\u2024](?=[^\s\u200b])/g, '$&\u200b');
}
