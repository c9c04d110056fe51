// Every answer 503 of the Connect router says when to ask again, whoever refused the call.

import type { ConnectRouter } from '@connectrpc/connect';
import type { UniversalServerRequest } from '@connectrpc/connect/protocol';

/** What is away is asked for again every second by most parts, so that an earlier retry is in vain. */
const retryAfterSeconds = 1;

/** Call it after all services are registered. */
export function sayWhenToRetry(router: ConnectRouter): void {
  for (const [index, handler] of router.handlers.entries()) {
    const told = async (request: UniversalServerRequest) => {
      const response = await handler(request);
      if (response.status === 503 && response.header?.has('retry-after') !== true) {
        const header = new Headers(response.header);
        header.set('retry-after', String(retryAfterSeconds));
        return { ...response, header };
      }
      return response;
    };
    const { protocolNames, supportedContentType, allowedMethods, requestPath } = handler;
    const names = { protocolNames, supportedContentType, allowedMethods, requestPath };
    router.handlers[index] = Object.assign(told, {
      ...names,
      service: handler.service,
      method: handler.method,
    });
  }
}
