// The calls about annotations. Charts load them when they are first drawn.

import { timestampFromDate } from '@bufbuild/protobuf/wkt';
import { createClient } from '@connectrpc/connect';
import {
  type Annotation,
  AnnotationsService,
} from '../../proto/gen/dashboard/annotations/v1/annotations_pb.js';
import { inProject, transport } from '../client.ts';

const client = createClient(AnnotationsService, transport);

/** The newest time first. */
export async function listAnnotations(
  projectId: string,
  signal?: AbortSignal,
): Promise<readonly Annotation[]> {
  return (await client.list({}, inProject(projectId, signal))).annotations;
}

/** Without an id it is new. */
export async function saveAnnotation(
  projectId: string,
  { id, at, text }: { id: string | undefined; at: Date; text: string },
): Promise<void> {
  const fields = { time: timestampFromDate(at), text };
  if (id === undefined) await client.create(fields, inProject(projectId));
  else await client.update({ id, ...fields }, inProject(projectId));
}

export async function deleteAnnotation(projectId: string, id: string): Promise<void> {
  await client.delete({ id }, inProject(projectId));
}
