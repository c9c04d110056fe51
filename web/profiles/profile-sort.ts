// How the list of profiles is sorted: by a column and a way, which the address names.

import { ProfileOrder } from '../../proto/gen/shared/profiles/v1/profiles_pb.js';
import { address, setQuery } from '../router.ts';
import type { Sorting } from '../ui/table.tsx';

/** `isText`: a first click asks for A to Z, and else for the most or the newest. */
const orders: ReadonlyMap<string, { by: ProfileOrder; isText: boolean }> = new Map([
  ['name', { by: ProfileOrder.NAME, isText: true }],
  ['last-seen', { by: ProfileOrder.LAST_SEEN, isText: false }],
  ['events', { by: ProfileOrder.TOTAL_EVENTS, isText: false }],
  ['views', { by: ProfileOrder.PAGEVIEWS, isText: false }],
  ['visits', { by: ProfileOrder.SESSIONS, isText: false }],
  ['place', { by: ProfileOrder.PLACE, isText: true }],
  ['device', { by: ProfileOrder.DEVICE, isText: true }],
]);
const usual = 'last-seen';
const traitPrefix = 'trait ';

/** What List takes. */
export type ProfileSort = { orderBy: ProfileOrder; ascending: boolean; orderTrait: string };

/** The order of a trait's column. */
export function traitOrder(name: string): string {
  return `${traitPrefix}${name}`;
}

/** The order that the address names; those seen last first unless it does. */
export function profileSort(): { sorting: Sorting; sort: ProfileSort } {
  const { query } = address.value;
  const asked = query.get('sort') ?? usual;
  const trait = asked.startsWith(traitPrefix) ? asked.slice(traitPrefix.length) : '';
  const order = orders.has(asked) || trait !== '' ? asked : usual;
  const isText = (one: string): boolean => orders.get(one)?.isText ?? true;
  const isAscending = query.has('way') ? query.get('way') === 'up' : isText(order);
  const onSort = (next: string): void => {
    const goesUp = next === order ? !isAscending : isText(next);
    setQuery({ sort: next === usual ? undefined : next, way: goesUp ? 'up' : 'down' });
  };
  const orderBy = orders.get(order)?.by ?? ProfileOrder.TRAIT;
  return {
    sorting: { order, isAscending, onSort },
    sort: { orderBy, ascending: isAscending, orderTrait: trait },
  };
}
