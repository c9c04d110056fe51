// Reads one mailbox, the form of a mail's From: an address, or a name and an address in angle brackets. Mail libraries
// get the two apart: a text with commas, quotes or colons would be a list or a group to them.

export interface Mailbox {
  /** Empty where there is none. */
  name: string;
  address: string;
}

/** An address of 254 characters, a name of 150 that take two code units each, and their quotes and brackets. */
const maxCharacters = 600;
const addressPattern = /^[^\s@<>(),:;"\\[\]\p{C}]{1,64}@[^\s@<>(),:;"\\[\]\p{C}]{1,253}$/u;
const lineOrControl = /[\p{Cc}\u2028\u2029]/u;

/** Undefined for any other text, several mailboxes above all. */
export function readMailbox(text: string): Mailbox | undefined {
  if (text.length > maxCharacters || lineOrControl.test(text)) return undefined;
  const mailbox = text.trim();
  const bracket = mailbox.lastIndexOf('<');
  if (bracket === -1)
    return addressPattern.test(mailbox) ? { name: '', address: mailbox } : undefined;
  const address = mailbox.slice(bracket + 1, -1);
  const name = nameIn(mailbox.slice(0, bracket).trim());
  if (!mailbox.endsWith('>') || !addressPattern.test(address) || name === undefined)
    return undefined;
  return { name, address };
}

/** For interfaces that take a text. */
export function mailboxText({ name, address }: Mailbox): string {
  return name === '' ? address : `"${name}" <${address}>`;
}

/** Quotes may hold what would begin another mailbox without them. */
function nameIn(text: string): string | undefined {
  const [, quoted] = /^"([^"\\<>]*)"$/.exec(text) ?? [];
  return quoted ?? (/["\\<>@,;:]/.test(text) ? undefined : text);
}
