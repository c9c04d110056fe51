// Tabs whose choice is in the address.

import { address, setQuery } from '../router.ts';

/** The chosen tab: the query's `tab`, else the first. */
export function useTab<T extends string>(tabs: readonly { id: T; name: string }[]): T | undefined {
  const asked = address.value.query.get('tab');
  return (tabs.find(({ id }) => id === asked) ?? tabs[0])?.id;
}

export function Tabs<T extends string>(props: {
  label: string;
  tabs: readonly { id: T; name: string; count?: number }[];
}) {
  const { tabs } = props;
  const here = useTab(tabs);
  return (
    <nav class="tabs" aria-label={props.label}>
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
