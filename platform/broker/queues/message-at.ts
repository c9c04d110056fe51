// One message of a stream by its place.

import { noSuchMessage } from '../connection/error-codes.ts';
import { unlessCode } from '../ensure-stream.ts';
import type { JetStreamManager, StoredMsg } from '../nats.ts';

/**
 * Undefined where the stream no longer has a message there; a young leader may say so of one that is there. Throws the
 * broker's errors.
 */
export function messageAt(
  { streams }: Pick<JetStreamManager, 'streams'>,
  stream: string,
  seq: number,
): Promise<StoredMsg | undefined> {
  return unlessCode(noSuchMessage, streams.getMessage(stream, { seq }));
}
