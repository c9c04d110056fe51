// Jump to anything by typing: pages and what is on them, forms of questions, projects, boards, kinds of events, or a
// person by the id that the site gave.

import { signal } from '@preact/signals';
import { useEffect, useState } from 'preact/hooks';
import { hasEachWord } from '../fields/fold-case.ts';
import { useResource } from '../resource.ts';
import { navigate } from '../router.ts';
import { placeHref } from '../time/kept-range.ts';
import { Dialog } from '../ui/dialog.tsx';
import { currentProject, workspace } from '../workspace.ts';
import { loadCode } from './load-code.ts';
import { projectPlaces } from './sidebar.tsx';

export const isPaletteOpen = signal(false);

const maxShown = 40;

type Target = { group: string; name: string; href: string };

export function Palette() {
  return isPaletteOpen.value ? <OpenPalette /> : null;
}

function OpenPalette() {
  const [text, setText] = useState('');
  const [at, setAt] = useState(0);
  const shown = useTargets(text);
  useEffect(() => {
    document.getElementById(`palette-${at}`)?.scrollIntoView({ block: 'nearest' });
  }, [at]);
  const close = (): void => {
    isPaletteOpen.value = false;
  };
  const choose = (target: Target | undefined): void => {
    if (!target) return;
    close();
    navigate(target.href);
  };
  const onKeyDown = (event: KeyboardEvent): void => {
    if (event.key === 'ArrowDown') setAt((last) => Math.min(last + 1, shown.length - 1));
    else if (event.key === 'ArrowUp') setAt((last) => Math.max(last - 1, 0));
    else if (event.key === 'Enter') choose(shown[at]);
    else return;
    event.preventDefault();
  };
  return (
    <Dialog title="Search or jump to" onClose={close} class="palette">
      <input
        type="text"
        role="combobox"
        aria-expanded="true"
        aria-controls="palette-list"
        aria-activedescendant={shown[at] ? `palette-${at}` : undefined}
        aria-label="Search or jump to"
        placeholder="A page, a board, an event, a user’s id"
        autoComplete="off"
        value={text}
        onKeyDown={onKeyDown}
        onInput={(event) => {
          setText(event.currentTarget.value);
          setAt(0);
        }}
      />
      <div id="palette-list" role="listbox" aria-label="Results">
        {shown.map((target, index) => (
          <div
            key={target.href + target.name}
            id={`palette-${index}`}
            role="option"
            aria-selected={index === at}
            onClick={() => choose(target)}
          >
            <span class="clip grow">{target.name}</span>
            <small>{target.group}</small>
          </div>
        ))}
      </div>
      {shown.length === 0 ? <p class="hint">Nothing has this name.</p> : null}
    </Dialog>
  );
}

/** What fits the text: all its words, anywhere in the name or the group. */
function useTargets(text: string): Target[] {
  const project = currentProject.value;
  const list = useResource(project ? `boards ${project.id}` : undefined, async (end) => {
    // The definitions of boards and of their questions are a tenth of what every page would load first.
    const { boardsOf } = await loadCode(() => import('./palette-boards.ts'), end);
    return boardsOf(project?.id ?? '', end);
  });
  const code = useResource(project && 'forms of questions', async (end) => {
    const { forms, furtherPlaces } = await loadCode(() => import('./palette-boards.ts'), end);
    return { forms, furtherPlaces };
  });
  const base = `/p/${project?.id ?? ''}`;
  const pages = project
    ? projectPlaces.map(({ path, name }) => ({
        group: 'Page',
        name,
        href: placeHref(project.id, path),
      }))
    : [];
  const ofBoards = (list.data?.dashboards ?? []).map(({ id, displayName }) => ({
    group: 'Board',
    name: displayName,
    href: `${base}/boards/${id}`,
  }));
  const ofProjects = (workspace.value?.projects ?? []).map(({ id, displayName }) => ({
    group: 'Project',
    name: displayName,
    href: `/p/${id}`,
  }));
  const ofForms = (code.data?.forms ?? []).map(({ id, name, says }) => ({
    group: 'Insight',
    ...{ name, says, href: placeHref(project?.id ?? '', `/insights/${id}`) },
  }));
  const typed = text.trim();
  // Shown to whoever looks for them: before a word is typed, the list has the boards instead.
  const further =
    project && typed ? (code.data?.furtherPlaces(project.id, project.orgId) ?? []) : [];
  const all: (Target & { says?: string })[] = [
    ...[...pages, ...ofForms],
    ...[...ofBoards, ...ofProjects, ...further],
  ];
  const found = all.filter(({ group, name, says = '' }) =>
    hasEachWord(`${group} ${name} ${says}`, text),
  );
  const asSearch =
    project && typed
      ? [
          {
            group: 'User with this id',
            name: typed,
            href: `${base}/profiles?id=${encodeURIComponent(typed)}`,
          },
          {
            group: 'Events with this name',
            name: typed,
            href: `${base}/events?kind=${encodeURIComponent(typed)}`,
          },
        ]
      : [];
  return [...found.slice(0, maxShown - asSearch.length), ...asSearch];
}
