// The alerts of all projects in memory, each with its project, its organization and its place.

import type { WatchedBucket } from '../platform/broker/watched-bucket.ts';
import {
  findItem,
  type ItemRecord,
  itemOf,
  itemsKey,
  type ProjectItemsRecord,
} from '../platform/project-items/project-items.ts';
import { type Alert, AlertSchema } from '../proto/gen/dashboard/alerts/v1/alerts_pb.js';

export interface OwnedAlert {
  projectId: string;
  organizationId: string;
  /** Of its state: the lowest that was free when it was made. */
  place: number;
  alert: Alert;
}

interface AlertSources {
  items: Pick<WatchedBucket<ProjectItemsRecord>, 'records' | 'get' | 'ask'>;
  /** Undefined for a project that is gone. */
  organizationOf(projectId: string): string | undefined;
}

const prefix = itemsKey('alerts', '');

export function createOwnedAlerts({ items, organizationOf }: AlertSources) {
  // A changed record is another object.
  const known = new WeakMap<ProjectItemsRecord, Omit<OwnedAlert, 'organizationId'>[]>();
  const ofRecord = (projectId: string, record: ProjectItemsRecord): OwnedAlert[] => {
    const organizationId = organizationOf(projectId);
    if (organizationId === undefined) return [];
    const own = known.get(record) ?? record.items.map((item) => read(projectId, item));
    known.set(record, own);
    return own.map((one) => ({ ...one, organizationId }));
  };
  return {
    all(): OwnedAlert[] {
      return [...items.records()].flatMap(([key, record]) =>
        key.startsWith(prefix) ? ofRecord(key.slice(prefix.length), record) : [],
      );
    },
    async find(projectId: string, id: string): Promise<OwnedAlert | undefined> {
      const organizationId = organizationOf(projectId);
      const found = await findItem(items, itemsKey('alerts', projectId), id);
      if (found === undefined || organizationId === undefined) return undefined;
      return { ...read(projectId, found), organizationId };
    },
  };
}

function read(projectId: string, item: ItemRecord): Omit<OwnedAlert, 'organizationId'> {
  return { projectId, place: item.place, alert: itemOf(AlertSchema, item) };
}

export type OwnedAlerts = ReturnType<typeof createOwnedAlerts>;
