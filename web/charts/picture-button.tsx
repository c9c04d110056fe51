// Hands a chart to its reader as a PNG.

import { download } from '../browser/download.ts';
import { runLoaded } from '../ui/run-loaded.ts';

const loadPicture = async () => (await import('./picture.ts')).pictureOf;

export function PictureButton({ label }: { label: string }) {
  const take = async (button: HTMLElement): Promise<void> => {
    const figure = button.closest('figure');
    if (!figure) return;
    await runLoaded(loadPicture, async (pictureOf) =>
      download(`${label}.png`, 'image/png', await pictureOf(figure, label)),
    );
  };
  return (
    <button
      type="button"
      class="link no-print"
      title="Save this chart as a picture"
      onClick={(event) => void take(event.currentTarget)}
    >
      PNG
    </button>
  );
}
