// The record of one installation's broker data: its id, its number of shards and the streams it has had. By it a start
// tells a new broker from one that lost a stream. It makes no stream itself; topology.ts does.

import { randomUUID } from 'node:crypto';
import { retry } from '../retry.ts';
import { noStream } from './nats.ts';
import type { RecordBucket } from './record-bucket.ts';

interface InstanceRecord {
  schemaVersion: 1;
  shards: number;
  instanceId: string;
  /** Names of the streams that were there at the end of a start. */
  made: readonly string[];
}

export interface Instance {
  record: InstanceRecord;
  /** Records the names of all streams at the end of a complete start. */
  recordMade(names: readonly string[]): Promise<void>;
}

export function readInstance(value: unknown): InstanceRecord | undefined {
  if (typeof value !== 'object' || value === null) return undefined;
  const schemaVersion = Reflect.get(value, 'schemaVersion');
  const shards = Reflect.get(value, 'shards');
  const instanceId = Reflect.get(value, 'instanceId');
  const made: unknown = Reflect.get(value, 'made');
  if (schemaVersion !== 1 || typeof shards !== 'number' || typeof instanceId !== 'string') {
    return undefined;
  }
  if (!Array.isArray(made)) return undefined;
  return { schemaVersion, shards, instanceId, made: made.map(String) };
}

/** Makes the record at the first start. Throws one sentence where `shards` is not the number of that start. */
export async function openInstance(
  bucket: RecordBucket<InstanceRecord>,
  shards: number,
): Promise<Instance> {
  const record: InstanceRecord = { schemaVersion: 1, shards, instanceId: randomUUID(), made: [] };
  // A bucket that another process is just making may exist and not take a record yet.
  await retry(() => bucket.create('shards', record), {
    signal: AbortSignal.timeout(10_000),
    baseMs: 20,
    capMs: 500,
    onFailure: ({ error }) => {
      if (!noStream(error)) throw error;
    },
  });
  return await confirmed(bucket, shards);
}

async function confirmed(bucket: RecordBucket<InstanceRecord>, shards: number): Promise<Instance> {
  const found = await bucket.get('shards');
  if (found.kind !== 'found') {
    throw new Error(`the broker's record of the number of shards is ${found.kind}`);
  }
  const { record, revision } = found;
  if (record.shards !== shards) {
    throw new Error(
      `the number of shards is fixed at the first start: it is ${record.shards} and cannot become ${shards}`,
    );
  }
  return {
    record,
    async recordMade(names) {
      if (names.every((name) => record.made.includes(name))) return;
      // A conflict means that another process has recorded the same names.
      await bucket.update('shards', { ...record, made: names }, revision);
    },
  };
}
