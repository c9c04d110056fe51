// SegmentsService without Count: checks requests about segments and makes the answers. Keeping them is
// control/project-items'; who is in one is query's.

import { create } from '@bufbuild/protobuf';
import { timestampFromMs } from '@bufbuild/protobuf/wkt';
import { newId } from '../../platform/access/ids.ts';
import type { Clock } from '../../platform/clock.ts';
import { checkCondition } from '../../platform/segments/condition-rules.ts';
import {
  type Condition,
  type CreateRequest,
  type DeleteRequest,
  type GetRequest,
  type Segment,
  SegmentSchema,
  type UpdateRequest,
} from '../../proto/gen/dashboard/segments/v1/segments_pb.js';
import { refuseLargeItem } from '../project-items/item-bounds.ts';
import {
  createItemStore,
  type ItemStore,
  type ItemStoreDeps,
} from '../project-items/item-store.ts';
import { displayNameField, invalidArgument, requiredField } from '../request-fields.ts';
import type { SignedInMember, SignedInProjectMember } from '../signed-in-customer.ts';

export interface SegmentDeps {
  segments: ItemStore<Segment>;
  clock: Clock;
}

type Caller = SignedInMember & SignedInProjectMember;

export const maxSegments = 100;
export const maxSegmentBytes = 16_384;
const segmentSize = { noun: 'a segment', maxBytes: maxSegmentBytes, field: 'condition' } as const;

export function createSegments(deps: ItemStoreDeps): ItemStore<Segment> {
  const kind = { kind: 'segments', noun: 'segment', max: maxSegments } as const;
  return createItemStore(deps, { ...kind, schema: SegmentSchema }, (message) => message);
}

export function listSegments(
  { segments }: SegmentDeps,
  { projectId }: SignedInProjectMember,
): { segments: Segment[] } {
  return { segments: segments.list(projectId) };
}

export async function getSegment(
  { segments }: SegmentDeps,
  request: GetRequest,
  { projectId }: SignedInProjectMember,
): Promise<{ segment: Segment }> {
  return { segment: await segments.find(projectId, requiredField('id', request.id)) };
}

export async function createSegment(
  { segments, clock }: SegmentDeps,
  request: CreateRequest,
  caller: Caller,
): Promise<{ segment: Segment }> {
  const now = timestampFromMs(clock.nowMs());
  const segment = create(SegmentSchema, {
    id: newId(),
    displayName: displayNameField('displayName', request.displayName),
    condition: conditionField(request.condition),
    ...{ createTime: now, updateTime: now },
  });
  refuseLargeItem(SegmentSchema, segment, segmentSize);
  return { segment: await segments.create(caller, segment) };
}

export async function updateSegment(
  { segments, clock }: SegmentDeps,
  { id, displayName, condition }: UpdateRequest,
  caller: Caller,
): Promise<{ segment: Segment }> {
  const given = {
    ...(displayName !== undefined && { displayName: displayNameField('displayName', displayName) }),
    ...(condition !== undefined && { condition: conditionField(condition) }),
    updateTime: timestampFromMs(clock.nowMs()),
  };
  const segment = await segments.change(caller, requiredField('id', id), (before) => {
    const after = { ...before, ...given };
    refuseLargeItem(SegmentSchema, after, segmentSize);
    return after;
  });
  return { segment };
}

export async function deleteSegment(
  { segments }: SegmentDeps,
  request: DeleteRequest,
  { projectId }: SignedInProjectMember,
): Promise<Record<string, never>> {
  await segments.delete(projectId, requiredField('id', request.id));
  return {};
}

function conditionField(condition: Condition | undefined): Condition {
  if (condition === undefined) throw invalidArgument('condition', 'is required');
  checkCondition(condition, 'condition');
  return condition;
}
