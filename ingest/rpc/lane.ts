// The lane of a request: events of long ago, which a private key sends with `x-millrace-lane: import`, wait until those
// of now are stored, the same project's too.

import type { CallerRequest } from '../../platform/http/caller-request.ts';
import { importMark, projectMark } from '../../proto/wire/frame.ts';
import type { Principal } from './authenticate.ts';

/** The mark by which the request's events take their turns. */
export function laneMark(
  { projectId, credential }: Principal,
  { headers }: Pick<CallerRequest, 'headers'>,
): number {
  const isImport = credential === 'private' && headers['x-millrace-lane'] === 'import';
  return isImport ? importMark(projectId) : projectMark(projectId);
}
