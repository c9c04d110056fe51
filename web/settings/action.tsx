// A button whose call is under way once at a time, and says where it failed.

import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import { explain } from '../client.ts';
import { toast } from '../ui/toasts.tsx';

/** `done`: the words after it worked. A failure is told beside it and read aloud. */
export function Action(props: {
  children: ComponentChildren;
  run: () => Promise<void>;
  done?: string;
  class?: string;
  label?: string;
}) {
  const [isRunning, setRunning] = useState(false);
  const [fault, setFault] = useState('');
  const run = async (): Promise<void> => {
    setRunning(true);
    setFault('');
    try {
      await props.run();
      if (props.done) toast(props.done);
    } catch (cause) {
      setFault(explain(cause).what);
    } finally {
      setRunning(false);
    }
  };
  return (
    <span class="row tight">
      <button
        type="button"
        class={props.class ?? ''}
        aria-label={props.label}
        disabled={isRunning}
        onClick={() => void run()}
      >
        {props.children}
      </button>
      <span role="alert" class="hint bad">
        {fault}
      </span>
    </span>
  );
}
