// AnnotationsService: checks requests about annotations and makes the answers. Keeping them is control/project-items'.

import { create } from '@bufbuild/protobuf';
import { type Timestamp, timestampFromMs, timestampMs } from '@bufbuild/protobuf/wkt';
import { newId } from '../../platform/access/ids.ts';
import type { Clock } from '../../platform/clock.ts';
import type { TimeRange } from '../../proto/gen/common/v1/filter_pb.js';
import {
  type Annotation,
  AnnotationSchema,
  type CreateRequest,
  type DeleteRequest,
  type GetRequest,
  type ListRequest,
  type UpdateRequest,
} from '../../proto/gen/dashboard/annotations/v1/annotations_pb.js';
import {
  createItemStore,
  type ItemStore,
  type ItemStoreDeps,
} from '../project-items/item-store.ts';
import { lineField, momentField, requiredField } from '../request-fields.ts';
import type { SignedInMember, SignedInProjectMember } from '../signed-in-customer.ts';

export interface AnnotationDeps {
  annotations: ItemStore<Annotation>;
  clock: Clock;
}

type Caller = SignedInMember & SignedInProjectMember;

export const maxAnnotations = 500;
const maxTextCharacters = 300;

export function createAnnotations(deps: ItemStoreDeps): ItemStore<Annotation> {
  const kind = { kind: 'annotations', noun: 'annotation', max: maxAnnotations } as const;
  return createItemStore(deps, { ...kind, schema: AnnotationSchema }, (message) => message);
}

export function listAnnotations(
  { annotations }: AnnotationDeps,
  { timeRange }: ListRequest,
  { projectId }: SignedInProjectMember,
): { annotations: Annotation[] } {
  const isAsked = rangeField(timeRange);
  const found = annotations.list(projectId).filter((one) => isAsked(timeMs(one)));
  return { annotations: found.sort((a, b) => timeMs(b) - timeMs(a)) };
}

export async function getAnnotation(
  { annotations }: AnnotationDeps,
  request: GetRequest,
  { projectId }: SignedInProjectMember,
): Promise<{ annotation: Annotation }> {
  return { annotation: await annotations.find(projectId, requiredField('id', request.id)) };
}

export async function createAnnotation(
  { annotations, clock }: AnnotationDeps,
  request: CreateRequest,
  caller: Caller,
): Promise<{ annotation: Annotation }> {
  const now = timestampFromMs(clock.nowMs());
  const text = lineField('text', request.text, maxTextCharacters);
  const time = request.time === undefined ? now : timeField(request.time);
  const times = { createTime: now, updateTime: now };
  const made = create(AnnotationSchema, { id: newId(), time, text, ...times });
  return { annotation: await annotations.create(caller, made) };
}

export async function updateAnnotation(
  { annotations, clock }: AnnotationDeps,
  request: UpdateRequest,
  caller: Caller,
): Promise<{ annotation: Annotation }> {
  const id = requiredField('id', request.id);
  const given = {
    ...(request.time !== undefined && { time: timeField(request.time) }),
    ...(request.text !== undefined && { text: lineField('text', request.text, maxTextCharacters) }),
    updateTime: timestampFromMs(clock.nowMs()),
  };
  const changed = await annotations.change(caller, id, (before) => ({ ...before, ...given }));
  return { annotation: changed };
}

export async function deleteAnnotation(
  { annotations }: AnnotationDeps,
  request: DeleteRequest,
  { projectId }: SignedInProjectMember,
): Promise<Record<string, never>> {
  await annotations.delete(projectId, requiredField('id', request.id));
  return {};
}

/** To the millisecond, as all moments of events are. */
function timeField(time: Timestamp): Timestamp {
  return timestampFromMs(momentField('time', time));
}

function rangeField(range: TimeRange | undefined): (timeMs: number) => boolean {
  const { from, to } = range ?? {};
  const fromMs = from && momentField('timeRange.from', from);
  const toMs = to && momentField('timeRange.to', to);
  return (ms) => (fromMs === undefined || ms >= fromMs) && (toMs === undefined || ms < toMs);
}

function timeMs({ time }: Annotation): number {
  return time === undefined ? 0 : timestampMs(time);
}
