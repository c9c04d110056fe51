// A zone's clock as pages get it, so that they need no rules of zones of their own.

import type { MessageInitShape } from '@bufbuild/protobuf';
import { timestampFromMs } from '@bufbuild/protobuf/wkt';
import type { ClockOffsetSchema } from '../../proto/gen/dashboard/projects/v1/projects_pb.js';
import { clockChanges } from './wall-clock.ts';
import { zones } from './zones.ts';

/** `zone`: as it was sent, in any spelling; what is no zone has UTC's clock. */
export function clockMessage(zone: string): MessageInitShape<typeof ClockOffsetSchema>[] {
  const changes = clockChanges(zones.nameOf(zone) ?? 'UTC');
  return changes.map(({ fromMs, minutes }) => ({ from: timestampFromMs(fromMs), minutes }));
}
