// Bodies of JSON with as many names that no rule knows as a test asks for. Their objects are as large as they may be.

import { maxMembersPerObject } from '../../../platform/limits.ts';

/** A body with at least `names` different names; a multiple of the most that one object may hold. */
export function wideBody(names: number, namesPerObject = maxMembersPerObject): Buffer {
  const objects: string[] = [];
  for (let first = 0; first < names; first += namesPerObject) {
    const members = Array.from(
      { length: namesPerObject },
      (_, index) => `"${(first + index).toString(36)}":0`,
    );
    objects.push(`{${members.join(',')}}`);
  }
  return Buffer.from(`{"x":[${objects.join(',')}],"events":[]}`);
}
