// A modal dialog: the browser's own, with its focus trap, its Esc and its return of the focus.

import type { ComponentChildren } from 'preact';
import { useId, useLayoutEffect, useRef } from 'preact/hooks';
import { explain } from '../client.ts';
import { Icon } from './icon.tsx';
import { toast } from './toasts.tsx';

/**
 * Is open while it is rendered; `onClose` takes it out. `side`: a drawer at the right edge. `isRead`: the focus is at
 * its title, and not in the first field, whose suggestions and a phone's keyboard would cover what is read first.
 */
export function Dialog(props: {
  title: string;
  onClose: () => void;
  children: ComponentChildren;
  class?: string;
  side?: boolean;
  isRead?: boolean;
}) {
  const dialog = useRef<HTMLDialogElement>(null);
  const title = useId();
  const isPressedOutside = useRef(false);
  // Before the next key is read: who types at once after opening types into the dialog.
  useLayoutEffect(() => {
    const opener = document.activeElement;
    dialog.current?.showModal();
    // The browser would choose the button that closes: who opens a form wants its first field.
    const first = props.isRead ? 'h2' : 'input, select, textarea';
    dialog.current?.querySelector<HTMLElement>(first)?.focus();
    return () => {
      if (opener instanceof HTMLElement) opener.focus();
    };
  }, []);
  return (
    <dialog
      ref={dialog}
      class={`${props.side ? 'drawer' : 'modal'} ${props.class ?? ''}`}
      aria-labelledby={title}
      onClose={props.onClose}
      onPointerDown={(event) => {
        isPressedOutside.current = event.target === dialog.current;
      }}
      // A press that began in the dialog, as when text is marked, and ended outside is a click on what holds both.
      onClick={() => {
        if (isPressedOutside.current) dialog.current?.close();
        isPressedOutside.current = false;
      }}
    >
      <div class="dialog-body">
        <header>
          <h2 id={title} tabIndex={-1}>
            {props.title}
          </h2>
          <button
            type="button"
            class="quiet"
            aria-label="Close"
            onClick={() => dialog.current?.close()}
          >
            <Icon name="close" />
          </button>
        </header>
        {props.children}
      </div>
    </dialog>
  );
}

/** Asks before something that cannot be taken back. It closes, and tells what fails of `onConfirm`. */
export function Confirm(props: {
  title: string;
  children: ComponentChildren;
  action: string;
  onConfirm: () => Promise<void>;
  onClose: () => void;
}) {
  const confirm = async (): Promise<void> => {
    props.onClose();
    try {
      await props.onConfirm();
    } catch (cause) {
      toast(explain(cause).what);
    }
  };
  return (
    <Dialog title={props.title} onClose={props.onClose}>
      {props.children}
      <div class="row end">
        <button type="button" onClick={props.onClose}>
          Cancel
        </button>
        <button type="button" class="danger" onClick={() => void confirm()}>
          {props.action}
        </button>
      </div>
    </Dialog>
  );
}
