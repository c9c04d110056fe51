// Networks that nobody outside may reach through us: all but the public internet, by IANA's registries of
// special-purpose addresses (iana.org/assignments/iana-ipv4-special-registry and iana-ipv6-special-registry). Reads
// addresses only; resolving a name, and checking again, is left to the code that connects.

import { BlockList, isIP } from 'node:net';

const specialIpv4 = networks([
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
]);
// All global unicast addresses lie here. What lies outside is local or multicast, carries an IPv4 address that a router
// may take out (::/96, ::ffff:0:0:0/96, 64:ff9b::/96), or belongs to nobody yet.
const unicastIpv6 = networks(['2000::/3']);
const specialIpv6 = networks(['2001::/23', '2001:db8::/32', '2002::/16', '3fff::/20']);
// An IPv4 address written as IPv6; a BlockList of IPv4 networks reads it by itself.
const mappedIpv4 = networks(['::ffff:0:0/96']);
const loopback = networks(['127.0.0.0/8', '::1/128']);

/** Whether an address literal lies in the public internet or in `allowed`. False for any other text. */
export function isReachableAddress(address: string, allowed: BlockList): boolean {
  return isPublicAddress(address) || isIn(allowed, address);
}

/** Whether an address literal lies in the public internet. False for any other text. */
export function isPublicAddress(address: string): boolean {
  switch (isIP(address)) {
    case 4:
      return !specialIpv4.check(address, 'ipv4');
    case 6:
      if (mappedIpv4.check(address, 'ipv6')) return !specialIpv4.check(address, 'ipv6');
      return unicastIpv6.check(address, 'ipv6') && !specialIpv6.check(address, 'ipv6');
    default:
      return false;
  }
}

/** For the host of a URL or of a Host header without its port: `localhost`, or a literal of this machine itself. */
export function isLoopbackHost(host: string): boolean {
  return host === 'localhost' || isLoopbackAddress(host.replace(/^\[(.*)\]$/, '$1'));
}

/** For an address literal; an IPv4 address written as IPv6 counts as IPv4. */
export function isLoopbackAddress(address: string): boolean {
  return isIn(loopback, address);
}

/**
 * The one spelling of an address literal, that of a URL (url.spec.whatwg.org/#concept-ipv6-serializer), without a zone;
 * an IPv4 address written as IPv6 is that IPv4 address. Undefined for any other text.
 */
export function canonicalAddress(address: string): string | undefined {
  const version = isIP(address);
  if (version !== 6) return version === 4 ? address : undefined;
  const ipv6 = new URL(`http://[${address.replace(/%.*$/, '')}]`).hostname.slice(1, -1);
  const [, ...words] = /^::ffff:([0-9a-f]{1,4}):([0-9a-f]{1,4})$/.exec(ipv6) ?? [];
  if (words.length === 0) return ipv6;
  const numbers = words.map((word) => Number.parseInt(word, 16));
  return numbers.flatMap((number) => [number >>> 8, number & 0xff]).join('.');
}

function isIn(list: BlockList, address: string): boolean {
  const version = isIP(address);
  return version !== 0 && list.check(address, version === 4 ? 'ipv4' : 'ipv6');
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

/** The one spelling of an address or a network, with the bits of its prefix; undefined for any other text. */
export function networkOf(text: string): string | undefined {
  const [written = '', bits, ...rest] = text.split('/');
  const address = canonicalAddress(written);
  // Of an IPv4 address written as IPv6 nobody knows which address its bits are of.
  if (address === undefined || isIP(address) !== isIP(written)) return undefined;
  const widest = isIP(address) === 4 ? 32 : 128;
  const prefix = bits ?? String(widest);
  // Not by Number alone: it reads the empty text after `10.0.0.0/` as 0, which is every address.
  const isPrefix = /^\d{1,3}$/.test(prefix) && Number(prefix) <= widest;
  return isPrefix && rest.length === 0 ? `${address}/${Number(prefix)}` : undefined;
}

/** A setting's networks, with commas between; an address alone is a network of one. `problems` gets each wrong one. */
export function readNetworks(
  name: string,
  text: string | undefined,
  problems: string[],
): BlockList {
  const right: string[] = [];
  for (const network of (text ?? '').split(',')) {
    const trimmed = network.trim();
    if (trimmed === '') continue;
    const read = networkOf(trimmed);
    if (read === undefined)
      problems.push(`${name}: ${trimmed} is not a network such as 10.0.0.0/8`);
    else right.push(read);
  }
  return networks(right);
}
