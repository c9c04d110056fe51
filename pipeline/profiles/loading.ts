// Loads the records that a batch's changes look at, from memory or from the table: the records of the ids that they
// name, the members of those ids where a change asks for them, and the roots and owners above. It applies no change.

import type { DatabaseClient } from '../../platform/clickhouse/clickhouse.ts';
import type { ProfileCache } from './cache.ts';
import { LoadedRecords } from './loaded-records.ts';
import { LookedAtMembers, namedIds } from './looked-at-ids.ts';
import type { QueuedChange } from './messages.ts';
import { isTooLarge, loadMembers, loadRecords, type ProfileName } from './read-records.ts';
import { newRecord, type ProfileRecord, recordKey } from './record.ts';

interface LoadingOptions {
  clickhouse: DatabaseClient;
  cache: ProfileCache;
  untilAnswered: <T>(call: () => Promise<T>) => Promise<T>;
}

export interface LoadingBounds {
  /** Bytes of the engine's answer to one read; 0 for no bound. */
  maxBytes: number;
  /** Characters of all traits, including the traits of records from memory. */
  maxTraitsLength: number;
}

/** A promised batch is one block, however large. */
export const noBounds: LoadingBounds = { maxBytes: 0, maxTraitsLength: Number.POSITIVE_INFINITY };

/** Every record that applying these changes needs, however many these are. */
export async function loadProfiles(
  options: LoadingOptions,
  queued: readonly QueuedChange[],
): Promise<LoadedRecords> {
  const loading = await loadNamed(options, queued, noBounds);
  await loading.fetchMembers(queued);
  return loading.records;
}

/** The records of the ids that these changes name, and of their roots: enough to know how many members they have. */
export async function loadNamed(
  options: LoadingOptions,
  queued: readonly QueuedChange[],
  bounds: LoadingBounds,
): Promise<Loading> {
  const loading = new Loading(options, bounds);
  const names = new Map<string, ProfileName>();
  for (const { projectId, change } of queued) {
    for (const id of namedIds(change)) names.set(recordKey(projectId, id), named(projectId, id));
  }
  await loading.fetch(names.values());
  await loading.fetchRoots();
  return loading;
}

export class Loading {
  readonly records = new LoadedRecords();
  readonly #options: LoadingOptions;
  readonly #bounds: LoadingBounds;
  #traitsLength = 0;
  #hasOverflowed = false;

  constructor(options: LoadingOptions, bounds: LoadingBounds) {
    this.#options = options;
    this.#bounds = bounds;
  }

  get isTooLarge(): boolean {
    return this.#hasOverflowed || this.#traitsLength > this.#bounds.maxTraitsLength;
  }

  /** Adds the records of these ids, from memory, from the table, or new. */
  async fetch(names: Iterable<ProfileName>): Promise<void> {
    const { clickhouse, cache } = this.#options;
    const unknown: ProfileName[] = [];
    for (const name of names) {
      if (this.records.has(name.projectId, name.distinctId)) continue;
      const held = cache.get(name.projectId, name.distinctId);
      if (held === undefined) unknown.push(name);
      else this.#add(held);
    }
    if (unknown.length === 0) return;
    await this.#read((maxBytes) => loadRecords(clickhouse, unknown, maxBytes));
    for (const { projectId, distinctId } of unknown) this.#add(newRecord(projectId, distinctId));
  }

  /** Adds the members that the changes look at, all or some of those whose named ids are loaded. */
  async fetchMembers(queued: readonly QueuedChange[]): Promise<void> {
    const members = new LookedAtMembers(this.records, queued);
    const roots = queued.flatMap((change) => members.of(change));
    if (roots.length === 0) return;
    const { clickhouse } = this.#options;
    await this.#read((maxBytes) => loadMembers(clickhouse, roots, maxBytes));
    await this.fetchRoots();
  }

  /** Adds the roots of all records. The owners between a member and its root are members too. */
  async fetchRoots(): Promise<void> {
    const roots = new Map<string, ProfileName>();
    for (const { projectId, root } of this.records.all()) {
      if (root !== '') roots.set(recordKey(projectId, root), named(projectId, root));
    }
    await this.fetch(roots.values());
  }

  async #read(load: (maxBytes: number) => Promise<ProfileRecord[]>): Promise<void> {
    if (this.isTooLarge) return;
    const { cache, untilAnswered } = this.#options;
    const found = await untilAnswered(() =>
      load(this.#bounds.maxBytes).catch((error) => {
        if (!isTooLarge(error)) throw error;
        this.#hasOverflowed = true;
        return [];
      }),
    );
    for (const record of found) this.#add(cache.get(record.projectId, record.distinctId) ?? record);
  }

  #add(record: ProfileRecord): void {
    if (this.records.has(record.projectId, record.distinctId)) return;
    this.records.add(record);
    this.#traitsLength += record.traits?.length ?? 0;
  }
}

function named(projectId: string, distinctId: string): ProfileName {
  return { projectId, distinctId };
}
