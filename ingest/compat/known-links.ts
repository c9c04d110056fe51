// The links of ids that this process queued lately. Some SDKs repeat a link with every event of a user; each would
// write the person anew.

import { setBounded } from '../../platform/memory/bounded-map.ts';
import type { ProfileChange } from '../../proto/wire/profile-change.ts';

/** Some 15 MB where ids are long. */
const maxLinks = 20_000;

export class KnownLinks {
  readonly #links = new Map<string, true>();

  /** Whether the change says nothing but a link that was queued before. */
  has(projectId: string, change: ProfileChange): boolean {
    const link = linkOf(projectId, change);
    return link !== undefined && this.#links.has(link);
  }

  /** Call it once the change is queued. */
  add(projectId: string, change: ProfileChange): void {
    const link = linkOf(projectId, change);
    if (link !== undefined) setBounded(this.#links, link, true, maxLinks);
  }
}

function linkOf(projectId: string, change: ProfileChange): string | undefined {
  if (change.kind !== 'identify' || change.anonymousId === '') return undefined;
  if (change.traits.length + (change.traitsOnce ?? []).length > 0) return undefined;
  return JSON.stringify([projectId, change.externalId, change.anonymousId]);
}
