// A name and what it is, in the list at the head of a drawer.

import type { ComponentChildren } from 'preact';

export function Fact({ name, children }: { name: string; children: ComponentChildren }) {
  return (
    <div>
      <dt>{name}</dt>
      <dd>{children}</dd>
    </div>
  );
}
