// What stands below a chart of time: the annotations of the chosen bucket, and the way to make and change them.

import { useState } from 'preact/hooks';
import { Dialog } from '../ui/dialog.tsx';
import { Loaded } from '../ui/loaded.tsx';
import { currentProject } from '../workspace.ts';
import type { Note } from './known-annotations.ts';

const loadAll = async () => (await import('./annotations.tsx')).Annotations;

/** `at`: the beginning of the chosen bucket. */
export function ChartAnnotations(props: {
  shown: readonly Note[];
  at: string | undefined;
  isTile: boolean;
}) {
  const [isOpen, setOpen] = useState(false);
  const project = currentProject.value;
  return (
    <>
      {props.shown.map(({ id, text }) => (
        <span key={id} class="annotation clip">
          {text}
        </span>
      ))}
      {project && !props.isTile ? (
        <button type="button" class="link" onClick={() => setOpen(true)}>
          Annotations
        </button>
      ) : null}
      {project && isOpen ? (
        <Dialog title="Annotations" onClose={() => setOpen(false)}>
          <Loaded load={loadAll} name="annotations" with={{ project, at: props.at }} />
        </Dialog>
      ) : null}
    </>
  );
}
