// One form for each e-mail address, so that no two spellings of an address are two accounts. Whether a text is an
// address at all is the fields' to say.

import { domainToASCII } from 'node:url';

const plain = /^[\x20-\x7e]*$/;
/** Of ASCII only letters, digits and what joins them: `domainToASCII` would cut a path or a port off. */
const international = /^[a-z0-9._\-\u{80}-\u{10ffff}]+$/u;

/**
 * An address in lower case, with its domain as DNS has it: in ASCII and without a dot at its end. A domain that has no
 * such form stays as it is, with characters beyond ASCII: `hasDnsDomain` tells.
 */
export function canonicalEmail(email: string): string {
  const at = email.lastIndexOf('@') + 1;
  const domain = email.slice(at).replace(/\.$/, '');
  const isInternational = !plain.test(domain) && international.test(domain);
  const ascii = isInternational ? domainToASCII(domain) : domain;
  return email.slice(0, at) + (ascii === '' ? domain : ascii);
}

/** Whether the domain of a canonical address has a form for DNS. */
export function hasDnsDomain(email: string): boolean {
  return plain.test(email.slice(email.lastIndexOf('@') + 1));
}
