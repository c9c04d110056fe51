// Turns an error that a method throws into the answer. An error written for the caller passes; a broker that does not
// answer becomes unavailable; everything else becomes internal. This is the only place that logs these errors.

import { Code, ConnectError, type Interceptor } from '@connectrpc/connect';
import type { Log } from '../platform/log.ts';
import { recordFailure } from '../platform/records/record-failure.ts';
import { PasswordsBusy } from './auth/passwords.ts';

export function createFailureInterceptor(log: Log): Interceptor {
  return (next) => async (request) => {
    try {
      return await next(request);
    } catch (error) {
      throw answerTo(error, `${request.service.typeName}/${request.method.name}`, log);
    }
  };
}

function answerTo(error: unknown, method: string, log: Log): ConnectError {
  if (error instanceof ConnectError) return error;
  if (error instanceof PasswordsBusy) {
    return new ConnectError(error.message, Code.ResourceExhausted, { 'retry-after': '3' });
  }
  const answer = recordFailure(error, method, log);
  if (answer !== undefined) return answer;
  log.error({ err: error, method }, 'a method failed');
  return new ConnectError('internal error', Code.Internal);
}
