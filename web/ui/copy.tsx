// Text to take away.

import { Icon } from './icon.tsx';
import { toast } from './toasts.tsx';

/** Puts text on the clipboard; selects nothing and says so where the browser refuses. */
export async function copyText(text: string, what: string): Promise<void> {
  try {
    await navigator.clipboard.writeText(text);
    toast(`${what} copied`);
  } catch {
    toast('The browser does not let pages copy here: select the text instead');
  }
}

export function CopyButton({ text, what }: { text: string | (() => string); what: string }) {
  return (
    <button
      type="button"
      class="quiet"
      aria-label={`Copy ${what.toLowerCase()}`}
      title={`Copy ${what.toLowerCase()}`}
      onClick={() => void copyText(typeof text === 'string' ? text : text(), what)}
    >
      <Icon name="copy" />
    </button>
  );
}

/** A block of code with its copy button. */
export function Code({ text, what }: { text: string; what: string }) {
  return (
    <div class="code">
      <pre role="region" aria-label={what}>
        <code>{text}</code>
      </pre>
      <CopyButton text={text} what={what} />
    </div>
  );
}
