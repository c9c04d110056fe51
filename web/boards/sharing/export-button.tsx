// Takes away what a board shows: the rows of its tiles as files, the page as a picture, or by the browser's own print.

import { download } from '../../browser/download.ts';
import { runLoaded } from '../../ui/run-loaded.ts';
import { toast } from '../../ui/toasts.tsx';

const load = () => import('../../exports/board-export.ts');

/** `name`: of the board. `take`: with the code that a press loads. */
export function ExportButtons(props: {
  name: string;
  isEmpty: boolean;
  take: (code: Awaited<ReturnType<typeof load>>) => void;
}) {
  const { name, isEmpty, take } = props;
  return (
    <>
      <button
        type="button"
        title="The rows of all tiles as CSV files"
        onClick={() => void runLoaded(load, take)}
        disabled={isEmpty}
      >
        Export
      </button>
      <PngButton name={name} isEmpty={isEmpty} />
    </>
  );
}

export function PrintButton() {
  return (
    <button type="button" title="Print or save as PDF" onClick={() => window.print()}>
      Print
    </button>
  );
}

const loadPicture = async () => (await import('./board-picture.ts')).pictureOfPage;

/** Nothing is made while a tile is on its way: the reader is told. */
function PngButton({ name, isEmpty }: { name: string; isEmpty: boolean }) {
  const take = async (button: HTMLElement): Promise<void> => {
    const page = button.closest<HTMLElement>('.page');
    if (!page) return;
    const waiting = '.loading, [aria-busy="true"]';
    if (page.matches(waiting) || page.querySelector(waiting))
      return toast('Some tiles are still on their way: take the picture once they are there.');
    await runLoaded(loadPicture, async (pictureOfPage) =>
      download(`${name}.png`, 'image/png', await pictureOfPage(page)),
    );
  };
  return (
    <button
      type="button"
      title="The whole board as one picture"
      aria-label="Board as PNG"
      disabled={isEmpty}
      onClick={(event) => void take(event.currentTarget)}
    >
      PNG
    </button>
  );
}
