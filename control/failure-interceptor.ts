// Turns an error that a method throws into the answer. An error written for the caller passes; a broker that does not
// answer becomes unavailable; everything else becomes internal. This is the only place that logs these errors.

import { Code, ConnectError, type Interceptor } from '@connectrpc/connect';
import { NatsError } from '../platform/broker/nats.ts';
import { BucketFull, RecordFull } from '../platform/broker/record-bucket.ts';
import type { Log } from '../platform/log.ts';
import { PasswordsBusy } from './auth/passwords.ts';
import { Contended } from './change-record.ts';

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
  if (error instanceof Contended) {
    return new ConnectError('too many changes at once, try again', Code.Aborted);
  }
  if (error instanceof RecordFull) {
    return new ConnectError(`${error.message}: remove something first`, Code.FailedPrecondition);
  }
  if (error instanceof BucketFull) {
    // The operator has been told of it by platform/broker/bucket-room.ts.
    const message = 'the service has no room for more of this: only removals and revocations pass';
    return new ConnectError(message, Code.ResourceExhausted, { 'retry-after': '60' });
  }
  if (error instanceof NatsError) {
    log.warn({ err: error, method }, 'the records cannot be reached');
    return new ConnectError('the records cannot be reached now, try again', Code.Unavailable);
  }
  log.error({ err: error, method }, 'a method failed');
  return new ConnectError('internal error', Code.Internal);
}
