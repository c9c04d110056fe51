// Applies changes of profiles, one after the other in stream order, to records that were loaded before. No input or
// output: the same records and changes end in the same records.

import { setImmediate } from 'node:timers/promises';
import { maxMemberTraitsLength, maxProfileMembers } from '../../platform/limits.ts';
import type {
  AliasChange,
  DeleteChange,
  IdentifyChange,
  SeparateChange,
  UnmergeChange,
} from '../../proto/wire/profile-change.ts';
import type { LoadedRecords } from './loaded-records.ts';
import { mayHoldTooMuch } from './looked-at-ids.ts';
import type { QueuedChange } from './messages.ts';
import { type MergeSource, type ProfileRecord, traitsOf } from './record.ts';

/** A batch may unmerge thousands of ids of a large profile, and the broker's pings must be answered meanwhile. */
const maxTurnMs = 20;

export interface AppliedChanges {
  /** The records to store. */
  changed: ReadonlySet<ProfileRecord>;
  /** Profiles that had all the ids they may have when another id was to be merged into them. */
  full: readonly ProfileRecord[];
}

/** Applies all changes; `records` has every record that looked-at-ids.ts names. */
export async function applyChanges(
  records: LoadedRecords,
  queued: Iterable<QueuedChange>,
  nowMs: () => number = () => performance.now(),
): Promise<AppliedChanges> {
  const changes = new ProfileChanges(records);
  let turnMs = nowMs();
  for (const change of queued) {
    changes.apply(change);
    if (nowMs() - turnMs < maxTurnMs) continue;
    await setImmediate();
    turnMs = nowMs();
  }
  records.settle();
  return { changed: records.changed, full: [...changes.full] };
}

class ProfileChanges {
  readonly full = new Set<ProfileRecord>();
  readonly #records: LoadedRecords;
  /** Characters of the traits of a root's members, where an Alias had them counted. */
  readonly #memberTraits = new Map<ProfileRecord, number>();

