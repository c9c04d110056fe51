// What an endpoint's URL may be: judged when a webhook is made or changed, and again at each attempt. Only what the
// text itself says is judged here; the addresses that a name leads to are endpoint-connector.ts's.

import { type BlockList, isIP } from 'node:net';
import { parseUrl } from '../http/parse-url.ts';
import { isReachableAddress } from '../private-networks.ts';

export type EndpointUrl =
  | { kind: 'ok'; url: URL }
  /** `rule` completes the sentence that begins with the field's name. */
  | { kind: 'refused'; rule: string };

export const maxEndpointUrlLength = 2_048;

// Names that lead to this machine or this network, and that no public name server answers: RFC 6761, RFC 6762, and
// the name that ICANN keeps for private use.
const localSuffixes = ['localhost', 'local', 'internal', 'home.arpa'];

/**
 * `allowed` are the operator's networks: only there is plain http allowed, and only an operator who opened some may
 * use names of the local network.
 */
export function checkEndpointUrl(text: string, { allowed }: { allowed: BlockList }): EndpointUrl {
  if (text.length > maxEndpointUrlLength) {
    return refused(`must have at most ${maxEndpointUrlLength} characters`);
  }
  const url = parseUrl(text);
  if (url === undefined) return refused('must be a URL such as https://example.com/hook');
  const isOpened = allowed.rules.length > 0;
  if (url.protocol !== 'https:' && !(isOpened && url.protocol === 'http:')) {
    return refused('must start with https://');
  }
  if (url.username !== '' || url.password !== '') {
    return refused('must not have a user name or a password');
  }
  if (url.port === '0') return refused('must not have port 0');
  const address = literalOf(url);
  if (address === undefined) {
    if (!isOpened && isLocalName(url.hostname)) return refused(mustBePublic);
  } else {
    if (!isReachableAddress(address, allowed)) return refused(mustBePublic);
    if (url.protocol === 'http:' && !isAllowedAddress(address, allowed)) {
      return refused('must start with https://');
    }
  }
  url.hash = '';
  return { kind: 'ok', url };
}

/**
 * The address that a URL's host is written as, undefined for a name. The parser of URLs has already turned every
 * notation of an IPv4 address (decimal, hexadecimal, octal, short) into four numbers.
 */
export function literalOf(url: URL): string | undefined {
  const host = url.hostname.replace(/^\[(.*)\]$/, '$1');
  return isIP(host) === 0 ? undefined : host;
}

/** Whether the operator opened the network of an address literal. */
export function isAllowedAddress(address: string, allowed: BlockList): boolean {
  const version = isIP(address);
  return version !== 0 && allowed.check(address, version === 4 ? 'ipv4' : 'ipv6');
}

const mustBePublic = 'must lead to the public internet';

function isLocalName(hostname: string): boolean {
  const name = hostname.replace(/\.$/, '');
  return localSuffixes.some((suffix) => name === suffix || name.endsWith(`.${suffix}`));
}

function refused(rule: string): EndpointUrl {
  return { kind: 'refused', rule };
}
