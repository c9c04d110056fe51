// The sites that may show a shared dashboard in a frame: how their origins are written, and which of them the page of
// a token names. A share has none unless its maker gave some.

import type { Clock } from '../clock.ts';
import type { ShareDirectory } from './share-directory.ts';

export const maxEmbedOrigins = 10;
export const maxEmbedOriginCharacters = 255;

/**
 * Names in ASCII and a port, so that nothing in a policy ends the list; a host-source of a policy has no IPv6 address
 * (https://www.w3.org/TR/CSP3/#framework-directive-source-list).
 */
const originForm = /^(https?):\/\/([a-z0-9](?:[a-z0-9-]*[a-z0-9])?(?:\.[a-z0-9-]+)*)(?::\d+)?$/;
const loopback = new Set(['localhost', '127.0.0.1']);
/** While the broker has not confirmed memory for this long, a share may have ended: nor does Render show it then. */
const staleAfterMs = 10_000;

/**
 * The origin as a browser writes it: `https://example.com`, with `:8443` where the port is not the scheme's own; http
 * for loopback alone. Undefined where the text is no such origin.
 */
export function embedOrigin(text: string): string | undefined {
  const sent = text.trim().toLowerCase().replace(/\/$/, '');
  if (/[\s/?#@\\]/.test(sent.replace(/^https?:\/\//, ''))) return undefined;
  const origin = originOf(sent);
  const [, scheme, host = ''] = originForm.exec(origin) ?? [];
  if (scheme === undefined || (scheme === 'http' && !loopback.has(host))) return undefined;
  // A name that is not ASCII is longer in it.
  if (origin.length > maxEmbedOriginCharacters) return undefined;
  return origin;
}

function originOf(text: string): string {
  try {
    return new URL(text).origin;
  } catch {
    return '';
  }
}

/** The origins that may show the page of a token in a frame. Empty: no site may. */
export type EmbedOriginsOf = (token: string) => readonly string[];

/** A token that is unknown, revoked or expired has what a share without origins has: nobody can tell them apart. */
export function createEmbedOrigins(shares: ShareDirectory, clock: Clock): EmbedOriginsOf {
  return (token) => {
    if (shares.unconfirmedMs() > staleAfterMs) return [];
    const { embedOrigins = [], expireTimeMs } = shares.find(token)?.share ?? {};
    return expireTimeMs !== undefined && clock.nowMs() >= expireTimeMs ? [] : embedOrigins;
  };
}
