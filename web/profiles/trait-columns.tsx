// Traits as columns of the list of profiles. The address names them, so that a link shows the same list.

import type { Profile } from '../../proto/gen/shared/profiles/v1/profiles_pb.js';
import { address, setQuery } from '../router.ts';
import { Menu, MenuItem } from '../ui/menu.tsx';
import type { Column } from '../ui/table.tsx';
import { traitOrder } from './profile-sort.ts';

/** More have no room on a wide screen. */
const maxColumns = 6;
/** The menu's entries. */
const maxOffered = 30;

/** What the address names, as a JSON list because a trait's name may hold any character. */
function chosenTraits(): string[] {
  try {
    const names: unknown = JSON.parse(address.value.query.get('columns') ?? '[]');
    if (!Array.isArray(names)) return [];
    return names.filter((name) => typeof name === 'string').slice(0, maxColumns);
  } catch {
    return [];
  }
}

export function traitColumns(): Column<Profile>[] {
  return chosenTraits().map((name) => ({
    name,
    order: traitOrder(name),
    width: 'minmax(90px, 1fr)',
    cell: ({ properties }) => {
      const value = properties?.[name];
      if (value === undefined) return '';
      return typeof value === 'string' ? value : JSON.stringify(value);
    },
  }));
}

/** Offers the traits of the rows that are loaded. */
export function TraitColumnsMenu({ rows }: { rows: readonly Profile[] }) {
  const chosen = chosenTraits();
  const seen = rows.flatMap(({ properties }) => Object.keys(properties ?? {}));
  const offered = [...new Set([...chosen, ...seen.sort()])].slice(0, maxOffered);
  if (offered.length === 0) return null;
  const toggle = (name: string): void => {
    const next = chosen.includes(name)
      ? chosen.filter((one) => one !== name)
      : [...chosen, name].slice(-maxColumns);
    setQuery({ columns: next.length > 0 ? JSON.stringify(next) : undefined });
  };
  return (
    <Menu label="Traits as columns" align="end" button="Columns">
      {offered.map((name) => (
        <MenuItem
          key={name}
          isChosen={chosen.includes(name)}
          isOneOfMany
          onChoose={() => toggle(name)}
        >
          {name}
        </MenuItem>
      ))}
    </Menu>
  );
}
