// The address of the person or program that calls, which only limits on attempts look at. A handler's context does not
// hold it: the HTTP server's adapter must set it.

import { createContextKey, type HandlerContext } from '@connectrpc/connect';

export const callerAddressKey = createContextKey<string | undefined>(undefined, {
  description: "caller's address",
});

export function addressOf(context: Pick<HandlerContext, 'values'>): string | undefined {
  return context.values.get(callerAddressKey);
}
