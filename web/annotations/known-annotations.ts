// The annotations of the project that is open, for all charts of a page: read once, and anew after a change. A chart
// without them is whole: where they cannot be read, the next chart asks again.

import { signal } from '@preact/signals';
import { createContext } from 'preact';
import { useContext, useEffect } from 'preact/hooks';
import type { Annotation } from '../../proto/gen/dashboard/annotations/v1/annotations_pb.js';
import { currentProject } from '../workspace.ts';

/** What a chart says of a moment. */
export type Note = Pick<Annotation, 'id' | 'time' | 'text'>;

/** Those that came with a shared board: a stranger can read no others. */
export const GivenAnnotations = createContext<readonly Note[] | undefined>(undefined);

const none: readonly Note[] = [];
const known = signal({ projectId: '', annotations: none });
let asked = { projectId: '', atMs: Number.NEGATIVE_INFINITY };
/** What others write meanwhile is on the next page that is opened after this time. */
const freshMs = 60_000;

export function useAnnotations(): readonly Note[] {
  const given = useContext(GivenAnnotations);
  const projectId = currentProject.value?.id;
  useEffect(() => {
    if (projectId === undefined) return;
    const isFresh = asked.projectId === projectId && performance.now() - asked.atMs < freshMs;
    if (!isFresh) void readAnnotations(projectId);
  }, [projectId]);
  const ofProject = known.value.projectId === projectId ? known.value.annotations : none;
  return given ?? ofProject;
}

/** Reads them anew, for all charts. */
export async function readAnnotations(projectId: string): Promise<void> {
  const question = { projectId, atMs: performance.now() };
  asked = question;
  try {
    const { listAnnotations } = await import('./annotations-client.ts');
    const annotations = await listAnnotations(projectId);
    if (asked === question) known.value = { projectId, annotations };
  } catch {
    if (asked === question) asked = { projectId: '', atMs: Number.NEGATIVE_INFINITY };
  }
}
