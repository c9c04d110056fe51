// Where the names of other people's servers lead, mail servers and endpoints of webhooks, and which addresses are
// everybody's. Connecting is smtp.ts's and that of webhooks/.

import { lookup, Resolver } from 'node:dns/promises';
import type { BlockList } from 'node:net';
import { isPublicAddress, isReachableAddress } from '../private-networks.ts';

/** A test makes an internet of this machine's addresses. */
export interface Internet {
  /** The addresses of a name; rejects where there are none. */
  resolve(host: string): Promise<readonly { address: string }[]>;
  isPublic(address: string): boolean;
}

/**
 * Whether each of a name's addresses is public or in `allowed`. One that is not makes the name suspect: whoever owns
 * it decides which of them a connection gets.
 */
export function areReachable(
  addresses: readonly { address: string }[],
  { isPublic }: Pick<Internet, 'isPublic'>,
  allowed: BlockList,
): boolean {
  return addresses.every(
    ({ address }) => isPublic(address) || isReachableAddress(address, allowed),
  );
}

/** The system's look-up, with its hosts file and search domains: for names from people of this machine. */
export const systemInternet: Internet = {
  resolve: (host) => lookup(host, { all: true }),
  isPublic: isPublicAddress,
};

// Twice this long for a name whose servers do not answer.
const dnsTimeoutMs = 3_000;

/**
 * DNS alone, for names from anybody. The system's look-up holds one of libuv's few threads until it is answered, and a
 * stranger's name server need not answer: compressed requests wait for the same threads.
 */
export function createDnsInternet(options: {
  servers?: readonly string[];
  timeoutMs?: number;
}): Internet {
  const resolver = new Resolver({ timeout: options.timeoutMs ?? dnsTimeoutMs, tries: 2 });
  if (options.servers !== undefined) resolver.setServers(options.servers);
  return {
    async resolve(host) {
      // No question for a server: RFC 6761.
      if (host === 'localhost') return [{ address: '127.0.0.1' }];
      const [ipv4, ipv6] = await Promise.allSettled([
        resolver.resolve4(host),
        resolver.resolve6(host),
      ]);
      const found = [ipv4, ipv6].flatMap((answer) =>
        answer.status === 'fulfilled' ? answer.value : [],
      );
      if (found.length === 0 && ipv4.status === 'rejected') throw ipv4.reason;
      return found.map((address) => ({ address }));
    },
    isPublic: isPublicAddress,
  };
}
