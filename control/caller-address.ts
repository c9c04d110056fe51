// The network address that a request comes from. Only the limits on attempts look at it. Connect's context does not
// hold it, so that the HTTP adapter must set it.

import { createContextKey, type HandlerContext } from '@connectrpc/connect';

export const callerAddressKey = createContextKey<string | undefined>(undefined, {
  description: "caller's address",
});

export function addressOf(context: Pick<HandlerContext, 'values'>): string | undefined {
  return context.values.get(callerAddressKey);
}
