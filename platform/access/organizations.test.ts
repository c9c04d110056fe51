// Whose a project is, for the bounds on what one owner takes of the instance.

import { expect, it } from 'vitest';
import {
  createOrganizationDirectory,
  createOwnerOfProject,
  type OrganizationRecord,
  readOrganization,
} from './organizations.ts';

function recordOf(id: string, creatorId?: string): OrganizationRecord {
  const times = { createTime: '2026-01-01T00:00:00Z', updateTime: '2026-01-01T00:00:00Z' };
  const made = creatorId === undefined ? {} : { creatorId };
  return { schemaVersion: 1, id, displayName: id, ...times, ...made, members: [] };
}

/** A bucket in memory; a project "org/name" is the organization's. */
function instanceOf(...records: readonly OrganizationRecord[]) {
  const held = new Map(records.map((record) => [record.id, record]));
  let changed = (_: string): void => {};
  const directory = createOrganizationDirectory({
    get(id) {
      const record = held.get(id);
      return record && { record, revision: 1 };
    },
    *records() {
      yield* held;
    },
    onChange: (listener) => {
      changed = listener;
    },
    unconfirmedMs: () => 0,
  });
  const projects = {
    get: (projectId: string) => {
      const [organizationId] = projectId.split('/');
      return organizationId && held.has(organizationId)
        ? { record: { organizationId } }
        : undefined;
    },
  };
  return {
    ownerOf: createOwnerOfProject(projects, directory),
    put(record: OrganizationRecord): void {
      held.set(record.id, record);
      changed(record.id);
    },
    remove(id: string): void {
      held.delete(id);
      changed(id);
    },
  };
}

it('the organizations of one creator have one owner, those of older records each their own', () => {
  const instance = instanceOf(recordOf('a', 'ada'), recordOf('b', 'ada'), recordOf('older'));
  const owners = ['a/1', 'a/2', 'b/1', 'older/1'].map(instance.ownerOf);
  expect(owners).toEqual(['ada', 'ada', 'ada', 'older']);
  expect(instance.ownerOf('gone/1')).toBe('gone/1');
});

it('where there is one owner alone each project counts for itself', () => {
  const instance = instanceOf(recordOf('a', 'ada'), recordOf('b', 'ada'));
  expect(['a/1', 'a/2', 'b/1'].map(instance.ownerOf)).toEqual(['a/1', 'a/2', 'b/1']);
  instance.put(recordOf('c', 'charles'));
  expect(['a/1', 'b/1', 'c/1'].map(instance.ownerOf)).toEqual(['ada', 'ada', 'charles']);
  instance.put({ ...recordOf('c', 'charles'), displayName: 'New name' });
  instance.remove('c');
  expect(instance.ownerOf('a/1')).toBe('a/1');
});

it('a record of an older version has no creator, and one whose creator is no text cannot be read', () => {
  expect(readOrganization(recordOf('a'))).toEqual(recordOf('a'));
  expect(readOrganization(recordOf('a', 'ada'))).toEqual(recordOf('a', 'ada'));
  expect(readOrganization({ ...recordOf('a'), creatorId: 7 })).toBeUndefined();
});
