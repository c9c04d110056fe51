// Light, dark, or as the system says. The choice stays in this browser.

import { signal } from '@preact/signals';
import { isFramed } from '../browser/media.ts';

export type Theme = 'system' | 'light' | 'dark';

const name = 'millrace-theme';

function stored(): Theme {
  // A shared board says its theme in its address: nothing of this browser is read for it, nor may a frame read it.
  const asked = new URLSearchParams(window.location.search).get('theme');
  const isShared = isFramed || window.location.pathname.startsWith('/s/');
  const value = asked ?? (isShared ? 'system' : localStorage.getItem(name));
  return value === 'light' || value === 'dark' ? value : 'system';
}

export const theme = signal<Theme>(stored());

export function applyTheme(): void {
  document.documentElement.dataset['theme'] = theme.value;
}

export function setTheme(next: Theme): void {
  theme.value = next;
  localStorage.setItem(name, next);
  document.documentElement.dataset['theme'] = next;
}
