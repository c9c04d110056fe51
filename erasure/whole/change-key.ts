// Changes a record that says something of what is deleted, by compare-and-set.

import type { RecordBucket, VersionedRecord } from '../../platform/broker/record-bucket.ts';
import { changeRecord } from '../../platform/records/change-record.ts';

/** `decide` answers the new record, or undefined where it stays as it is. A record that nobody can read stays. */
export async function changeKey<T extends VersionedRecord>(
  bucket: RecordBucket<T>,
  key: string,
  decide: (record: T) => T | undefined,
): Promise<void> {
  const found = await bucket.get(key);
  if (found.kind !== 'found' || decide(found.record) === undefined) return;
  const { get: ask, create, update } = bucket;
  await changeRecord({ ask, create, update }, key, (record) => {
    const write = decide(record);
    return write === undefined ? { leave: undefined } : { write, answer: undefined };
  });
}
