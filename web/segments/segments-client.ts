// The calls about segments.

import { createClient } from '@connectrpc/connect';
import {
  type Condition,
  type CountResponse,
  type Segment,
  SegmentsService,
} from '../../proto/gen/dashboard/segments/v1/segments_pb.js';
import { inProject, transport } from '../client.ts';
import { forget } from '../resource.ts';

const client = createClient(SegmentsService, transport);

/** As the service has it. */
export const maxListed = 400;

/** In the order in which they were made. */
export async function listSegments(
  projectId: string,
  signal?: AbortSignal,
): Promise<readonly Segment[]> {
  return (await client.list({}, inProject(projectId, signal))).segments;
}

export async function getSegment(
  projectId: string,
  id: string,
  signal: AbortSignal,
): Promise<Segment | undefined> {
  return (await client.get({ id }, inProject(projectId, signal))).segment;
}

/** How many people meet the condition, and how many there are. */
export function countPeople(
  projectId: string,
  condition: Condition,
  signal: AbortSignal,
): Promise<CountResponse> {
  const whom = { case: 'condition', value: condition } as const;
  return client.count({ whom }, inProject(projectId, signal));
}

/** Without an id it is new. Resolves with its id. */
export async function saveSegment(
  projectId: string,
  { id, ...fields }: { id: string | undefined; displayName: string; condition: Condition },
): Promise<string> {
  const { segment } =
    id === undefined
      ? await client.create(fields, inProject(projectId))
      : await client.update({ id, ...fields }, inProject(projectId));
  forget('segment');
  return segment?.id ?? '';
}

export async function deleteSegment(projectId: string, id: string): Promise<void> {
  await client.delete({ id }, inProject(projectId));
  forget('segment');
}
