// Tells who sent a request, as far as events may know: a place, a user agent, a bot verdict. The address is read here
// for the look-up of the place and then forgotten: nothing that `read` returns holds it.

import type { IncomingHttpHeaders } from 'node:http';
import { type BlockList, isIP } from 'node:net';
import type { CdnPreset } from '../../platform/config.ts';
import type { CallerRequest } from '../../platform/http/caller-request.ts';
import { maxUserAgentCharacters } from '../../platform/limits.ts';
import { canonicalAddress } from '../../platform/private-networks.ts';
import type { Location, RequestContext } from '../../proto/wire/frame.ts';
import { cdns, header, locationFrom } from './cdn.ts';
import type { LocateAddress } from './geo.ts';

export interface CallerOptions {
  /** The CDN whose headers are read. */
  cdn?: CdnPreset | undefined;
  /** Networks whose headers are believed: the CDN's, or the operator's own proxies. */
  trustedProxies: BlockList;
  /** How many proxies append to X-Forwarded-For; with 0 the header is not read. */
  proxyHops: number;
  /** Header names are in lower case. */
  botScoreHeader: string;
  verifiedBotHeader: string;
  locate?: LocateAddress | undefined;
}

/** Tells callers apart whose events name nobody. Never queued. */
export interface CallerIdentity {
  address: string;
  userAgent: string;
}

/** The part of a request's context that describes its caller. */
export type Caller = Pick<RequestContext, 'userAgent' | 'location' | 'botScore' | 'verifiedBot'>;

export class CallerReader {
  readonly #options: CallerOptions;
  readonly #hasProxies: boolean;

  constructor(options: CallerOptions) {
    this.#options = options;
    this.#hasProxies = options.trustedProxies.rules.length > 0;
  }

  /**
   * A private key's requests come from servers, so that only the CDN's bot verdict is read; a public key's give all.
   */
  read(request: CallerRequest, credential: 'public' | 'private'): Caller {
    const caller: Caller = {};
    const isBelieved = this.#isBelieved(request);
    if (isBelieved) readBotVerdict(request.headers, this.#options, caller);
    if (credential === 'private') return caller;
    const userAgent = header(request.headers, 'user-agent');
    if (userAgent !== undefined) caller.userAgent = userAgent.slice(0, maxUserAgentCharacters);
    const location = this.#location(request, isBelieved);
    if (location !== undefined) caller.location = location;
    return caller;
  }

  /** For requests of any key; undefined where the address or the user agent is missing. */
  identity(request: CallerRequest): CallerIdentity | undefined {
    const userAgent = header(request.headers, 'user-agent');
    if (userAgent === undefined) return undefined;
    const address = this.address(request);
    if (address === undefined) return undefined;
    return { address, userAgent: userAgent.slice(0, maxUserAgentCharacters) };
  }

  /** The address of the person or program that sent the request; undefined where the connection is gone. */
  address(request: CallerRequest): string | undefined {
    const { cdn, proxyHops } = this.#options;
    const { headers } = request;
    const peer = bareAddress(request.peerAddress);
    if (!this.#isBelieved(request)) return peer;
    return (
      (cdn === undefined ? undefined : bareAddress(cdns[cdn].address(headers))) ??
      bareAddress(forwardedAddress(headers, proxyHops)) ??
      peer
    );
  }

  #isBelieved({ peerAddress }: CallerRequest): boolean {
    return this.#hasProxies && isTrustedProxy(this.#options.trustedProxies, peerAddress);
  }

  #location(request: CallerRequest, isBelieved: boolean): Location | undefined {
    const { cdn, locate } = this.#options;
    if (isBelieved && cdn !== undefined) {
      const location = locationFrom(cdns[cdn], request.headers);
      if (location !== undefined) return location;
    }
    if (locate === undefined) return undefined;
    const address = this.address(request);
    return address === undefined ? undefined : locate(address);
  }
}

export function isTrustedProxy(proxies: BlockList, peerAddress: string | undefined): boolean {
  const peer = bareAddress(peerAddress);
  return peer !== undefined && proxies.check(peer, isIP(peer) === 6 ? 'ipv6' : 'ipv4');
}

function readBotVerdict(
  headers: IncomingHttpHeaders,
  options: CallerOptions,
  caller: Caller,
): void {
  const score = header(headers, options.botScoreHeader);
  if (score !== undefined && /^[0-9]{1,9}$/.test(score)) caller.botScore = Number(score);
  const verified = header(headers, options.verifiedBotHeader)?.toLowerCase();
  if (verified === 'true' || verified === '1') caller.verifiedBot = true;
  if (verified === 'false' || verified === '0') caller.verifiedBot = false;
}

/**
 * The address that the outermost of `hops` proxies saw: the proxies appended its entry and all entries to the right.
 * With fewer entries than hops the caller came in further inside, and the first entry is the caller's own.
 */
function forwardedAddress(headers: IncomingHttpHeaders, hops: number): string | undefined {
  if (hops === 0) return undefined;
  const entries = header(headers, 'x-forwarded-for')?.split(',') ?? [];
  return entries[Math.max(0, entries.length - hops)];
}

/**
 * The one spelling of the address in "192.0.2.1", "192.0.2.1:443", "::ffff:192.0.2.1", "2001:DB8:0::1" or
 * "[2001:db8::1]:443": what is hashed or compared must not depend on who wrote it.
 */
function bareAddress(text: string | undefined): string | undefined {
  if (text === undefined || isIP(text) === 4) return text;
  const bare = text
    .trim()
    .replace(/^\[(.*)\](?::\d+)?$/, '$1')
    // As a server that listens on both versions sees IPv4. The other spellings cost more.
    .replace(/^::ffff:(?=[0-9.]+$)/i, '');
  const address = canonicalAddress(bare);
  if (address !== undefined) return address;
  const withoutPort = bare.replace(/:\d+$/, '');
  return isIP(withoutPort) === 4 ? withoutPort : undefined;
}
