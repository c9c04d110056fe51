// Asks before something is deleted for good: the reader types its name, and the button waits for that. A failure is
// told in the dialog, which stays.

import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import { Field } from '../fields/field.tsx';
import { Form } from '../fields/form.tsx';
import { Dialog } from '../ui/dialog.tsx';

/** `label` says what to type; `send` gets nothing, because the name is what was typed. */
export function TypedConfirm(props: {
  title: string;
  label: string;
  name: string;
  action: string;
  children: ComponentChildren;
  send: () => Promise<void>;
  onClose: () => void;
}) {
  const [typed, setTyped] = useState('');
  return (
    <Dialog title={props.title} onClose={props.onClose}>
      <Form action={props.action} send={props.send} isReady={typed === props.name}>
        {props.children}
        <Field label={props.label} autoComplete="off" value={typed} onValue={setTyped} />
      </Form>
    </Dialog>
  );
}
