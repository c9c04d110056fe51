// A small mark before the name of a source or a country: letters, because not every system draws flags, and no site's
// own picture is loaded from it. Decoration: the name stands beside it.

import { sourceOf } from './source-of.ts';

/**
 * Nothing for other properties. `value`: undefined where the property is absent. The letters are drawn by the styles:
 * they are no text of the page.
 */
export function ValueMark(props: { property: string; value: string | undefined }) {
  const { property, value } = props;
  if (property === '$country') {
    const code = value && /^[A-Z]{2}$/.test(value) ? value : '–';
    return <span class="mark" data-letters={code} aria-hidden="true" />;
  }
  if (property !== '$referrerDomain') return null;
  const source = value === undefined ? undefined : sourceOf(value);
  const name = source?.name ?? value?.replace(/^www\./, '') ?? '→';
  const letter = [...name][0]?.toUpperCase() ?? '–';
  const kind = source?.kind ?? 'other';
  return <span class="mark" data-source={kind} data-letters={letter} aria-hidden="true" />;
}
