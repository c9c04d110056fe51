// The frame of pages without an account: a card in the middle, with the name above.

import type { ComponentChildren } from 'preact';
import mark from '../mark.svg';

export function CardPage({ title, children }: { title: string; children: ComponentChildren }) {
  return (
    <main class="card-page">
      <a class="brand" href="/">
        <img src={mark} alt="" width="28" height="28" />
        Millrace
      </a>
      <section class="card">
        <h1 tabIndex={-1}>{title}</h1>
        {children}
      </section>
    </main>
  );
}
