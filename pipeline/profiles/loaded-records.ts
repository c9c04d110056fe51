// The records that a batch's changes look at, by id and by root. They are loaded before the first change (loading.ts);
// changes.ts applies the changes to them. No input or output.

import { type ProfileRecord, recordKey } from './record.ts';

export class LoadedRecords {
  /** The records that a change altered and that must be stored. */
  readonly changed = new Set<ProfileRecord>();
  readonly #records = new Map<string, ProfileRecord>();
  /** Records by the key of their root; absent until the first question, which most batches never ask. */
  #members: Map<string, Set<ProfileRecord>> | undefined;

  /** Takes a record in its stored state, or a new one for an id without; the second record of one id is ignored. */
  add(record: ProfileRecord): void {
    const key = keyOf(record);
    if (!this.#records.has(key)) this.#records.set(key, record);
  }

  has(projectId: string, distinctId: string): boolean {
    return this.#records.has(recordKey(projectId, distinctId));
  }

  all(): Iterable<ProfileRecord> {
    return this.#records.values();
  }

  /** Throws where the record was not loaded: to take its id for an unknown one could undo a merge. */
  get(projectId: string, distinctId: string): ProfileRecord {
    const record = this.#records.get(recordKey(projectId, distinctId));
    if (record === undefined) throw new Error('profile changes: a record was not loaded');
    return record;
  }

  /** The end of the record's owners; the record itself where it has none. */
  rootOf(record: ProfileRecord): ProfileRecord {
    let root = record;
    while (root.root !== '') root = this.get(root.projectId, root.root);
    let below = record;
    while (below.root !== '' && below.root !== root.distinctId) {
      const former = this.get(below.projectId, below.root);
      this.#setRoot(below, root.distinctId);
      below = former;
    }
    return root;
  }

  /** The records whose root this one is. */
  membersOf(root: ProfileRecord): ReadonlySet<ProfileRecord> {
    return this.#groups().get(keyOf(root)) ?? noMembers;
  }

  /**
   * Puts a root and its members below another root. Costs the smaller of the two groups, because a chain of Aliases
   * moves the same members again and again: members keep their former root until `settle`.
   */
  merge(merged: ProfileRecord, profile: ProfileRecord): void {
    this.#setRoot(merged, profile.distinctId);
    if (this.#members === undefined) return;
    const moved = this.#members.get(keyOf(merged)) ?? new Set();
    const present = this.#members.get(keyOf(profile)) ?? new Set();
    const [fewer, more] = moved.size < present.size ? [moved, present] : [present, moved];
    for (const member of fewer) more.add(member);
    more.add(merged);
    this.#members.delete(keyOf(merged));
    this.#members.set(keyOf(profile), more);
  }

  /** Makes a member a root again, and takes the records below it along. */
  separate(record: ProfileRecord, below: readonly ProfileRecord[]): void {
    const groups = this.#groups();
    const group = groups.get(keyOf(this.rootOf(record)));
    for (const one of [record, ...below]) group?.delete(one);
    this.#setRoot(record, '');
    for (const one of below) this.#setRoot(one, record.distinctId);
    groups.set(keyOf(record), new Set(below));
  }

  /** Gives every record its root; called once, after the last change. */
  settle(): void {
    for (const record of this.#records.values()) this.rootOf(record);
  }

  #groups(): Map<string, Set<ProfileRecord>> {
    if (this.#members !== undefined) return this.#members;
    const groups = new Map<string, Set<ProfileRecord>>();
    for (const record of this.#records.values()) {
      if (record.root === '') continue;
      const key = keyOf(this.rootOf(record));
      const group = groups.get(key) ?? new Set();
      groups.set(key, group.add(record));
    }
    this.#members = groups;
    return groups;
  }

  #setRoot(record: ProfileRecord, root: string): void {
    record.root = root;
    this.changed.add(record);
  }
}

const noMembers: ReadonlySet<ProfileRecord> = new Set();

function keyOf({ projectId, distinctId }: ProfileRecord): string {
  return recordKey(projectId, distinctId);
}
