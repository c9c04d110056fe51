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

/** A question of these segments besides its own. */
export function withSegments<Spec extends { segments: string[] }>(
  spec: Spec,
  ids: readonly string[],
): Spec {
  return ids.length === 0 ? spec : { ...spec, segments: [...new Set([...spec.segments, ...ids])] };
}
