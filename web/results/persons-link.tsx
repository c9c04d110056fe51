// A figure in words that opens the persons whom it counts.

import type { ComponentChildren } from 'preact';
import type { Figure, Opened, Rows } from './shown.ts';

/** Words alone where nobody can be listed: a stranger sees no persons, and all other groups are no group. */
export function PersonsLink(props: {
  onPersons: ((opened: Opened) => void) | undefined;
  title: string;
  point: Figure['point'];
  rows: Rows;
  children: ComponentChildren;
}) {
  const { onPersons, title, point, rows, children } = props;
  if (!onPersons) return <>{children}</>;
  return (
    <button
      type="button"
      class="link"
      onClick={() => onPersons({ title, rows, figures: [{ name: title, point }] })}
    >
      {children}
    </button>
  );
}