  constructor(records: LoadedRecords) {
    this.#records = records;
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
      case 'separate':
        this.#separate(projectId, receiveTimeMs, change);
        break;
      case 'forget':
        break;
      default:
        change satisfies never;
    }
  }

  #identify(projectId: string, timeMs: number, change: IdentifyChange): void {
    const profile = this.#named(projectId, change.externalId, timeMs);
    for (const trait of change.traits) traitsOf(profile).set(trait);
    const once = (change.traitsOnce ?? []).filter(([key]) => !profile.traits?.values.has(key));
    for (const trait of once) traitsOf(profile).set(trait);
    if (change.traits.length + once.length > 0) profile.updateTimeMs = timeMs;
    if (change.deviceId !== '') profile.deviceId = change.deviceId;
    this.#records.changed.add(profile);
    if (change.anonymousId === '') return;
    const anonymous = this.#records.get(projectId, change.anonymousId);
    if (anonymous.named) return;
    this.#claim(anonymous, profile, change.externalId, timeMs, 'identify');
  }

  /** Nothing where one of the two is deleted: only its own Identify brings it back. */
  #alias(projectId: string, timeMs: number, { previousId, externalId }: AliasChange): void {
    const both = [previousId, externalId].map((id) => this.#records.get(projectId, id));
    if (both.some((record) => this.#records.rootOf(record).deleted)) return;
    const profile = this.#named(projectId, externalId, timeMs);
    const previous = this.#records.get(projectId, previousId);
    if (!this.#claim(previous, profile, externalId, timeMs, 'alias')) return;
    if (inherit(profile, previous, givenAsWell)) profile.updateTimeMs = timeMs;
    // An unmerge finds them again; copies at each step of a chain of Aliases would be of any size.
    previous.traits?.giveBack(() => true);
    this.#records.changed.add(profile);
  }

  /** The profile of an externalId, which is its root's; made where there is none, and made again after a deletion. */
  #named(projectId: string, externalId: string, timeMs: number): ProfileRecord {
    const named = this.#records.get(projectId, externalId);
    const profile = this.#records.rootOf(named);
    for (const record of new Set([named, profile])) {
      if (record.named && !record.deleted) continue;
      if (record.named) {
        record.formerCreateTimesMs = [...record.formerCreateTimesMs, record.createTimeMs];
      }
      record.named = true;
      record.deleted = false;
      record.createTimeMs = timeMs;
      record.updateTimeMs = timeMs;
      this.#records.changed.add(record);
    }
    return profile;
  }

  /**
   * The first claim of an id holds; false for a later claim, for one of a deleted id, whose events would come back, for
   * one that would close a circle, and for one that would merge too many ids, or too many traits, into a profile.
   */
  #claim(
    merged: ProfileRecord,
    profile: ProfileRecord,
    owner: string,
    timeMs: number,
    source: MergeSource,
  ): boolean {
    if (merged.owner !== '' || merged.deleted || merged === profile) return false;
    // Identify claims only ids that were never named, and those own no others.
    const moved = source === 'identify' ? 0 : this.#membersOf(merged);
    const count = profile.members + 1 + moved;
    const isFull =
      count > maxProfileMembers ||
      (source === 'alias' && this.#wouldHoldTooMuch(merged, profile, count));
    if (isFull) {
      this.full.add(profile);
      return false;
    }
    profile.members = count;
    merged.members = 0;
    merged.owner = owner;
    merged.mergeTimeMs = timeMs;
    merged.mergeSource = source;
    merged.wasClaimed = true;
    this.#records.merge(merged, profile);
    return true;
  }

  /** A profile that is too large to be merged has no members loaded; one from before they were counted has more. */
  #membersOf(root: ProfileRecord): number {
    return Math.max(root.members, this.#records.membersOf(root).size);
  }

  /** Only where a profile has many ids is this counted, and are all of them loaded. */
  #wouldHoldTooMuch(merged: ProfileRecord, profile: ProfileRecord, members: number): boolean {
    if (!mayHoldTooMuch(members)) return false;
    const own = merged.traits?.ownLength ?? 0;
    const length = this.#memberTraitsLength(profile) + own + this.#memberTraitsLength(merged);
    if (length > maxMemberTraitsLength) return true;
    this.#memberTraits.set(profile, length);
    return false;
  }

  #memberTraitsLength(root: ProfileRecord): number {
    const known = this.#memberTraits.get(root);
    if (known !== undefined) return known;
    let length = 0;
    for (const { traits } of this.#records.membersOf(root)) length += traits?.ownLength ?? 0;
    return length;
  }

  /** The ids merged into a profile are part of it, so their traits and devices go too. */
  #delete(projectId: string, { distinctId }: DeleteChange): void {
    const profile = this.#records.rootOf(this.#records.get(projectId, distinctId));
    profile.deleted = true;
    this.#memberTraits.delete(profile);
    this.#records.changed.add(profile);
    for (const record of [profile, ...this.#records.membersOf(profile)]) {
      // Most members are anonymous ids with nothing to delete, and a profile may have very many of them.
      if (record.traits === undefined && record.deviceId === '') continue;
      record.traits = undefined;
      record.deviceId = '';
      this.#records.changed.add(record);
    }
  }

  /** Its members leave with it, but for those merged below it since: they were meant for a profile that was there. */
  #separate(projectId: string, timeMs: number, { distinctId }: SeparateChange): void {
    const record = this.#records.get(projectId, distinctId);
    if (record.owner === '' || !record.deleted) return;
    const profile = this.#records.rootOf(record);
    for (const member of [...membersBelow(distinctId, this.#records.membersOf(profile))]) {
      if (member.mergeTimeMs <= record.mergeTimeMs || member.root !== profile.distinctId) continue;
      this.#unmerge(projectId, timeMs, { kind: 'unmerge', distinctId: member.distinctId });
    }
    this.#unmerge(projectId, timeMs, { kind: 'unmerge', distinctId });
  }

  #unmerge(projectId: string, timeMs: number, { distinctId }: UnmergeChange): void {
    const record = this.#records.get(projectId, distinctId);
    if (record.owner === '') return;
    const profile = this.#records.rootOf(record);
    const below = [...membersBelow(distinctId, this.#records.membersOf(profile))];
    record.owner = '';
    record.mergeSource = '';
    // It was deleted with the profile.
    if (profile.deleted) record.deleted = true;
    this.#memberTraits.delete(profile);
    this.#records.separate(record, below);
    for (const changed of [profile, record]) {
      changed.members = this.#records.membersOf(changed).size;
      if (this.#settleTraits(changed)) changed.updateTimeMs = timeMs;
      this.#records.changed.add(changed);
    }
  }

  /**
   * Takes from a root the traits of ids that are not its members any more, and gives it those that its members have;
   * false where nothing changed.
   */
  #settleTraits(profile: ProfileRecord): boolean {
    const members = this.#records.membersOf(profile);
    const ids = new Set(Array.from(members, ({ distinctId }) => distinctId));
    let isChanged = (profile.traits?.giveBack((giver) => !ids.has(giver)) ?? []).length > 0;
    for (const member of membersBelow(profile.distinctId, members)) {
      isChanged = inherit(profile, member, ownOnly) || isChanged;
    }
    return isChanged;
  }
}

/**
 * The members that were merged into an id, or into another member below it. An owner comes before the members below it,
 * because its traits win, and of two members of one owner the one merged first.
 */
function* membersBelow(id: string, members: Iterable<ProfileRecord>): Generator<ProfileRecord> {
  const owned = new Map<string, ProfileRecord[]>();
  for (const member of [...members].sort(byMergeTime).reverse()) {
    const siblings = owned.get(member.owner) ?? [];
    owned.set(member.owner, siblings);
    siblings.push(member);
  }
  const next = [...(owned.get(id) ?? [])];
  for (let member = next.pop(); member !== undefined; member = next.pop()) {
    yield member;
    for (const below of owned.get(member.distinctId) ?? []) next.push(below);
  }
}

/** Traits that the other record has from merges are inherited too, or only those it was given itself. */
const givenAsWell = true;
const ownOnly = false;

/** Gives a profile the traits of another record that it lacks; false where it lacks none. */
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
