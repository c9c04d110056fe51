// What each change does to profiles, applied one after the other in stream order to records that were loaded before.
// No input or output, no clock: the same records and changes end in the same records.

import type {
  AliasChange,
  DeleteChange,
  IdentifyChange,
  ProfileChange,
  UnmergeChange,
} from '../../proto/wire/profile-change.ts';
import { type MergeSource, type ProfileRecord, recordKey, traitsOf } from './record.ts';

/** A change with what its request says of it. */
export interface QueuedChange {
  projectId: string;
  receiveTimeMs: number;
  change: ProfileChange;
}

/**
 * Ids whose records, and ids whose members, a change looks at. Beside them it looks at the root of each, and where it
 * asks for members at their owners, and theirs.
 */
export function idsOf(change: ProfileChange): { records: string[]; groups: string[] } {
  switch (change.kind) {
    case 'identify':
      return { records: [change.externalId, change.anonymousId].filter(Boolean), groups: [] };
    case 'alias':
      return { records: [change.previousId, change.externalId], groups: [change.previousId] };
    case 'delete':
    case 'unmerge':
      return { records: [change.distinctId], groups: [change.distinctId] };
    default:
      return change satisfies never;
  }
}

export class ProfileChanges {
  /** Those that were changed and must be stored. */
  readonly changed = new Set<ProfileRecord>();
  readonly #records = new Map<string, ProfileRecord>();
  /** Records by the key of their root; absent until they are asked for, which most batches never do. */
  #members: Map<string, Set<ProfileRecord>> | undefined;

  /** Hands over a record as it is stored, or a new one where none is; the second of one id is ignored. */
  add(record: ProfileRecord): void {
    const key = recordKey(record.projectId, record.distinctId);
    if (this.#records.has(key)) return;
    this.#records.set(key, record);
    if (this.#members !== undefined) addMember(this.#members, record);
  }

  has(projectId: string, distinctId: string): boolean {
    return this.#records.has(recordKey(projectId, distinctId));
  }

  records(): Iterable<ProfileRecord> {
    return this.#records.values();
  }

  apply({ projectId, receiveTimeMs, change }: QueuedChange): void {
    switch (change.kind) {
      case 'identify':
        this.#identify(projectId, receiveTimeMs, change);
        break;
      case 'alias':
        this.#alias(projectId, receiveTimeMs, change);
        break;
      case 'delete':
        this.#delete(projectId, change);
        break;
      case 'unmerge':
        this.#unmerge(projectId, receiveTimeMs, change);
        break;
      default:
        change satisfies never;
    }
  }

  #identify(projectId: string, timeMs: number, change: IdentifyChange): void {
    const profile = this.#named(projectId, change.externalId, timeMs);
    if (change.traits.length > 0) {
      const traits = traitsOf(profile);
      for (const trait of change.traits) traits.set(trait);
      profile.updateTimeMs = timeMs;
    }
    if (change.deviceId !== '') profile.deviceId = change.deviceId;
    this.changed.add(profile);
    if (change.anonymousId === '') return;
    const anonymous = this.#get(projectId, change.anonymousId);
    if (anonymous.named) return;
    this.#claim(anonymous, profile, change.externalId, timeMs, 'identify');
  }

  #alias(projectId: string, timeMs: number, { previousId, externalId }: AliasChange): void {
    const profile = this.#named(projectId, externalId, timeMs);
    const previous = this.#get(projectId, previousId);
    if (!this.#claim(previous, profile, externalId, timeMs, 'alias')) return;
    if (inherit(profile, previous, givenAsWell)) profile.updateTimeMs = timeMs;
    this.changed.add(profile);
  }

  /** The profile that an externalId means: its root's, made or made anew where there is none. */
  #named(projectId: string, externalId: string, timeMs: number): ProfileRecord {
    const named = this.#get(projectId, externalId);
    const profile = this.#root(named);
    for (const record of new Set([named, profile])) {
      if (record.named && !record.deleted) continue;
      if (record.named) {
        record.formerCreateTimesMs = [...record.formerCreateTimesMs, record.createTimeMs];
      }
      record.named = true;
      record.deleted = false;
      record.createTimeMs = timeMs;
      record.updateTimeMs = timeMs;
      this.changed.add(record);
    }
    return profile;
  }

