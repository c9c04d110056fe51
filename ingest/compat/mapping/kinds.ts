// From an SDK's name of an event to a kind. The name itself stays in `$name` where the kind does not say it.

import { createHash } from 'node:crypto';
import { maxKindCharacters } from '../../../platform/limits.ts';
import { setBounded } from '../../../platform/memory/bounded-map.ts';

/** Names with a meaning of their own, in lower case. */
const known: ReadonlyMap<string, string> = new Map([
  ['$pageview', 'page_view'],
  ['pageview', 'page_view'],
  ['page', 'page_view'],
  ['$mp_web_page_view', 'page_view'],
  ['[amplitude] page viewed', 'page_view'],
  ['$pageleave', 'page_leave'],
  ['$screen', 'screen_view'],
  ['screen', 'screen_view'],
  ['screenview', 'screen_view'],
]);

const kindPattern = /^[a-zA-Z0-9_.-]+$/;
/** Marks of a vendor before a name: `[Amplitude] `, `$`. */
const vendorMark = /^(?:\[[^\]]{0,40}\]\s*|\$+)/;
const maxRemembered = 2_000;
const maxRememberedCharacters = 200;
const remembered = new Map<string, string>();

/** A kind that keeps the rules of kinds. Names that are kinds already stay as they are. */
export function kindOf(name: string): string {
  const found = remembered.get(name);
  if (found !== undefined) return found;
  const kind = makeKind(name);
  if (name.length <= maxRememberedCharacters) setBounded(remembered, name, kind, maxRemembered);
  return kind;
}

function makeKind(name: string): string {
  const lower = name.slice(0, maxKindCharacters).toLowerCase();
  const meant = known.get(lower);
  if (meant !== undefined) return meant;
  if (name.length <= maxKindCharacters && kindPattern.test(name) && !name.startsWith('svc.')) {
    return name;
  }
  const bare = lower.replace(vendorMark, '');
  const words = bare.replace(/[^a-z0-9_.-]+/g, '_').replace(/^_+|_+$/g, '');
  const isWhole = name.length <= maxKindCharacters && !/[^\x20-\x7e]/.test(name) && words !== '';
  const kind = words.startsWith('svc.') ? `_${words}` : words;
  if (isWhole) return kind;
  // Letters that a kind cannot have would make one kind of many names.
  const mark = createHash('sha256').update(name).digest('hex').slice(0, 8);
  return `${kind.slice(0, maxKindCharacters - 20) || 'event'}_${mark}`;
}
