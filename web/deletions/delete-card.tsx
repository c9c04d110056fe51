// A card of settings with a button that deletes something for good: the reader types its name first, and the button of
// the dialog waits for that. A failure is told in the dialog, which stays.

import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import { Field } from '../fields/field.tsx';
import { Form } from '../fields/form.tsx';
import { Dialog } from '../ui/dialog.tsx';

/** `name` is what must be typed, which `label` asks for, so `send` gets nothing; `action` opens the dialog. */
export function DeleteCard(props: {
  heading: string;
  /** What goes with it. */
  hint: string;
  action: string;
  label: string;
  name: string;
  /** Of the dialog, above the name. */
  children: ComponentChildren;
  send: () => Promise<void>;
}) {
  const [isAsked, setAsked] = useState(false);
  const close = (): void => setAsked(false);
  return (
    <section class="card">
      <h2>{props.heading}</h2>
      <p class="hint">{props.hint}</p>
      <div>
        <button type="button" class="danger" onClick={() => setAsked(true)}>
          {props.action}
        </button>
      </div>
      {isAsked ? <ConfirmByName {...props} onClose={close} /> : null}
    </section>
  );
}

function ConfirmByName(props: {
  action: string;
  label: string;
  name: string;
  children: ComponentChildren;
  send: () => Promise<void>;
  onClose: () => void;
}) {
  const [typed, setTyped] = useState('');
  return (
    <Dialog title={props.action} onClose={props.onClose}>
      <Form action="Delete it for good" send={props.send} isReady={typed === props.name}>
        {props.children}
        <Field label={props.label} autoComplete="off" value={typed} onValue={setTyped} />
      </Form>
    </Dialog>
  );
}
