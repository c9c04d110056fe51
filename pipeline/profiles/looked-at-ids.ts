// Which ids the changes of a batch look at: by name, and with all ids that are merged into them. A profile may have
// 10,000 of these, so a change that is refused whatever they are asks for none. No input or output.

import { maxMemberTraitsLength, maxProfileMembers } from '../../platform/limits.ts';
import type { AliasChange, ProfileChange } from '../../proto/wire/profile-change.ts';
import type { LoadedRecords } from './loaded-records.ts';
import type { QueuedChange } from './messages.ts';
import type { ProfileName } from './read-records.ts';
import { recordKey } from './record.ts';
import { maxStoredTraitsLength } from './traits.ts';

/** The ids whose records a change looks at. It also looks at the root of each. */
export function namedIds(change: ProfileChange): string[] {
  switch (change.kind) {
    case 'identify':
      return [change.externalId, change.anonymousId].filter(Boolean);
    case 'alias':
      return [change.previousId, change.externalId];
    case 'delete':
    case 'unmerge':
    case 'separate':
      return [change.distinctId];
    case 'forget':
      return [];
    default:
      return change satisfies never;
  }
}

/** The ids whose members a batch looks at, told change by change; `records` has the named ids and their roots. */
export class LookedAtMembers {
  readonly #records: LoadedRecords;
  /** Projects with an unmerge, before which a claim may be refused that is not refused after it. */
  readonly #unmerging = new Set<string>();
  /** Ids by project that another one joined: a deletion or unmerge may find them all in one profile. */
  readonly #joined = new Map<string, Set<string>>();
  readonly #told = new Set<string>();

  constructor(records: LoadedRecords, queued: Iterable<QueuedChange>) {
    this.#records = records;
    for (const { projectId, change } of queued) {
      if (['unmerge', 'separate'].includes(change.kind)) this.#unmerging.add(projectId);
    }
  }

  /** Those of the next change that no change before it has looked at. To be called in stream order. */
  of(queued: QueuedChange): ProfileName[] {
    const { projectId } = queued;
    const roots = this.#idsOf(queued).map((distinctId) => {
      const { root } = this.#records.get(projectId, distinctId);
      // A merged id belongs to the group of its root.
      return root === '' ? [distinctId] : [distinctId, root];
    });
    return roots.flat().flatMap((distinctId) => {
      const key = recordKey(projectId, distinctId);
      if (this.#told.has(key)) return [];
      this.#told.add(key);
      return [{ projectId, distinctId }];
    });
  }

  #idsOf({ projectId, change }: QueuedChange): string[] {
    switch (change.kind) {
      case 'identify':
        if (change.anonymousId !== '') this.#noteJoined(projectId, change.externalId);
        return [];
      case 'alias':
        this.#noteJoined(projectId, change.externalId);
        return this.#groupsOf(projectId, change);
      case 'delete':
      case 'unmerge':
      case 'separate': {
        const joined = this.#joined.get(projectId) ?? [];
        this.#joined.delete(projectId);
        return [change.distinctId, ...joined];
      }
      case 'forget':
        return [];
      default:
        return change satisfies never;
    }
  }

  #noteJoined(projectId: string, distinctId: string): void {
    const joined = this.#joined.get(projectId) ?? new Set();
    this.#joined.set(projectId, joined.add(distinctId));
  }

  /**
   * None where the stored records refuse it, whatever the batch does before it: without an unmerge a claimed id stays
   * claimed, and a profile only grows. A deleted id may be made anew.
   */
  #groupsOf(projectId: string, { previousId, externalId }: AliasChange): string[] {
    const previous = this.#records.get(projectId, previousId);
    const profile = this.#records.rootOf(this.#records.get(projectId, externalId));
    const members = previous.members + profile.members + 1;
    const isRefused = previous.owner !== '' || previous === profile || members > maxProfileMembers;
    if (isRefused && !this.#unmerging.has(projectId)) return [];
    return [previousId, ...(mayHoldTooMuch(members) ? [externalId] : [])];
  }
}

/** Whether so many ids can have more traits than one profile's may: then these have to be counted. */
export function mayHoldTooMuch(members: number): boolean {
  return members * maxStoredTraitsLength > maxMemberTraitsLength;
}
