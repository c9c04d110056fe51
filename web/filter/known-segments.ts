// The project's segments for pickers and names. Their calls are loaded when they are first asked for.

import type { Segment } from '../../proto/gen/dashboard/segments/v1/segments_pb.js';
import { type Resource, useResource } from '../resource.ts';
import { address, setQuery } from '../router.ts';

/** As the service has it: so many at once. */
export const maxSegments = 5;

/** undefined asks nothing. */
export function useSegments(projectId: string | undefined): Resource<readonly Segment[]> {
  return useResource(projectId && `segments ${projectId}`, async (end) => {
    const { listSegments } = await import('../segments/segments-client.ts');
    return listSegments(projectId ?? '', end);
  });
}

/** The ids that the address names. */
export function segmentsOfAddress(): string[] {
  return (address.value.query.get('segments') ?? '').split(',').filter(Boolean);
}

export function setSegments(ids: readonly string[]): void {
  setQuery({ segments: ids.join(',') });
}
