// Keys that work on every page: `g` then a letter, `/`, Ctrl-K, `?`. A key typed into a field stays the field's.

import { signal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { navigate } from '../router.ts';
import { placeHref } from '../time/kept-range.ts';
import { Dialog } from '../ui/dialog.tsx';
import { currentProject } from '../workspace.ts';
import { isPaletteOpen } from './palette.tsx';

export const isHelpOpen = signal(false);

const places: Record<string, { path: string; name: string }> = {
  o: { path: '', name: 'Overview' },
  l: { path: '/live', name: 'Live' },
  e: { path: '/events', name: 'Events' },
  v: { path: '/visits', name: 'Visits' },
  p: { path: '/profiles', name: 'Users' },
  i: { path: '/insights/trends', name: 'Insights' },
  q: { path: '/questions', name: 'Saved insights' },
  b: { path: '/boards', name: 'Boards' },
  w: { path: '/webhooks', name: 'Webhooks' },
  s: { path: '/settings', name: 'Settings' },
};

const chordMs = 1500;

const isField = (target: EventTarget | null): boolean =>
  target instanceof HTMLElement &&
  (target.isContentEditable || /^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName));

export function useShortcuts(): void {
  useEffect(() => {
    let goingUntil = 0;
    const onKey = (event: KeyboardEvent): void => {
      if ((event.ctrlKey || event.metaKey) && event.key.toLowerCase() === 'k') {
        event.preventDefault();
        isPaletteOpen.value = true;
        return;
      }
      if (event.ctrlKey || event.metaKey || event.altKey || isField(event.target)) return;
      if (document.querySelector('dialog[open]')) return;
      const place = places[event.key];
      const project = currentProject.peek();
      if (Date.now() < goingUntil && place && project) {
        goingUntil = 0;
        event.preventDefault();
        navigate(placeHref(project.id, place.path));
      } else if (event.key === 'g') goingUntil = Date.now() + chordMs;
      else if (event.key === '?') isHelpOpen.value = true;
      else if (event.key === '/') focusSearch(event);
      else if (event.key === 't') clickOnPage('[data-shortcut="t"]', event);
    };
    document.addEventListener('keydown', onKey);
    return () => document.removeEventListener('keydown', onKey);
  }, []);
}

/** The page's own search field where it has one, else the palette. */
function focusSearch(event: KeyboardEvent): void {
  event.preventDefault();
  const field = document.querySelector<HTMLElement>('main input[type=search]');
  if (field) field.focus();
  else isPaletteOpen.value = true;
}

function clickOnPage(selector: string, event: KeyboardEvent): void {
  const target = document.querySelector<HTMLElement>(selector);
  if (!target) return;
  event.preventDefault();
  target.focus();
  target.click();
}

export function ShortcutHelp() {
  if (!isHelpOpen.value) return null;
  const rows: [string, string][] = [
    ['Ctrl K', 'Search or jump to anything'],
    ['/', 'The search of the page'],
    ['t', 'The time range'],
    ...Object.entries(places).map(([key, { name }]): [string, string] => [`g ${key}`, name]),
    ['Space', 'Pause the live view'],
    ['← →', 'Walk the points of a chart'],
    ['Esc', 'Close'],
    ['?', 'This list'],
  ];
  return (
    <Dialog title="Keyboard shortcuts" onClose={() => (isHelpOpen.value = false)}>
      <dl class="keys">
        {rows.map(([keys, meaning]) => (
          <div key={keys}>
            <dt>
              {keys.split(' ').map((key) => (
                <kbd key={key}>{key}</kbd>
              ))}
            </dt>
            <dd>{meaning}</dd>
          </div>
        ))}
      </dl>
    </Dialog>
  );
}
