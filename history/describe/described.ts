// Adds what a page's address and a browser's agent tell, by the pipeline's own steps: an import sends with a private
// key, whose events the service derives nothing for. What the source says itself stays.

import type { EventDraft } from '../../ingest/compat/mapping/event-draft.ts';
import { textOf } from '../../ingest/compat/mapping/sent-values.ts';
import { createDescribeEvent } from '../../pipeline/enrich/described-event.ts';
import { maxUserAgentCharacters } from '../../platform/limits.ts';
import { setBounded } from '../../platform/memory/bounded-map.ts';

const describe = createDescribeEvent(20_000);

/** Of pages that are seen again and again: the steps cost as much as all else that is done to an event. */
const maxRemembered = 20_000;
type Described = readonly (readonly [name: string, value: unknown])[];
const remembered = new Map<string, Described>();
/** By the address alone, where nothing else is told. */
const ofAddresses = new Map<string, Described>();
/** Between the parts of a key, a character that stands in no address. */
const gap = '\n';

/** The source's own texts; what is none is passed over. */
interface Seen {
  url?: unknown;
  referrer?: unknown;
  userAgent?: unknown;
}

/** Call it last: the first property of a name stays. */
export function putDescribed({ properties }: EventDraft, seen: Seen): void {
  const url = textOf(seen.url);
  const referrer = textOf(seen.referrer);
  const userAgent = textOf(seen.userAgent)?.slice(0, maxUserAgentCharacters);
  if (url === undefined && userAgent === undefined) return;
  const isAddress = url !== undefined && referrer === undefined && userAgent === undefined;
  const known = isAddress ? ofAddresses : remembered;
  const key = isAddress ? url : `${url ?? ''}${gap}${referrer ?? ''}${gap}${userAgent ?? ''}`;
  let described = known.get(key);
  if (described === undefined) {
    described = describedBy(url, referrer, userAgent);
    setBounded(known, key, described, maxRemembered);
  }
  for (const [name, value] of described) properties.put(name, value);
}

function describedBy(
  url: string | undefined,
  referrer: string | undefined,
  userAgent: string | undefined,
): [name: string, value: unknown][] {
  const sent = {
    ...(url !== undefined && { $url: url }),
    ...(referrer !== undefined && { $referrer: referrer }),
  };
  const properties = describe(sent, { userAgent, location: undefined });
  return Object.entries(properties).flatMap(([name, value]) => {
    // The source's own texts, which may be cut.
    if (name === '$url' || name === '$referrer') return [];
    return [[name, 'intValue' in value ? Number(value.intValue) : Object.values(value)[0]]];
  });
}
