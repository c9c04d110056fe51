// The address bar is the state of every page: path, query and nothing else.

import { computed, signal } from '@preact/signals';
import { isFramed } from './browser/media.ts';

/** What a page gets of its address: the parameters that the route's pattern names, decoded. */
export type PageProps = { params: Record<string, string> };

type Address = { path: string; query: URLSearchParams; hash: string };

function read(): Address {
  const { pathname, search, hash } = window.location;
  return { path: pathname, query: new URLSearchParams(search), hash };
}

export const address = signal<Address>(read());

/** Counts the moves to another path: the shell puts the focus on the new page's heading. */
export const moves = signal(0);

/** Goes to a path of this origin. `replace` leaves no entry behind: for what the reader did not ask for. */
export function navigate(href: string, { replace = false } = {}): void {
  const before = address.peek().path;
  if (replace) window.history.replaceState(null, '', href);
  else window.history.pushState(null, '', href);
  address.value = read();
  if (address.peek().path !== before) moves.value += 1;
}

/** The query with some names set; undefined and '' take a name out. */
export function withQuery(changes: Record<string, string | undefined>): string {
  const { path, query } = address.peek();
  const next = new URLSearchParams(query);
  for (const [name, value] of Object.entries(changes)) {
    if (value) next.set(name, value);
    else next.delete(name);
  }
  const text = next.toString();
  return text ? `${path}?${text}` : path;
}

/** Sets names of the query. A question that the reader changed is an entry of its own, so that "back" undoes it. */
export function setQuery(
  changes: Record<string, string | undefined>,
  { replace = false } = {},
): void {
  navigate(withQuery(changes), { replace });
}

/** One name of the query as a signal; '' where it is absent. */
export function queryValue(name: string) {
  return computed(() => address.value.query.get(name) ?? '');
}

/** The parts of a path that a pattern such as `/p/:project/live` names; undefined where it does not fit. */
export function match(pattern: string, path: string): Record<string, string> | undefined {
  const wanted = pattern.split('/');
  const given = path.split('/');
  if (wanted.length !== given.length) return undefined;
  const params: Record<string, string> = {};
  for (const [at, part] of wanted.entries()) {
    const value = given[at] ?? '';
    if (part.startsWith(':')) {
      if (value === '') return undefined;
      try {
        params[part.slice(1)] = decodeURIComponent(value);
      } catch {
        return undefined;
      }
    } else if (part !== value) return undefined;
  }
  return params;
}

/**
 * Plain `<a href>` elements move without a load; a modifier key, a target or a download leave them to the browser.
 * Those of a frame open a tab of their own: no page but a shared board is shown in frames.
 */
export function listenForLinks(): void {
  window.addEventListener('popstate', () => {
    const before = address.peek().path;
    address.value = read();
    if (address.peek().path !== before) moves.value += 1;
  });
  document.addEventListener('click', (event) => {
    if (event.defaultPrevented || event.button !== 0) return;
    if (event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return;
    const link = event.target instanceof Element ? event.target.closest('a') : null;
    if (isFramed && link) link.target = '_blank';
    if (!link?.href || link.target || link.hasAttribute('download')) return;
    const to = new URL(link.href);
    if (to.origin !== window.location.origin || to.pathname.includes('.')) return;
    if (to.hash && to.pathname === window.location.pathname && to.search === window.location.search)
      return;
    event.preventDefault();
    navigate(to.pathname + to.search + to.hash);
  });
}
