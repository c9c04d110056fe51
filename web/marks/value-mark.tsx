// A small mark before the name of a source, a country, a browser: an icon of the app's own files, loaded when it comes
// into sight. Decoration: the name stands beside it.

import { signal } from '@preact/signals';
import { useEffect, useState } from 'preact/hooks';
import { loadCode } from '../shell/load-code.ts';
import { type Icons, isMarked, markOf } from './mark-of.ts';

/** Which icons there are. Until that is known a mark is an empty place; null where it could not be loaded. */
const icons = signal<Icons | null | undefined>(undefined);
let isAsked = false;

/** Not with the page: the first figures need none. */
function askIcons(): void {
  if (isAsked) return;
  isAsked = true;
  loadCode(() => import('virtual:icons'), new AbortController().signal).then(
    (loaded) => {
      icons.value = loaded;
    },
    () => {
      icons.value = null;
    },
  );
}

/** Nothing for properties without marks. `value`: undefined where the property is absent. */
export function ValueMark({ property, value }: { property: string; value: string | undefined }) {
  const [failed, setFailed] = useState('');
  useEffect(askIcons, []);
  if (!isMarked(property)) return null;
  const known = icons.value;
  const { file, letters, kind } = markOf(known ?? undefined, property, value);
  if (file !== undefined && file !== failed)
    return (
      <img
        class="mark"
        src={file}
        alt=""
        width={18}
        height={18}
        data-group={property === '$country' ? 'flag' : undefined}
        loading="lazy"
        decoding="async"
        fetchpriority="low"
        onError={() => setFailed(file)}
      />
    );
  // The letters are drawn by the styles: they are no text of the page.
  const shown = known === undefined ? '' : letters;
  return <span class="mark" data-source={kind} data-letters={shown} aria-hidden="true" />;
}
