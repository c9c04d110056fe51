// Paths and URLs as people read them: percent-encoded letters are shown as letters. Only what is shown changes: keys,
// filters, CSV and whatever is copied keep the text as it was stored.

/**
 * Stays encoded: what has a meaning in a URL, so that no two paths look alike by it; control characters, and those that
 * are invisible or turn the direction of writing, by which a text could pretend to be another one.
 */
const keptEncoded = /[\p{Cc}\p{Cf}\p{Co}\p{Cn}\p{Zl}\p{Zp}\p{DI}%/?#&=+;\\"<>]/u;
/** The same of what came unencoded, but for marks of a URL itself. */
const invisible = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu;
/** A path or a URL at the beginning of a text or behind a space: names of series hold several values. */
const addresses = /(?<![^\s])(?:[a-z][a-z0-9+.-]{0,31}:\/\/|\/)[^\s]*/gi;
const encoded = /(?:%[0-9a-f]{2})+/gi;

/** Any text, with its paths and URLs decoded. Sequences that are no UTF-8 stay as they are. */
export function readablePath(text: string): string {
  if (!text.includes('/')) return text;
  return text.replace(addresses, (address) =>
    address
      .replace(encoded, decodeRun)
      .replace(invisible, (character) => encodeURIComponent(character)),
  );
}

/** Letter by letter, so that one bad sequence leaves the others readable. */
function decodeRun(run: string): string {
  let text = '';
  for (let at = 0; at < run.length; ) {
    const letter = run.slice(at, at + 3 * bytesOf(Number.parseInt(run.slice(at + 1, at + 3), 16)));
    text += decodeLetter(letter);
    at += letter.length;
  }
  return text;
}

/** How many bytes the letter has that begins with this one. */
function bytesOf(first: number): number {
  if (first >= 0xf0) return 4;
  if (first >= 0xe0) return 3;
  return first >= 0xc0 ? 2 : 1;
}

function decodeLetter(letter: string): string {
  try {
    const decoded = decodeURIComponent(letter);
    return keptEncoded.test(decoded) ? letter : decoded;
  } catch {
    return letter;
  }
}
