// In the place of a figure that could not be read: why, and a way to ask again.

import type { ComponentChildren } from 'preact';
import { explain } from '../../client.ts';
import type { Resource } from '../../resource.ts';

/** undefined where there is no fault. */
export function explainedFault({ error, reload }: Resource<unknown>): ComponentChildren {
  if (!error) return undefined;
  return (
    <button type="button" class="link" title={explain(error).what} onClick={reload}>
      Ask again
    </button>
  );
}
