// The client's address in a field of a log. One address has one form, so that it is one visitor however it is written.

import { type BlockList, isIP } from 'node:net';
import { canonicalAddress, networks } from '../../platform/private-networks.ts';

/** The field that the user named: its number from 1, `last`, or its name in formats that have names. */
export type ClientField = number | 'last' | string;

/** Networks whose addresses are those of balancers and proxies, never of visitors from the internet. */
const inside: BlockList = networks([
  ...['10.0.0.0/8', '100.64.0.0/10', '127.0.0.0/8', '169.254.0.0/16', '172.16.0.0/12'],
  ...['192.168.0.0/16', '::1/128', 'fc00::/7', 'fe80::/10'],
]);

/** The number, `last` or name of a flag's text. */
export function clientField(text: string): ClientField {
  return /^[1-9]\d{0,3}$/.test(text) ? Number(text) : text;
}

/**
 * The first address from outside in a field that has one or several with commas between, else the first; undefined
 * where a part is none. With or without brackets and a port.
 */
export function addressIn(field: string | undefined): string | undefined {
  if (field === undefined || field.length > maxFieldCharacters) return undefined;
  const addresses: string[] = [];
  for (const part of field.split(',')) {
    const address = oneForm(part.trim());
    if (address === undefined) return undefined;
    addresses.push(address);
  }
  return addresses.find((address) => !isInside(address)) ?? addresses[0];
}

const maxFieldCharacters = 1_024;

export function isInside(address: string): boolean {
  return inside.check(address, isIP(address) === 6 ? 'ipv6' : 'ipv4');
}

function oneForm(text: string): string | undefined {
  const bare = text.replace(/^\[([^\]]*)\](?::\d{1,5})?$/, '$1');
  const address = canonicalAddress(bare);
  if (address !== undefined) return address;
  const withoutPort = bare.replace(/:\d{1,5}$/, '');
  return isIP(withoutPort) === 4 ? withoutPort : undefined;
}
