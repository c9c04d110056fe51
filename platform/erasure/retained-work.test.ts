// The work of an older version goes on with this one.

import { expect, it } from 'vitest';
import { readErasureWork } from './erasure-record.ts';

const work = {
  ...{ id: 'piece', group: 0, startedMs: 1, step: 'rows', stored: [] },
  ...{ nameSlices: 1, slices: 1, slice: 0, attempts: 1 },
};
const recordOf = (retained: object) => ({ schemaVersion: 1, leaseEndMs: 0, retained });

it('is of some projects, and of one where an older version has begun it', () => {
  const projects = [
    { projectId: 'shop', beforeMs: 1 },
    { projectId: 'blog', beforeMs: 2 },
  ];
  const record = recordOf({ ...work, projects });
  expect(readErasureWork(record)).toEqual(record);
  const older = recordOf({ ...work, projectId: 'shop', beforeMs: 1 });
  expect(readErasureWork(older)).toEqual(recordOf({ ...work, projects: projects.slice(0, 1) }));
});

it.each([
  work,
  { ...work, projects: [] },
  { ...work, projects: [{ projectId: 'shop' }] },
  { ...work, projectId: 'shop' },
])('is not read from %j', (retained) => {
  expect(readErasureWork(recordOf(retained))).toBeUndefined();
});
