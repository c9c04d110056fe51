// Takes away what a board shows: the rows of its tiles as files, or the page by the browser's own print.

import { runLoaded } from '../../ui/run-loaded.ts';

const load = () => import('../../exports/board-export.ts');

/** `take`: with the code that a press loads. */
export function ExportButton(props: {
  isEmpty: boolean;
  take: (code: Awaited<ReturnType<typeof load>>) => void;
}) {
  return (
    <button
      type="button"
      title="The rows of all tiles as CSV files"
      onClick={() => void runLoaded(load, props.take)}
      disabled={props.isEmpty}
    >
      Export
    </button>
  );
}

export function PrintButton() {
  return (
    <button type="button" title="Print or save as PDF" onClick={() => window.print()}>
      Print
    </button>
  );
}
