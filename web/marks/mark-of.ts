// Which mark stands before a value: an icon of our own files where it has one, else letters, or an empty place.

import type { SourceKind } from '../sources/known-sources.ts';
import { sourceOf } from '../sources/source-of.ts';
import { slugOf } from './slug.ts';

/** The module `virtual:icons`, which the build makes. */
export type Icons = { version: string; names: Readonly<Record<string, string>> };

export type Mark = {
  /** The icon's address; undefined where there is none. */
  file: string | undefined;
  /** In the icon's place; '' for an empty place. */
  letters: string;
  kind?: SourceKind | 'other';
};

const groups: Readonly<Record<string, string>> = {
  $referrerDomain: 'source',
  $utmSource: 'source',
  $aiAssistant: 'source',
  $channel: 'channel',
  $browser: 'browser',
  $os: 'system',
  $deviceType: 'device',
  $country: 'country',
};

/** Whether values of the property have marks. */
export function isMarked(property: string): boolean {
  return Object.hasOwn(groups, property);
}

/** `value`: undefined where the property is absent. Without `icons` there are none. */
export function markOf(
  icons: Icons | undefined,
  property: string,
  value: string | undefined,
): Mark {
  const group = groups[property] ?? '';
  const source = group === 'source' && value ? sourceOf(value) : undefined;
  const name = property === '$referrerDomain' && value === undefined ? 'Direct' : value;
  return {
    file: fileOf(icons, group, source?.name ?? name ?? ''),
    letters: lettersOf(group, source?.name ?? value?.replace(/^www\./, '')),
    ...(group === 'source' && { kind: source?.kind ?? 'other' }),
  };
}

function fileOf(icons: Icons | undefined, group: string, name: string): string | undefined {
  const slug = slugOf(name);
  const isThere = icons && slug !== '' && ` ${icons.names[group]} `.includes(` ${slug} `);
  return isThere ? `/assets/icon-${group}-${slug}-${icons.version}.svg` : undefined;
}

/** A country's code, and the first letter of others. */
function lettersOf(group: string, name = ''): string {
  if (group === 'country') return /^[A-Z]{2}$/.test(name) ? name : '';
  return [...name][0]?.toUpperCase() ?? '';
}
