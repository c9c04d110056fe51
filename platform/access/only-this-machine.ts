// Tells whether a request can have come from this machine alone; some checks ease for such requests. A proxy on this
// machine brings the whole world, so each trace of one ends it. Which checks ease is up to their owners.

import type { CallerRequest } from '../http/caller-request.ts';
import { isLoopbackAddress, isLoopbackHost } from '../private-networks.ts';

/** True only where no sign speaks for a caller elsewhere. */
export type OnlyThisMachine = (request: CallerRequest) => boolean;

interface Reach {
  /** The address on which the service listens. */
  host: string;
  /** Whether the operator has set a public URL, trusted proxies or a CDN. */
  facesOthers: boolean;
}

const proxyHeaders = ['forwarded', 'via'];

/** Costs a map look-up or two where `reach` already says no, and a walk over the headers' names otherwise. */
export function createOnlyThisMachine(reach: Reach): OnlyThisMachine {
  if (reach.facesOthers || !isLoopbackHost(reach.host)) return () => false;
  return cameStraightFromThisMachine;
}

/** What the request itself tells, whatever the settings say. */
export function cameStraightFromThisMachine({ headers, peerAddress }: CallerRequest): boolean {
  if (peerAddress === undefined || !isLoopbackAddress(peerAddress)) return false;
  const names = Object.keys(headers);
  if (names.some((name) => proxyHeaders.includes(name) || name.startsWith('x-forwarded-'))) {
    return false;
  }
  const authority = headers.host ?? headers[':authority'];
  return typeof authority === 'string' && isLoopbackHost(hostOf(authority));
}

/** `localhost:8080` without its port; an IPv6 literal keeps its brackets. */
function hostOf(authority: string): string {
  return authority.replace(/:\d{1,5}$/, '');
}
