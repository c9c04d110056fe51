// The two facts of a request that tell who called: its headers, and the address of the connection's other end. That
// address is read off the socket here and nowhere else. Which of the two is believed is ingest/caller's decision.

import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import {
  type ContextValues,
  createContextKey,
  createContextValues,
  type HandlerContext,
} from '@connectrpc/connect';

export interface CallerRequest {
  headers: IncomingHttpHeaders;
  /** The address of the connection's other end: the caller's own, or a proxy's. */
  peerAddress: string | undefined;
}

/** Undefined where the connection is closed already. */
export function peerAddressOf(socket: { remoteAddress?: string | undefined }): string | undefined {
  return socket.remoteAddress;
}

const peerAddressKey = createContextKey<string | undefined>(undefined, {
  description: 'peer address',
});

/** Puts the peer's address where `callerRequestOf` finds it: a handler's context does not hold the socket. */
export function contextValuesOf(request: Pick<IncomingMessage, 'socket'>): ContextValues {
  return createContextValues().set(peerAddressKey, peerAddressOf(request.socket));
}

/** The same two facts in a handler of the Connect router. */
export function callerRequestOf(
  context: Pick<HandlerContext, 'requestHeader' | 'values'>,
): CallerRequest {
  return {
    headers: Object.fromEntries(context.requestHeader),
    peerAddress: context.values.get(peerAddressKey),
  };
}
