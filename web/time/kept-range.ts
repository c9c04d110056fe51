// The range goes from page to page with the reader: the navigation's links to pages that have one carry it.

import { effect, signal } from '@preact/signals';
import { address } from '../router.ts';

type RangeQuery = Record<string, string>;

/** What is in the address of the time, for links to other pages and for keys of answers. */
export function timeQuery(query: URLSearchParams): RangeQuery {
  const kept: RangeQuery = {};
  for (const name of ['range', 'from', 'to']) {
    const value = query.get(name);
    if (value) kept[name] = value;
  }
  return kept;
}

/** Below /p/ID. A board is not among them: it has a range of its own, which one in the address would take away. */
const hasRange = /^(?:\/events|\/visits|\/insights\/[^/]+)?$/;

const kept = signal<RangeQuery>({});

// Without one in its address such a page shows the usual range, and that is then the reader's.
effect(() => {
  const { path, query } = address.value;
  const asked = timeQuery(query);
  const place = /^\/p\/[^/]+(.*)$/.exec(path)?.[1];
  if (Object.keys(asked).length > 0 || (place !== undefined && hasRange.test(place)))
    kept.value = asked;
});

/** The link to a page of a project: `place` is its path below /p/ID. */
export function placeHref(projectId: string, place: string): string {
  const query = new URLSearchParams(hasRange.test(place) ? kept.value : {}).toString();
  return `/p/${projectId}${place}${query && `?${query}`}`;
}
