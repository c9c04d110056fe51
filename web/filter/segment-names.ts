// How a segment stands in questions: in the place of a property of a breakdown, and with the name that an answer tells.

const prefix = 'segment.';

/** What a breakdown by a segment has in the place of a property. */
export function asProperty(id: string): string {
  return prefix + id;
}

/** The id, where a breakdown is by a segment. */
export function segmentOf(property: string): string | undefined {
  return property.startsWith(prefix) ? property.slice(prefix.length) : undefined;
}

const names = new Map<string, string>();

/** Takes the names of the segments that an answer depends on. */
export function learnSegments(segments: readonly { id: string; displayName: string }[]): void {
  for (const { id, displayName } of segments) names.set(id, displayName);
}

export function segmentName(id: string): string {
  return names.get(id) ?? 'a segment';
}

/** Segments that people have to be in, and those that they must not be in; the names are those of messages. */
export type SegmentFilter = { segments: string[]; notInSegments: string[] };

/** Before the id of a segment that people must not be in, in addresses. */
export const outMark = '!';

/** As the address has them; empty for none. */
export function writeSegments({ segments, notInSegments }: SegmentFilter): string {
  return [...segments, ...notInSegments.map((id) => outMark + id)].join();
}

/** As `GET /export` takes them. */
export function exportParams({ segments, notInSegments }: SegmentFilter) {
  return { segments: segments.join(), not_in_segments: notInSegments.join() };
}

export function isEmpty({ segments, notInSegments }: SegmentFilter): boolean {
  return segments.length + notInSegments.length === 0;
}

/** A question of these segments besides its own. */
export function withSegments<Spec extends SegmentFilter>(spec: Spec, more: SegmentFilter): Spec {
  if (isEmpty(more)) return spec;
  const both = (name: keyof SegmentFilter) => [...new Set([...spec[name], ...more[name]])];
  return { ...spec, segments: both('segments'), notInSegments: both('notInSegments') };
}
