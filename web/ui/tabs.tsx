// Tabs whose choice is in the address.

import { useEffect, useRef } from 'preact/hooks';
import { address, setQuery } from '../router.ts';

/** Of the tab before the chosen one, so that it shows that there is one. */
const tabMarginPx = 40;

/** The chosen tab: the query's `tab`, else the first. */
export function useTab<T extends string>(tabs: readonly { id: T; name: string }[]): T | undefined {
  const asked = address.value.query.get('tab');
  return (tabs.find(({ id }) => id === asked) ?? tabs[0])?.id;
}

/** For the row of tabs: where it is wider than its place, the chosen one is brought into sight. */
export function useTabInSight(chosen: string | undefined) {
  const row = useRef<HTMLElement>(null);
  useEffect(() => {
    const tab = row.current?.querySelector<HTMLElement>('[aria-current]');
    if (row.current && tab)
      row.current.scrollLeft = tab.offsetLeft - row.current.offsetLeft - tabMarginPx;
  }, [chosen]);
  return row;
}

export function Tabs<T extends string>(props: {
  label: string;
  tabs: readonly { id: T; name: string; count?: number }[];
}) {
  const { tabs } = props;
  const here = useTab(tabs);
  const row = useTabInSight(here);
  return (
    <nav class="tabs" ref={row} aria-label={props.label}>
      {tabs.map(({ id, name, count }) => (
        <button
          key={id}
          type="button"
          aria-current={id === here ? 'true' : undefined}
          onClick={() => setQuery({ tab: id === tabs[0]?.id ? undefined : id })}
        >
          {name}
          {count ? <span class="badge">{count}</span> : null}
        </button>
      ))}
    </nav>
  );
}
