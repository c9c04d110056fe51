// Networks that nobody outside may reach through us: private, local and special ones, by IANA's registries. Checks
// addresses only; resolving a name, and checking again, is left to the code that connects.

import { BlockList, isIP } from 'node:net';

const ranges = [
  '0.0.0.0/8',
  '10.0.0.0/8',
  '100.64.0.0/10',
  '127.0.0.0/8',
  '169.254.0.0/16',
  '172.16.0.0/12',
  '192.0.0.0/24',
  '192.0.2.0/24',
  '192.88.99.0/24',
  '192.168.0.0/16',
  '198.18.0.0/15',
  '198.51.100.0/24',
  '203.0.113.0/24',
  '224.0.0.0/4',
  '240.0.0.0/4',
  '::/96',
  '64:ff9b::/96',
  '64:ff9b:1::/48',
  '100::/64',
  '2001::/23',
  '2001:db8::/32',
  '2002::/16',
  '3fff::/20',
  'fc00::/7',
  'fe80::/10',
  'fec0::/10',
  'ff00::/8',
] as const;

// An IPv4 address written as IPv6 (::ffff:10.0.0.1) is checked as IPv4 by the list itself.
const special = networks(ranges);
const loopback = networks(['127.0.0.0/8', '::1/128']);

/** Whether an address literal lies in the public internet or in `allowed`. False for any other text. */
export function isReachableAddress(address: string, allowed: BlockList): boolean {
  const version = isIP(address);
  if (version === 0) return false;
  const family = version === 4 ? 'ipv4' : 'ipv6';
  return allowed.check(address, family) || !special.check(address, family);
}

/** For the host of a URL or of a Host header without its port: `localhost`, or a literal of this machine itself. */
export function isLoopbackHost(host: string): boolean {
  return host === 'localhost' || isLoopbackAddress(host.replace(/^\[(.*)\]$/, '$1'));
}

/** For an address literal; an IPv4 address written as IPv6 counts as IPv4. */
export function isLoopbackAddress(address: string): boolean {
  const version = isIP(address);
  return version !== 0 && loopback.check(address, version === 4 ? 'ipv4' : 'ipv6');
}

/** One list of texts like `a.b.c.d/n` and `x::/n`. Throws where a text is no network. */
export function networks(texts: readonly string[]): BlockList {
  const list = new BlockList();
  for (const text of texts) {
    const [address = '', bits] = text.split('/', 2);
    list.addSubnet(address, Number(bits), isIP(address) === 4 ? 'ipv4' : 'ipv6');
  }
  return list;
}
