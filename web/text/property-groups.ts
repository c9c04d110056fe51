// Groups of properties in pickers, in the order of the overview.

import { PropertySource } from '../../proto/gen/common/v1/filter_pb.js';
import type { SeenProperty } from '../../proto/gen/common/v1/filter_schema_pb.js';

const ofName: [name: string, pattern: RegExp][] = [
  ['Pages', /^\$(?:pathname|title|hostname|url)$/],
  ['Sources', /^\$(?:referrer|channel$|aiAssistant$|utm[A-Z])/],
  ['Places', /^\$(?:country|region|city|continent|timezone|language|latitude|longitude)$/],
  ['Devices', /^\$(?:device|browser|os[A-Z]|os$|viewport$|mobile$|screen)/],
];

const ofEvents = 'Events';
const ofUsers = 'Users';

const order = [...ofName.map(([name]) => name), ofEvents, ofUsers];

function groupOf({ property, source }: SeenProperty): string {
  if (source === PropertySource.PROFILE) return ofUsers;
  return ofName.find(([, pattern]) => pattern.test(property))?.[0] ?? ofEvents;
}

/** Those of a group together, each with its group, otherwise in the order in which they came. */
export function inGroups(seen: readonly SeenProperty[]): [group: string, of: SeenProperty][] {
  const named = seen.map((one): [string, SeenProperty] => [groupOf(one), one]);
  return named.sort(([one], [other]) => order.indexOf(one) - order.indexOf(other));
}
