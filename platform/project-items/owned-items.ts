// The items of one kind of all projects in memory, each with its project, its organization and its place: for services
// that work on them by themselves.

import type { WatchedBucket } from '../broker/watched-bucket.ts';
import {
  findItem,
  type ItemKind,
  type ItemRecord,
  itemsKey,
  type ProjectItemsRecord,
} from './project-items.ts';

export interface Owned {
  projectId: string;
  organizationId: string;
  /** Of its state: the lowest that was free when it was made. */
  place: number;
}

export interface ItemSources {
  items: Pick<WatchedBucket<ProjectItemsRecord>, 'records' | 'get' | 'ask'>;
  /** Undefined for a project that is gone. */
  organizationOf(projectId: string): string | undefined;
}

export interface OwnedItems<T> {
  all(): (Owned & T)[];
  /** Undefined where the project has no such item, or is gone. */
  find(projectId: string, id: string): Promise<(Owned & T) | undefined>;
}

export function createOwnedItems<T extends object>(
  { items, organizationOf }: ItemSources,
  kind: ItemKind,
  read: (item: ItemRecord) => T,
): OwnedItems<T> {
  const prefix = itemsKey(kind, '');
  const owned = (projectId: string, item: ItemRecord) => ({
    ...{ projectId, place: item.place },
    ...read(item),
  });
  // A changed record is another object.
  const known = new WeakMap<ProjectItemsRecord, ReturnType<typeof owned>[]>();
  const ofRecord = (projectId: string, record: ProjectItemsRecord): (Owned & T)[] => {
    const organizationId = organizationOf(projectId);
    if (organizationId === undefined) return [];
    const own = known.get(record) ?? record.items.map((item) => owned(projectId, item));
    known.set(record, own);
    return own.map((one) => ({ ...one, organizationId }));
  };
  return {
    all: () =>
      [...items.records()].flatMap(([key, record]) =>
        key.startsWith(prefix) ? ofRecord(key.slice(prefix.length), record) : [],
      ),
    async find(projectId, id) {
      const organizationId = organizationOf(projectId);
      const found = await findItem(items, itemsKey(kind, projectId), id);
      if (found === undefined || organizationId === undefined) return undefined;
      return { ...owned(projectId, found), organizationId };
    },
  };
}
