// The rules of single request fields, one function each. A function returns the value in the form that is stored, or
// throws invalid_argument that names field and rule. It looks at the length first; its work grows no faster than the
// text. Rules that join several fields are each method's own.

import type { Timestamp } from '@bufbuild/protobuf/wkt';
import { Code, ConnectError } from '@connectrpc/connect';
import { canonicalEmail, hasDnsDomain } from '../platform/access/email-address.ts';
import { mayUse, type OrganizationDirectory } from '../platform/access/organizations.ts';
import { hasMoreCodePoints, maxQuestionMs, minQuestionMs } from '../platform/limits.ts';
import { readMailbox } from '../platform/mail/mailbox.ts';
import { zones } from '../platform/zones/zones.ts';
import { isCommonPassword } from './auth/common-passwords.ts';
import { maxPasswordCharacters, minPasswordCharacters } from './auth/passwords.ts';
import type { SignedInMember, SignedInProjectMember } from './signed-in-customer.ts';

export const maxDisplayNameCharacters = 150;
const maxEmailCharacters = 254;
const emailPattern = /^[^\s@<>(),:;"\\[\]\p{C}]{1,64}@[^\s@<>(),:;"\\[\]\p{C}]{1,253}$/u;
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

/** One address, or a name and an address in angle brackets: the form of a mail's From. */
export function mailboxField(field: string, text: string): string {
  const mailbox = readMailbox(text);
  if (mailbox === undefined || hasMoreCodePoints(mailbox.name, maxDisplayNameCharacters)) {
    throw invalidArgument(field, 'must be one e-mail address, or one name and <address>');
  }
  emailField(field, mailbox.address);
  return text.trim();
}

export function displayNameField(field: string, text: string): string {
  return lineField(field, text, maxDisplayNameCharacters);
}

/** A text of one line. */
export function lineField(field: string, text: string, maxCharacters: number): string {
  const line = optionalLineField(field, text, maxCharacters);
  if (line === '') throw invalidArgument(field, 'is required');
  return line;
}

/** May be empty. */
export function optionalDisplayNameField(field: string, text: string): string {
  return optionalLineField(field, text, maxDisplayNameCharacters);
}

function optionalLineField(field: string, text: string, maxCharacters: number): string {
  const line = text.trim();
  if (hasMoreCodePoints(line, maxCharacters)) {
    throw invalidArgument(field, `must have at most ${maxCharacters} characters`);
  }
  if (controlCharacter.test(line)) throw invalidArgument(field, 'must have no control characters');
  return line;
}

/** A moment that questions can be about, in milliseconds since 1970. */
export function momentField(field: string, { seconds, nanos }: Timestamp): number {
  const timeMs = Number(seconds) * 1_000 + Math.floor(nanos / 1e6);
  const isTime = timeMs >= minQuestionMs && timeMs <= maxQuestionMs && nanos >= 0 && nanos < 1e9;
  if (!isTime) throw invalidArgument(field, 'must lie between 1970 and 2200');
  return timeMs;
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

/** A name of the IANA's; returned as it was sent. */
export function timezoneField(field: string, text: string): string {
  if (zones.nameOf(text) !== undefined) return text;
  throw invalidArgument(field, 'must be an IANA time zone such as Europe/Berlin');
}

/** A whole number between two, both included. */
export function wholeField(field: string, value: number, least: number, greatest: number): number {
  if (Number.isInteger(value) && value >= least && value <= greatest) return value;
  throw invalidArgument(field, `must be ${least} to ${greatest}`);
}

/** A member of the caller's organization who has the caller's project, by the customer's id. */
export function checkedMember(
  directory: Pick<OrganizationDirectory, 'placeOf'>,
  field: string,
  customerId: string,
  { organizationId, projectId }: Pick<SignedInMember, 'organizationId'> & SignedInProjectMember,
): string {
  const place = directory.placeOf(organizationId, customerId);
  if (place !== undefined && mayUse(place, projectId)) return customerId;
  throw invalidArgument(field, 'is no member who has the project');
}

export function requiredField(field: string, text: string): string {
  if (text === '') throw invalidArgument(field, 'is required');
  return text;
}

interface TextList {
  max: number;
  maxCharacters: number;
  /** The form that is kept; undefined where the text is none. */
  read(text: string): string | undefined;
  /** The rest of the sentence after the field's name. */
  rule: string;
}

/** Each text once, in the form that is kept. The error names the text by its place. */
export function readTextList(
  field: string,
  texts: readonly string[],
  { max, maxCharacters, read, rule }: TextList,
): readonly string[] {
  if (texts.length > max) throw invalidArgument(field, `must have at most ${max}`);
  const kept = texts.map((text, index) => {
    const item = text.length > maxCharacters ? undefined : read(text.trim());
    if (item !== undefined) return item;
    throw invalidArgument(`${field}[${index}]`, `${rule}, of at most ${maxCharacters} characters`);
  });
  return [...new Set(kept)];
}
