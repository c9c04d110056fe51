// The rules of single request fields, one function each. A function returns the value in the form that is stored, or
// throws invalid_argument that names field and rule. It looks at the length first; its work grows no faster than the
// text. Rules that join several fields are each method's own.

import { Code, ConnectError } from '@connectrpc/connect';
import { canonicalEmail, hasDnsDomain } from '../platform/access/email-address.ts';
import { hasMoreCodePoints } from '../platform/limits.ts';
import { isCommonPassword } from './auth/common-passwords.ts';
import { maxPasswordCharacters, minPasswordCharacters } from './auth/passwords.ts';

export const maxDisplayNameCharacters = 150;
const maxEmailCharacters = 254;
const emailPattern = /^[^\s@<>(),:;"\\[\]\p{C}]{1,64}@[^\s@<>(),:;"\\[\]\p{C}]{1,253}$/u;
const maxUserNameCharacters = 320;
const controlCharacter = /[\p{Cc}\u2028\u2029]/u;

/** `rule` is the rest of the sentence after the field's name, such as "must be a UUID". */
export function invalidArgument(field: string, rule: string): ConnectError {
  return new ConnectError(`${field}: ${rule}`, Code.InvalidArgument);
}

/** Returns one form for each address: no two customers' addresses differ in capitals, or in a domain's spelling. */
export function emailField(field: string, text: string): string {
  const sent = text.trim();
  if (sent === '') throw invalidArgument(field, 'is required');
  // Normalizing takes time that grows with the square of a run of combining marks, and may lengthen the text.
  const email = sent.length > maxEmailCharacters ? '' : sent.normalize('NFC').toLowerCase();
  if (email.length > maxEmailCharacters || !emailPattern.test(email)) {
    throw invalidArgument(
      field,
      `must be an e-mail address of at most ${maxEmailCharacters} characters`,
    );
  }
  const canonical = canonicalEmail(email);
  if (!hasDnsDomain(canonical)) throw invalidArgument(field, 'must have a domain of the DNS');
  return canonical;
}

/** An address, or a name and an address in angle brackets: the form of a mail's From. */
export function mailboxField(field: string, text: string): string {
  const mailbox = text.trim();
  const open = mailbox.endsWith('>') ? mailbox.lastIndexOf('<') : -1;
  const name = open < 0 ? '' : mailbox.slice(0, open).trimEnd();
  if (hasMoreCodePoints(name, maxDisplayNameCharacters) || controlCharacter.test(mailbox)) {
    throw invalidArgument(field, 'must be an e-mail address, or a name and <address>');
  }
  emailField(field, open < 0 ? mailbox : mailbox.slice(open + 1, -1));
  return mailbox;
}

export function displayNameField(field: string, text: string): string {
  const name = optionalDisplayNameField(field, text);
  if (name === '') throw invalidArgument(field, 'is required');
  return name;
}

/** May be empty. */
export function optionalDisplayNameField(field: string, text: string): string {
  const name = text.trim();
  if (hasMoreCodePoints(name, maxDisplayNameCharacters)) {
    throw invalidArgument(field, `must have at most ${maxDisplayNameCharacters} characters`);
  }
  if (controlCharacter.test(name)) throw invalidArgument(field, 'must have no control characters');
  return name;
}

/** A name at another service; may be empty. Line breaks in it would be commands of that service's protocol. */
export function userNameField(field: string, text: string): string {
  if (text.length > maxUserNameCharacters || controlCharacter.test(text)) {
    throw invalidArgument(field, `must have at most ${maxUserNameCharacters} plain characters`);
  }
  return text;
}

export function newPasswordField(field: string, text: string): string {
  const isShort = !hasMoreCodePoints(text, minPasswordCharacters - 1);
  if (isShort || hasMoreCodePoints(text, maxPasswordCharacters)) {
    throw invalidArgument(
      field,
      `must have ${minPasswordCharacters} to ${maxPasswordCharacters} characters`,
    );
  }
  if (isCommonPassword(text)) throw invalidArgument(field, 'is one that everybody tries first');
  return text;
}

/** A name that Node's time zone data knows; returned as it was sent. */
export function timezoneField(field: string, text: string): string {
  // Intl takes offsets like +01:00 too, but they are not zones with a history.
  if (/^[A-Za-z][A-Za-z0-9_+\-/]{0,63}$/.test(text)) {
    try {
      new Intl.DateTimeFormat('en', { timeZone: text });
      return text;
    } catch {
      // Not a time zone: the throw below says so.
    }
  }
  throw invalidArgument(field, 'must be an IANA time zone such as Europe/Berlin');
}

export function requiredField(field: string, text: string): string {
  if (text === '') throw invalidArgument(field, 'is required');
  return text;
}
