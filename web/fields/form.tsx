// A form that sends itself once at a time, keeps what was typed where it is refused, and says why.

import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import { Fault } from '../ui/fault.tsx';

export function Form(props: {
  action: string;
  send: () => Promise<void>;
  children: ComponentChildren;
  isReady?: boolean;
}) {
  const [fault, setFault] = useState<unknown>();
  const [isSending, setSending] = useState(false);
  const submit = async (event: Event): Promise<void> => {
    event.preventDefault();
    if (isSending) return;
    setSending(true);
    setFault(undefined);
    try {
      await props.send();
    } catch (cause) {
      setFault(cause);
    } finally {
      setSending(false);
    }
  };
  return (
    <form onSubmit={(event) => void submit(event)}>
      {props.children}
      <Fault cause={fault} />
      <button type="submit" class="primary" disabled={isSending || props.isReady === false}>
        {isSending ? 'One moment…' : props.action}
      </button>
    </form>
  );
}
