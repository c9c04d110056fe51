// A failed call, in words.

import { explain } from '../client.ts';

/** What went wrong, what to do about it, and the button that does it. Nothing for undefined. */
export function Fault({ cause, retry }: { cause: unknown; retry?: () => void }) {
  if (cause === undefined || cause === null) return null;
  const { what, todo } = explain(cause);
  return (
    <div class="fault" role="alert">
      <p>
        <strong>{what}</strong> {todo}
      </p>
      {retry ? (
        <button type="button" onClick={retry}>
          Ask again
        </button>
      ) : null}
    </div>
  );
}
