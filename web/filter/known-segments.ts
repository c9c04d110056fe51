// The project's segments for pickers and names. Their calls are loaded when they are first asked for.

import type { Segment } from '../../proto/gen/dashboard/segments/v1/segments_pb.js';
import { type Resource, useResource } from '../resource.ts';
import { address, setQuery } from '../router.ts';
import { outMark, type SegmentFilter, writeSegments } from './segment-names.ts';

/** As the service has it: so many at once. */
export const maxSegments = 5;

/** undefined asks nothing. */
export function useSegments(projectId: string | undefined): Resource<readonly Segment[]> {
  return useResource(projectId && `segments ${projectId}`, async (end) => {
    const { listSegments } = await import('../segments/segments-client.ts');
    return listSegments(projectId ?? '', end);
  });
}

/** What a segment is called in a sentence: of one that is not in the list, whether it is known to be deleted. */
export function nameOfSegment(
  { data, error, isLoading }: Resource<readonly Segment[]>,
  id: string,
): string {
  const known = data?.find((one) => one.id === id)?.displayName;
  if (known !== undefined) return known;
  if (isLoading) return '…';
  return error === undefined ? 'a deleted segment' : 'a segment';
}

/** The segments that the address names. */
export function segmentsOfAddress(): SegmentFilter {
  const all = (address.value.query.get('segments') ?? '').split(',').filter(Boolean);
  const isOut = (one: string): boolean => one.startsWith(outMark);
  return {
    segments: all.filter((one) => !isOut(one)),
    notInSegments: all.filter(isOut).map((one) => one.slice(outMark.length)),
  };
}

export function setSegments(chosen: SegmentFilter): void {
  setQuery({ segments: writeSegments(chosen) });
}

/** With one more that people have to be in; where they are too many, the first one goes. */
export function withSegment(chosen: SegmentFilter, id: string): SegmentFilter {
  const { segments, notInSegments } = chosen;
  if (segments.length + notInSegments.length < maxSegments) {
    return { segments: [...segments, id], notInSegments };
  }
  const [first = '', ...others] = notInSegments;
  return segments.length > 0
    ? { segments: [...segments.slice(1), id], notInSegments }
    : { segments: [id], notInSegments: first ? others : [] };
}

export function withoutSegment({ segments, notInSegments }: SegmentFilter, id: string) {
  const isOther = (one: string): boolean => one !== id;
  return { segments: segments.filter(isOther), notInSegments: notInSegments.filter(isOther) };
}

/** People who had to be in it must not be, and the other way round. */
export function turned(chosen: SegmentFilter, id: string): SegmentFilter {
  const { segments, notInSegments } = withoutSegment(chosen, id);
  return chosen.segments.includes(id)
    ? { segments, notInSegments: [...notInSegments, id] }
    : { segments: [...segments, id], notInSegments };
}
