// Buckets that are not over yet: their values may still change.

import { type Timestamp, timestampMs } from '@bufbuild/protobuf/wkt';

/** The place of the first bucket that is not over yet; that after the last one where all are. */
export function openFrom(labels: readonly string[], incompleteFrom: Timestamp | undefined): number {
  if (!incompleteFrom) return labels.length;
  const fromMs = timestampMs(incompleteFrom);
  return labels.filter((label) => Date.parse(label) < fromMs).length;
}

/** The name of a bucket, which says where it is not over. */
export function openName(name: string, isOpen: boolean): string {
  return isOpen ? `${name} (not over)` : name;
}
