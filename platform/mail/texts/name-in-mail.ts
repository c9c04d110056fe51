// Makes a name that somebody typed fit for a mail to others: a stranger who signs up must not write to people in our
// name. All that a mail program turns into a link goes, and what is left is too short for a message.

/** Names of people and organizations are shorter; a sentence with a purpose is longer. */
const maxCharacters = 60;
/** Names are stored with at most 150 characters, each at most two code units; older records may hold more. */
const maxRead = 300;

/**
 * Keeps letters, marks, digits, spaces and what joins them in names. A dot stays only at the end of a word, as in
 * "J. R. Inc.": between letters it makes a domain. Digits in the number of a telephone's go, for telephones dial them.
 * `otherwise` stands for a name with nothing left.
 */
export function nameInMail(text: string, otherwise: string): string {
  const name = text
    .slice(0, maxRead)
    .replace(/[^\p{L}\p{M}\p{Nd} .,'’&()+-]/gu, ' ')
    .replace(/\.(?! |$)/g, ' ')
    .replace(/\p{Nd}(?:[^\p{L}\p{M}\p{Nd}]*\p{Nd}){5,}/gu, ' ')
    .replace(/ +/g, ' ')
    .trim();
  const short = [...name].slice(0, maxCharacters).join('').trim();
  return /[\p{L}\p{Nd}]/u.test(short) ? short : otherwise;
}