  /** The first claim holds. One that would close a circle is none. */
  #claim(
    merged: ProfileRecord,
    profile: ProfileRecord,
    owner: string,
    timeMs: number,
    source: MergeSource,
  ): boolean {
    if (merged.owner !== '' || merged === profile) return false;
    merged.owner = owner;
    merged.mergeTimeMs = timeMs;
    merged.mergeSource = source;
    merged.wasClaimed = true;
    this.#setRoot(merged, profile.distinctId);
    // Identify claims an id that nobody named, and such a one owns no other.
    if (source === 'identify') return true;
    for (const member of [...this.#membersOf(merged)]) this.#setRoot(member, profile.distinctId);
    return true;
  }

  /** What is known of the ids that were merged into it is the profile's, and goes too. */
  #delete(projectId: string, { distinctId }: DeleteChange): void {
    const profile = this.#root(this.#get(projectId, distinctId));
    profile.deleted = true;
    for (const record of [profile, ...this.#membersOf(profile)]) {
      record.traits = undefined;
      record.deviceId = '';
      this.changed.add(record);
    }
  }

  #unmerge(projectId: string, timeMs: number, { distinctId }: UnmergeChange): void {
    const record = this.#get(projectId, distinctId);
    if (record.owner === '') return;
    const profile = this.#root(record);
    const below = [...this.#membersOf(profile)].filter((member) => this.#leadsTo(member, record));
    record.owner = '';
    record.mergeSource = '';
    this.#setRoot(record, '');
    for (const member of below) this.#setRoot(member, distinctId);
    for (const changed of [profile, record]) {
      if (this.#settleTraits(changed)) changed.updateTimeMs = timeMs;
      this.changed.add(changed);
    }
  }

  /**
   * Takes from a root what others gave who do not belong to it any more, and gives it what those who do have; false
   * where that is what it had.
   */
  #settleTraits(profile: ProfileRecord): boolean {
    const members = [...this.#membersOf(profile)].sort(byMergeTime);
    const ids = new Set(members.map(({ distinctId }) => distinctId));
    let isChanged = (profile.traits?.giveBack((giver) => !ids.has(giver)) ?? []).length > 0;
    const owned = new Map<string, ProfileRecord[]>();
    for (const member of members.reverse()) {
      const siblings = owned.get(member.owner) ?? [];
      owned.set(member.owner, siblings);
      siblings.push(member);
    }
    // An owner's traits win over those of the ids that were merged into it, so it comes before them.
    const next = [...(owned.get(profile.distinctId) ?? [])];
    for (let member = next.pop(); member !== undefined; member = next.pop()) {
      isChanged = inherit(profile, member, ownOnly) || isChanged;
      for (const below of owned.get(member.distinctId) ?? []) next.push(below);
    }
    return isChanged;
  }

  /** Whether following the owners of `member` passes `record`; false for the record itself. */
  #leadsTo(member: ProfileRecord, record: ProfileRecord): boolean {
    let at = member;
    while (at.owner !== '') {
      at = this.#get(member.projectId, at.owner);
      if (at === record) return true;
    }
    return false;
  }

  #setRoot(record: ProfileRecord, root: string): void {
    this.#members?.get(recordKey(record.projectId, record.root))?.delete(record);
    record.root = root;
    if (this.#members !== undefined) addMember(this.#members, record);
    this.changed.add(record);
  }

  #root(record: ProfileRecord): ProfileRecord {
    return record.root === '' ? record : this.#get(record.projectId, record.root);
  }

  #get(projectId: string, distinctId: string): ProfileRecord {
    const record = this.#records.get(recordKey(projectId, distinctId));
    // To take it for one that nothing is known of could undo a merge.
    if (record === undefined) throw new Error('profile changes: a record was not loaded');
    return record;
  }

  /** The records whose root this one is. */
  #membersOf({ projectId, distinctId }: ProfileRecord): Iterable<ProfileRecord> {
    if (this.#members === undefined) {
      this.#members = new Map();
      for (const record of this.#records.values()) addMember(this.#members, record);
    }
    return this.#members.get(recordKey(projectId, distinctId)) ?? [];
  }
}

function addMember(members: Map<string, Set<ProfileRecord>>, record: ProfileRecord): void {
  if (record.root === '') return;
  const key = recordKey(record.projectId, record.root);
  const group = members.get(key) ?? new Set();
  members.set(key, group);
  group.add(record);
}

const givenAsWell = true;
const ownOnly = false;

/** Gives a profile the traits that it lacks and another record has; false where there are none. */
function inherit(profile: ProfileRecord, from: ProfileRecord, withGiven: boolean): boolean {
  if (from.traits === undefined) return false;
  const { values, givers } = from.traits;
  const traits = traitsOf(profile);
  let isChanged = false;
  for (const trait of values) {
    const giver = givers.get(trait[0]);
    if (giver !== undefined && !withGiven) continue;
    isChanged = traits.inherit(trait, giver ?? from.distinctId) || isChanged;
  }
  return isChanged;
}

function byMergeTime(a: ProfileRecord, b: ProfileRecord): number {
  return a.mergeTimeMs - b.mergeTimeMs || (a.distinctId < b.distinctId ? -1 : 1);
}
