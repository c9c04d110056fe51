// Short words about what was just done. They are read aloud, and leave by themselves.

import { signal } from '@preact/signals';

const shownMs = 5_000;
const maxShown = 3;

const toasts = signal<{ id: number; text: string }[]>([]);
let lastId = 0;

export function toast(text: string): void {
  lastId += 1;
  const id = lastId;
  toasts.value = [...toasts.value, { id, text }].slice(-maxShown);
  window.setTimeout(() => {
    toasts.value = toasts.value.filter((one) => one.id !== id);
  }, shownMs);
}

export function Toasts() {
  return (
    <div class="toasts" role="status">
      {toasts.value.map(({ id, text }) => (
        <p key={id}>{text}</p>
      ))}
    </div>
  );
}
