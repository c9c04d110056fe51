// The answers to errors of records: contention, a full record or bucket, a broker that does not answer. Interfaces of
// people change records and answer alike; errors of other kinds are theirs.

import { Code, ConnectError } from '@connectrpc/connect';
import { NatsError } from '../broker/nats.ts';
import { BucketFull, RecordFull } from '../broker/record-bucket.ts';
import type { Log } from '../log.ts';
import { Contended } from './change-record.ts';

/** Undefined for an error of another kind. `method` is named in the log where the broker cannot be reached. */
export function recordFailure(error: unknown, method: string, log: Log): ConnectError | undefined {
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
  return undefined;
}
