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
  /** For a menu among buttons that are pressed: whether one of its items is what stands. */
  isPressed?: boolean;
}) {
  const [isOpen, setOpen] = useState(false);
  const box = useRef<HTMLDivElement>(null);
  const items = () => [...(box.current?.querySelectorAll<HTMLElement>('[role^=menuitem]') ?? [])];
  const focusButton = (): void => box.current?.querySelector('button')?.focus();
  // Before the next key is read, as in a dialog.
  useLayoutEffect(() => {
    if (!isOpen) return;
    keepInSight(box.current?.querySelector('.menu-list'));
    (items().find((item) => item.ariaChecked === 'true') ?? items()[0])?.focus();
    return onPressOutside(box.current, () => setOpen(false));
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
      focusButton();
    }
  };
  return (
    <div class="menu" ref={box} onKeyDown={onKeyDown}>
      <button
        type="button"
        class={props.class ?? ''}
        aria-label={props.label}
        aria-haspopup="menu"
        aria-pressed={props.isPressed}
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
          // Before the item is told: what it opens takes the focus, and gives it back to the button.
          onClickCapture={focusButton}
          onClick={() => setOpen(false)}
        >
          {props.children}
        </div>
      ) : null}
    </div>
  );
}

/** Between the list and the edges of the screen. */
const edgePx = 8;

/** A list of a button near an edge is moved off it. */
function keepInSight(list: HTMLElement | null | undefined): void {
  if (!list) return;
  const { left, right } = list.getBoundingClientRect();
  const widthPx = document.documentElement.clientWidth;
  const pastPx = left < edgePx ? edgePx - left : Math.min(0, widthPx - edgePx - right);
  if (pastPx !== 0) list.style.translate = `${pastPx}px 0`;
}

/** Returns how to stop listening. */
function onPressOutside(box: HTMLElement | null, close: () => void): () => void {
  const listen = ({ target }: Event): void => {
    if (target instanceof Node && !box?.contains(target)) close();
  };
  document.addEventListener('pointerdown', listen);
  return () => document.removeEventListener('pointerdown', listen);
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
