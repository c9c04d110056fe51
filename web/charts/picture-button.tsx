// Hands a chart to its reader as a PNG.

import { explain } from '../client.ts';
import { loadCode } from '../shell/load-code.ts';
import { download } from '../ui/download.ts';
import { toast } from '../ui/toasts.tsx';

const loadPicture = async () => (await import('./picture.ts')).pictureOf;

export function PictureButton({ label }: { label: string }) {
  const take = async (button: HTMLElement): Promise<void> => {
    const figure = button.closest('figure');
    if (!figure) return;
    try {
      const pictureOf = await loadCode(loadPicture, new AbortController().signal);
      download(`${label}.png`, 'image/png', await pictureOf(figure, label));
    } catch (cause) {
      toast(explain(cause).what);
    }
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
