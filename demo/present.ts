// A profile and its events as lines for a person. Prints nothing itself.

import type { Profile, StoredEvent } from './sending/client.ts';
import { type Properties, valueText } from './visits/event.ts';

const shownProperties = 5;
const maxValueCharacters = 32;

/** The profile's own fields and the sums of its activity. */
export function profileLines(profile: Profile, distinctId: string): string[] {
  const activity = profile.activity ?? {};
  const joined = (...names: string[]): string =>
    names
      .map((name) => activity[name] ?? '')
      .filter((part) => part !== '')
      .join(' ');
  const rows: [string, string][] = [
    ['name', String(profile.properties?.['name'] ?? '')],
    ['distinct id', distinctId],
    ['first seen', timeText(activity['firstSeen'])],
    ['last seen', timeText(activity['lastSeen'])],
    ['events', joined('totalEvents')],
    ['page views', joined('pageviews')],
    ['sessions', joined('sessions')],
    ['browser', joined('browser', 'browserVersion')],
    ['system', joined('os', 'osVersion')],
    ['device', joined('device')],
    [
      'place',
      [activity['city'], activity['region'], activity['country']].filter(Boolean).join(', '),
    ],
  ];
  const known = rows.filter(([, value]) => value !== '');
  return [
    `Profile ${profile.id}`,
    ...known.map(([name, value]) => `  ${name.padEnd(12)} ${value}`),
  ];
}

/** One line an event: time, kind and first properties. */
export function eventLines(events: readonly StoredEvent[]): string[] {
  const widest = Math.max(0, ...events.map(({ kind }) => kind.length));
  return events.map((event) => {
    const url = event.autoProperties?.['$url'];
    const page = event.kind === 'page_view' && url !== undefined ? [short(valueText(url), 60)] : [];
    const properties = [...page, ...propertyTexts(event.customProperties ?? {})];
    return `  ${timeText(event.occurTime)}  ${event.kind.padEnd(widest)}  ${properties.join('  ')}`;
  });
}

function propertyTexts(properties: Properties): string[] {
  const all = Object.entries(properties);
  const shown = all
    .slice(0, shownProperties)
    .map(([key, value]) => `${key}=${short(valueText(value), maxValueCharacters)}`);
  return all.length > shown.length ? [...shown, `+${all.length - shown.length}`] : shown;
}

function short(value: string, characters: number): string {
  const points = [...value];
  return points.length > characters ? `${points.slice(0, characters - 1).join('')}…` : value;
}

function timeText(time: string | undefined): string {
  return time === undefined ? '' : time.slice(0, 19).replace('T', ' ');
}
