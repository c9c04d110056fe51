// Reads a moment of a request.

import { type Timestamp, TimestampSchema } from '@bufbuild/protobuf/wkt';
import { invalidArgument } from '../platform/http/answers/invalid-argument.ts';

/**
 * Milliseconds since the epoch; undefined for none. Rounded up: events have whole milliseconds, so that the same events
 * lie before the moment and before its ceiling. Throws invalid_argument that names `field`.
 */
export function momentMs(field: string, moment: Timestamp | undefined): number | undefined {
  if (moment === undefined) return undefined;
  const { seconds, nanos } = moment;
  const isValid =
    seconds >= -62_135_596_800n && seconds <= 253_402_300_799n && nanos >= 0 && nanos < 1e9;
  if (!isValid) throw invalidArgument(field, `is not a ${TimestampSchema.name}`);
  return Number(seconds) * 1_000 + Math.ceil(nanos / 1e6);
}
