// Fields that belong together and can be folded away.

import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import { useMedia } from '../browser/media.ts';
import { Icon } from '../ui/icon.tsx';

/** From here down a question stands in a drawer, and its untouched groups begin folded. */
export const oneColumn = '(max-width: 1000px)';

/** `isUsed`: something in it differs from what is usual. It is never folded until the reader folds it. */
export function Group(props: { title: string; isUsed: boolean; children: ComponentChildren }) {
  const { title, isUsed, children } = props;
  const isNarrow = useMedia(oneColumn);
  const [chosen, choose] = useState<boolean>();
  const isOpen = chosen ?? (isUsed || !isNarrow);
  return (
    <fieldset class="series" data-folded={!isOpen}>
      <legend>
        <button type="button" class="fold" aria-expanded={isOpen} onClick={() => choose(!isOpen)}>
          {title}
          {isUsed && !isOpen ? ' (in use)' : ''}
          <Icon name="down" />
        </button>
      </legend>
      {isOpen ? children : null}
    </fieldset>
  );
}
