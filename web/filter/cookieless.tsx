// Whether a page counts cookieless visitors as users. It does where the project has any, says so in a line, and leaves
// them out where it is asked to. Totals and visits are everybody's in any case.

import type { Resource } from '../resource.ts';
import type { SeenVisitors } from './seen-visitors.ts';

/** Where nobody can tell, they count, as in the built-in board. undefined: nobody knows yet. */
export function hasCookieless({ data, error }: Resource<SeenVisitors>): boolean | undefined {
  return data?.hasCookieless ?? (error ? true : undefined);
}

/** Says what becomes of them, and turns it. */
export function CookielessNote(props: { isCounted: boolean; onTurn: () => void }) {
  const { isCounted, onTurn } = props;
  return (
    <p class="hint">
      {isCounted
        ? 'Cookieless visitors are counted, each of their days as a visitor.'
        : 'Cookieless visitors are not counted.'}{' '}
      <button type="button" class="link" onClick={onTurn}>
        {isCounted ? 'Leave them out' : 'Count them'}
      </button>
    </p>
  );
}
