// The columns of the list of users: usual ones, their worth, and traits. The address names those that somebody chose,
// so that a link shows the same list.

import { timestampDate } from '@bufbuild/protobuf/wkt';
import { figure } from '../../platform/words/figures.ts';
import type { Profile } from '../../proto/gen/shared/profiles/v1/profiles_pb.js';
import { MarkedDevice, MarkedPlace } from '../marks/marked.tsx';
import { address, setQuery } from '../router.ts';
import { userName } from '../text/user-name.ts';
import { Time } from '../time/time.tsx';
import { Menu, MenuItem } from '../ui/menu.tsx';
import type { Column } from '../ui/table.tsx';
import { traitOrder } from './profile-sort.ts';
import { deviceOf, placeOf } from './profiles-client.ts';
import { plainSource, SourceName } from './worth/source-texts.tsx';
import { plainValue, valueTexts } from './worth/value-texts.ts';

/** `plain`: the value for other programs. */
export type UserColumn = Column<Profile> & { plain: (profile: Profile) => string };

/** More traits have no room on a wide screen. */
const maxTraits = 6;
/** The menu's entries of traits. */
const maxOffered = 30;

function counted(
  name: string,
  order: string,
  of: (profile: Profile) => bigint | undefined,
): UserColumn {
  return {
    ...{ name, order, width: '64px', isNumber: true },
    cell: (profile) => figure(of(profile) ?? 0n),
    plain: (profile) => String(of(profile) ?? 0n),
  };
}

function lastSeenOf({ activity }: Profile): string {
  return activity?.lastSeen ? timestampDate(activity.lastSeen).toISOString() : '';
}

const beforeWorth: readonly UserColumn[] = [
  { name: 'Who', order: 'name', width: 'minmax(122px, 2fr)', cell: userName, plain: userName },
  {
    name: 'Last seen',
    order: 'last-seen',
    width: '104px',
    cell: ({ activity }) => <Time at={activity?.lastSeen} />,
    plain: lastSeenOf,
  },
  counted('Events', 'events', ({ activity }) => activity?.totalEvents),
  counted('Views', 'views', ({ activity }) => activity?.pageviews),
  counted('Visits', 'visits', ({ activity }) => activity?.sessions),
];

const behindWorth: readonly UserColumn[] = [
  {
    name: 'Place',
    order: 'place',
    width: 'minmax(90px, 1fr)',
    cell: (profile) => (
      <MarkedPlace country={profile.activity?.country}>{placeOf(profile)}</MarkedPlace>
    ),
    plain: placeOf,
  },
  {
    name: 'Device',
    order: 'device',
    width: 'minmax(104px, 1.4fr)',
    cell: (profile) => (
      <MarkedDevice browser={profile.activity?.browser} os={profile.activity?.os}>
        {deviceOf(profile)}
      </MarkedDevice>
    ),
    plain: deviceOf,
  },
];

/** Nobody can sort by them: the service would have to read the payments of everybody. */
const worthColumns: Readonly<Record<'value' | 'source', UserColumn>> = {
  value: {
    name: 'Lifetime value',
    width: 'minmax(108px, 1fr)',
    cell: ({ worth }) => {
      const texts = worth ? valueTexts(worth).join(', ') : '';
      return <span title={texts || undefined}>{texts}</span>;
    },
    plain: ({ worth }) => plainValue(worth),
  },
  source: {
    name: 'First source',
    width: 'minmax(112px, 1.2fr)',
    cell: ({ worth }) => (worth?.firstSource ? <SourceName source={worth.firstSource} /> : null),
    plain: ({ worth }) => plainSource(worth),
  },
};
const worthNames = ['value', 'source'] as const;

/** Both unless the address names them. */
export function worthShown(): (typeof worthNames)[number][] {
  const named = address.value.query.get('worth')?.split(',');
  return worthNames.filter((name) => named?.includes(name) ?? true);
}

/** `isWithoutWorth`: the service could not say it. */
export function shownColumns(isWithoutWorth: boolean): UserColumn[] {
  const worth = isWithoutWorth ? [] : worthShown().map((name) => worthColumns[name]);
  return [...beforeWorth, ...worth, ...behindWorth, ...chosenTraits().map(traitColumn)];
}

/** What the address names, as a JSON list because a trait's name may hold any character. */
function chosenTraits(): string[] {
  try {
    const names: unknown = JSON.parse(address.value.query.get('columns') ?? '[]');
    if (!Array.isArray(names)) return [];
    return names.filter((name) => typeof name === 'string').slice(0, maxTraits);
  } catch {
    return [];
  }
}

function traitColumn(name: string): UserColumn {
  const text = ({ properties }: Profile): string => {
    const value = properties?.[name];
    if (value === undefined) return '';
    return typeof value === 'string' ? value : JSON.stringify(value);
  };
  // A trait may have any name, that of another column too.
  const id = traitOrder(name);
  return { name, id, order: id, width: 'minmax(90px, 1fr)', cell: text, plain: text };
}

/** Offers what users are worth, and the traits of the rows that are loaded. */
export function ColumnsMenu({ rows }: { rows: readonly Profile[] }) {
  const [worth, traits] = [worthShown(), chosenTraits()];
  const seen = rows.flatMap(({ properties }) => Object.keys(properties ?? {}));
  const offered = [...new Set([...traits, ...seen.sort()])].slice(0, maxOffered);
  const toggleWorth = (name: (typeof worthNames)[number]): void => {
    const next = worthNames.filter((one) => worth.includes(one) !== (one === name));
    const isUsual = next.length === worthNames.length;
    setQuery({ worth: isUsual ? undefined : next.join(',') || 'none' });
  };
  const toggleTrait = (name: string): void => {
    const next = traits.includes(name)
      ? traits.filter((one) => one !== name)
      : [...traits, name].slice(-maxTraits);
    setQuery({ columns: next.length > 0 ? JSON.stringify(next) : undefined });
  };
  return (
    <Menu label="Columns" align="end" button="Columns">
      {worthNames.map((name) => (
        <MenuItem
          key={name}
          isChosen={worth.includes(name)}
          isOneOfMany
          onChoose={() => toggleWorth(name)}
        >
          {worthColumns[name].name}
        </MenuItem>
      ))}
      {offered.map((name) => (
        <MenuItem
          key={traitOrder(name)}
          isChosen={traits.includes(name)}
          isOneOfMany
          onChoose={() => toggleTrait(name)}
        >
          {name}
        </MenuItem>
      ))}
    </Menu>
  );
}
