// The rules of single request fields, one function each: it returns the value in the form that is kept, or throws
// invalid_argument that names field and rule.

import { Code, ConnectError } from '@connectrpc/connect';
import { maxPasswordCharacters, minPasswordCharacters } from './auth/passwords.ts';

export const maxDisplayNameCharacters = 150;
const maxEmailCharacters = 254;
const emailPattern = /^[^\s@<>(),:;"\\[\]\p{C}]{1,64}@[^\s@<>(),:;"\\[\]\p{C}]{1,253}$/u;
const controlCharacter = /[\p{Cc}\u2028\u2029]/u;

/** `rule` says what the field must be. */
export function invalidArgument(field: string, rule: string): ConnectError {
  return new ConnectError(`${field}: ${rule}`, Code.InvalidArgument);
}

/** Lower case: no two customers' addresses differ in capitals alone. */
export function emailField(field: string, text: string): string {
  const email = text.trim().normalize('NFC').toLowerCase();
  if (email === '') throw invalidArgument(field, 'is required');
  if (email.length > maxEmailCharacters || !emailPattern.test(email)) {
    throw invalidArgument(
      field,
      `must be an e-mail address of at most ${maxEmailCharacters} characters`,
    );
  }
  return email;
}

/** An address, or a name with an address in angle brackets, as a mail's From has it. */
export function mailboxField(field: string, text: string): string {
  const mailbox = text.trim();
  const [, name = '', bracketed] = /^(.*?)\s*<([^<>]*)>$/s.exec(mailbox) ?? [];
  if (controlCharacter.test(mailbox) || characters(name) > maxDisplayNameCharacters) {
    throw invalidArgument(field, 'must be an e-mail address, or a name and <address>');
  }
  emailField(field, bracketed ?? mailbox);
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
  if (characters(name) > maxDisplayNameCharacters) {
    throw invalidArgument(field, `must have at most ${maxDisplayNameCharacters} characters`);
  }
  if (controlCharacter.test(name)) throw invalidArgument(field, 'must have no control characters');
  return name;
}

export function newPasswordField(field: string, text: string): string {
  const length = characters(text);
  if (length < minPasswordCharacters || length > maxPasswordCharacters) {
    throw invalidArgument(
      field,
      `must have ${minPasswordCharacters} to ${maxPasswordCharacters} characters`,
    );
  }
  return text;
}

/** A name that this system's time zone data knows, in the spelling that was sent. */
export function timezoneField(field: string, text: string): string {
  // Offsets such as +01:00 are understood by Intl too, but they are no zones with a history.
  if (/^[A-Za-z][A-Za-z0-9_+\-/]{0,63}$/.test(text)) {
    try {
      new Intl.DateTimeFormat('en', { timeZone: text });
      return text;
    } catch {
      // Falls through to the refusal.
    }
  }
  throw invalidArgument(field, 'must be an IANA time zone such as Europe/Berlin');
}

export function requiredField(field: string, text: string): string {
  if (text === '') throw invalidArgument(field, 'is required');
  return text;
}

function characters(text: string): number {
  let count = 0;
  for (const _ of text) count++;
  return count;
}
