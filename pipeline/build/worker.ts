// A builder's thread: its half of the talk that thread-messages.ts describes, one batch at a time. build-batch.ts does
// all of the work.

import { workerData } from 'piscina';
import { keepHeapSmall } from '../../platform/memory/quiet-heap.ts';
import { BatchBuilder } from './build-batch.ts';
import type {
  BuildTask,
  BuiltBatch,
  ReadBatch,
  Verdict,
  WorkerSettings,
} from './thread-messages.ts';

const settings: WorkerSettings = workerData;
const builder = new BatchBuilder(settings.secret);
keepHeapSmall();

export default async function build({ shard, messages, month, port }: BuildTask): Promise<void> {
  const ids = builder.read(shard, messages, month);
  const read: ReadBatch = { ids, bytes: messages.bytes };
  const given = [ids.keys, ids.eventIds, ids.projectOf, ids.occurTimesMs, read.bytes];
  port.postMessage(
    read,
    given.map(({ buffer }) => buffer),
  );
  const verdict = await verdictFrom(port);
  if (verdict === undefined) return;
  const built: BuiltBatch = builder.finish(verdict);
  port.postMessage(built, built.rows === undefined ? [] : [built.rows.arrow.buffer]);
  port.close();
}

/** Undefined where the writer closes the port without one. */
function verdictFrom(port: BuildTask['port']): Promise<Verdict | undefined> {
  return new Promise((resolve) => {
    port.once('message', resolve);
    port.once('close', () => resolve(undefined));
  });
}
