// The sites that may show a shared dashboard in a frame: how their origins are written, and which of them the page of
// a token names. A share has none unless its maker gave some.

import type { Clock } from '../clock.ts';
import { maxOriginCharacters, originPattern } from '../senders/allowed-origins.ts';
import { type ShareDirectory, shareStaleAfterMs } from './share-directory.ts';

export const maxEmbedOrigins = 10;

/**
 * Names in ASCII and a port, so that nothing in a policy ends the list; a host-source of a policy has no IPv6 address
 * (https://www.w3.org/TR/CSP3/#framework-directive-source-list).
 */
const originForm = /^(https?):\/\/([a-z0-9](?:[a-z0-9-]*[a-z0-9])?(?:\.[a-z0-9-]+)*)(?::\d+)?$/;
const loopback = new Set(['localhost', '127.0.0.1']);

/**
 * The origin as a browser writes it: `https://example.com`, with `:8443` where the port is not the scheme's own; http
 * for loopback alone. Undefined where the text is no such origin.
 */
export function embedOrigin(text: string): string | undefined {
  const origin = originPattern(text) ?? '';
  const [, scheme, host = ''] = originForm.exec(origin) ?? [];
  if (scheme === undefined || (scheme === 'http' && !loopback.has(host))) return undefined;
  // A name that is not ASCII is longer in it.
  if (origin.length > maxOriginCharacters) return undefined;
  return origin;
}

/** The origins that may show the page of a token in a frame. Empty: no site may. */
export type EmbedOriginsOf = (token: string) => readonly string[];

/** A token that is unknown, revoked or expired has what a share without origins has: nobody can tell them apart. */
export function createEmbedOrigins(shares: ShareDirectory, clock: Clock): EmbedOriginsOf {
  return (token) => {
    if (shares.unconfirmedMs() > shareStaleAfterMs) return [];
    const { embedOrigins = [], expireTimeMs } = shares.find(token)?.share ?? {};
    return expireTimeMs !== undefined && clock.nowMs() >= expireTimeMs ? [] : embedOrigins;
  };
}
