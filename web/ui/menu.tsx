// A menu button: arrow keys walk the items, Esc and a click elsewhere close it.

import type { ComponentChildren } from 'preact';
import { useLayoutEffect, useRef, useState } from 'preact/hooks';
import { Icon } from './icon.tsx';

export function Menu(props: {
  label: string;
  button: ComponentChildren;
  children: ComponentChildren;
  class?: string;
  align?: 'start' | 'end';
}) {
  const [isOpen, setOpen] = useState(false);
  const box = useRef<HTMLDivElement>(null);
  const items = (): HTMLElement[] => [
    ...(box.current?.querySelectorAll<HTMLElement>('[role^=menuitem]') ?? []),
  ];
  // Before the next key is read, as in a dialog.
  useLayoutEffect(() => {
    if (!isOpen) return;
    (items().find((item) => item.ariaChecked === 'true') ?? items()[0])?.focus();
    const close = (event: Event): void => {
      if (event.target instanceof Node && !box.current?.contains(event.target)) setOpen(false);
    };
    document.addEventListener('pointerdown', close);
    return () => document.removeEventListener('pointerdown', close);
  }, [isOpen]);
  const onKeyDown = (event: KeyboardEvent): void => {
    if (!isOpen) return;
    const all = items();
    const here = all.findIndex((item) => item.contains(document.activeElement));
    const steps: Record<string, number> = {
      ArrowDown: (here + 1) % all.length,
      ArrowUp: (here - 1 + all.length) % all.length,
      Home: 0,
      End: all.length - 1,
    };
    const next = steps[event.key];
    if (next !== undefined) {
      event.preventDefault();
      all[next]?.focus();
    } else if (event.key === 'Escape' || event.key === 'Tab') {
      if (event.key === 'Escape') event.stopPropagation();
      setOpen(false);
      box.current?.querySelector('button')?.focus();
    }
  };
  return (
    <div class="menu" ref={box} onKeyDown={onKeyDown}>
      <button
        type="button"
        class={props.class ?? ''}
        aria-label={props.label}
        aria-haspopup="menu"
        aria-expanded={isOpen}
        onClick={() => setOpen(!isOpen)}
      >
        {props.button}
      </button>
      {isOpen ? (
        <div
          class="menu-list"
          role="menu"
          tabIndex={-1}
          aria-label={props.label}
          data-align={props.align ?? 'start'}
          onClick={() => {
            setOpen(false);
            box.current?.querySelector('button')?.focus();
          }}
        >
          {props.children}
        </div>
      ) : null}
    </div>
  );
}

export function MenuItem(props: {
  children: ComponentChildren;
  onChoose: () => void;
  isChosen?: boolean;
  /** Others of the menu may be chosen beside it. */
  isOneOfMany?: boolean;
  isDanger?: boolean;
}) {
  const isChoice = props.isChosen !== undefined;
  const choiceRole = props.isOneOfMany ? 'menuitemcheckbox' : 'menuitemradio';
  return (
    <button
      type="button"
      role={isChoice ? choiceRole : 'menuitem'}
      aria-checked={isChoice ? props.isChosen : undefined}
      tabIndex={-1}
      class={props.isDanger ? 'danger-text' : ''}
      onClick={props.onChoose}
    >
      <span class="clip grow">{props.children}</span>
      {props.isChosen ? <Icon name="check" /> : null}
    </button>
  );
}
