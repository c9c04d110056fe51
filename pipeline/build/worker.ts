// A builder's thread: takes one batch of messages at a time, has it judged, and hands back record batches. All work is
// in build-batch.ts; this is only the boundary, which thread-messages.ts describes.

import { workerData } from 'piscina';
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

export default async function build({ shard, messages, port }: BuildTask): Promise<void> {
  const ids = builder.read(shard, messages);
  const read: ReadBatch = { ids, bytes: messages.bytes };
  const given = [ids.keys, ids.eventIds, ids.projectOf, ids.occurTimesMs, read.bytes];
  port.postMessage(
    read,
    given.map(({ buffer }) => buffer),
  );
  const verdict = await verdictOn(port);
  if (verdict === undefined) return;
  const built: BuiltBatch = builder.finish(verdict);
  port.postMessage(
    built,
    built.months.map((month) => month.arrow.buffer),
  );
  port.close();
}

/** Undefined where the writer hangs up without one. */
function verdictOn(port: BuildTask['port']): Promise<Verdict | undefined> {
  return new Promise((resolve) => {
    port.once('message', resolve);
    port.once('close', () => resolve(undefined));
  });
}
