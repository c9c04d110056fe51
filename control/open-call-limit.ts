// Limits how often one network address calls each method that needs no credential, whatever it sends: those that the
// table of access lists, and so every later one. What a method tells or does has tighter limits (auth/attempts.ts).

import type { Interceptor } from '@connectrpc/connect';
import { accessTable } from '../platform/access/access-table.ts';
import { type CallerRequest, callerRequestOf } from '../platform/http/caller-request.ts';
import type { Attempts } from './auth/attempts.ts';

/** The table's names of the methods that are open to everybody. */
export const openMethods: ReadonlySet<string> = new Set(
  [...accessTable].filter(([, row]) => row.credentials.includes('none')).map(([name]) => name),
);

export function createOpenCallLimit(
  attempts: Pick<Attempts, 'call'>,
  addressOf: (request: CallerRequest) => string | undefined,
): Interceptor {
  return (next) => async (request) => {
    const method = `${request.service.typeName}/${request.method.name}`;
    if (openMethods.has(method)) {
      const { header: requestHeader, contextValues: values } = request;
      attempts.call(method, addressOf(callerRequestOf({ requestHeader, values })));
    }
    return next(request);
  };
}
