// The names that a hand-written statement uses for the same things in two layouts of the same events: ours, the table
// `events`, and the peer's, which peer-layout.ts makes.

import { profileKeySql } from '../../../query/identity/identity-sql.ts';

export interface Layout {
  /** The FROM clause of all events. */
  from: string;
  /** The FROM clause that also finds out whom an event's id was merged into. */
  fromPersons: string;
  /** The user of an event, in `fromPersons`. */
  user: string;
  /** The text by which `user` is told outside. */
  userText(user: string): string;
  /** Orders users by that text. */
  userOrder(user: string): string;
  /** Holds for events that have a user. */
  hasUser: string;
  /** Holds for the events of the project. */
  ofProject: string;
  kind: string;
  time: string;
  session: string;
  eventId: string;
  browser: string;
  pathname: string;
  referrerDomain: string;
  channel: string;
  utmCampaign: string;
  country: string;
  deviceType: string;
  /** The text of a custom property, '' where it is absent. */
  custom(name: string): string;
  /** Holds where a custom property is this text, which is not a number's or a time's. */
  customIs(name: string, text: string): string;
  /** A custom property that all events of the statement have as a double. */
  double(name: string): string;
}

/** Names and values are the bench's own, so that they may stand in a statement. */
export function ourLayout(projectId: string): Layout {
  const project = `'${projectId}'`;
  const edges = `SELECT profile_key, ${profileKeySql('root_id')} AS user_key
    FROM profiles FINAL WHERE project_id = ${project} AND edge AND root != ''`;
  const deleted = `SELECT profile_key FROM profiles FINAL WHERE project_id = ${project} AND NOT edge AND deleted`;
  const user = 'if(edges.user_key = 0, e.profile_key, edges.user_key)';
  return {
    from: 'events AS e',
    fromPersons: `events AS e LEFT ANY JOIN (${edges}) AS edges ON edges.profile_key = e.profile_key`,
    user,
    userText: (key) => `lower(hex(reinterpretAsFixedString(${key})))`,
    userOrder: (key) => `byteSwap(${key})`,
    hasUser: `NOT e.cookieless AND ${user} NOT IN (${deleted})`,
    ofProject: `e.project_id = ${project}`,
    ...{ kind: 'e.kind', time: 'e.occur_time', session: 'e.session_id', eventId: 'e.event_id' },
    ...{ browser: 'e.browser', pathname: 'e.pathname', referrerDomain: 'e.referrer_domain' },
    ...{ channel: 'e.channel', utmCampaign: 'e.utm_campaign', country: 'e.country' },
    deviceType: 'e.device_type',
    customIs: (name, text) => `e.string_properties['${name}'] = '${text}'`,
    double: (name) => `e.double_properties['${name}']`,
    custom: (
      name,
    ) => `multiIf(mapContains(e.string_properties, '${name}'), e.string_properties['${name}'],
      mapContains(e.int_properties, '${name}'), toString(e.int_properties['${name}']),
      mapContains(e.double_properties, '${name}'), toString(e.double_properties['${name}']),
      mapContains(e.bool_properties, '${name}'), toString(e.bool_properties['${name}']),
      mapContains(e.time_properties, '${name}'), toString(e.time_properties['${name}']), '')`,
  };
}
