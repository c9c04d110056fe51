// How soon a live view shows an event: from the moment its sender has its acknowledgement until the reader of
// ActivityService.Watch has the row, on a machine that does nothing else; and until its row says that it is stored.

import { createHash } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { WatchStage } from '../../../proto/gen/shared/activity/v1/activity_pb.js';
import { batchCreate, newEvent } from '../../../test/harness/clients/client.ts';
import { type Watching, watch } from '../../../test/harness/clients/watch-client.ts';
import type { Stack } from '../../../test/harness/servers/stack.ts';
import { type Bench, check } from '../../bench.ts';
import { startMeasuredStack } from '../../harness/processes/measured-stack.ts';

/** Between two events: longer than a batch waits, so that none rides on another's. */
const pauseMs = 130;

export const watchBench: Bench = {
  name: 'watch',
  question: 'How soon does a live view show an event?',
  async run(mode) {
    const events = mode === 'smoke' ? 5 : 300;
    const stack = await startMeasuredStack();
    try {
      const viewer = await watch(stack.baseUrl, { 'x-api-key': stack.privateKey });
      const acknowledgedMs = await send(stack, events);
      await viewer.until(() => ended(viewer, WatchStage.STORED).size === events);
      const rows = [
        rowOf('arriving', viewer, WatchStage.ARRIVING, acknowledgedMs),
        rowOf('stored', viewer, WatchStage.STORED, acknowledgedMs),
      ];
      viewer.close();
      const title = `${events} events one by one: from the acknowledgement to the row of Watch; below 0 the row was first`;
      const columns = ['stage', 'p50 ms', 'p95 ms', 'highest ms'];
      const resultHash = createHash('sha256').update(`${events} events, each in both stages`);
      return { tables: [{ title, columns, rows }], resultHash: resultHash.digest('hex') };
    } finally {
      await stack.stop();
    }
  },
};

/** By event id, when each was acknowledged. */
async function send(stack: Stack, events: number): Promise<Map<string, number>> {
  const acknowledgedMs = new Map<string, number>();
  for (let count = 0; count < events; count++) {
    const event = newEvent();
    const { status } = await batchCreate(stack, [event]);
    acknowledgedMs.set(event.eventId, Date.now());
    check(status === 200, 'the event is taken');
    await delay(pauseMs);
  }
  return acknowledgedMs;
}

/** By event id, when the reader had its row of the stage. */
function ended({ rows, cameMs }: Watching, stage: WatchStage): Map<string, number> {
  return new Map(
    rows.flatMap((row, index) =>
      row.stage === stage ? [[row.event?.eventId ?? '', cameMs[index] ?? 0]] : [],
    ),
  );
}

function rowOf(
  name: string,
  viewer: Watching,
  stage: WatchStage,
  acknowledgedMs: ReadonlyMap<string, number>,
): string[] {
  const came = ended(viewer, stage);
  const tookMs = [...acknowledgedMs].map(([id, sinceMs]) => (came.get(id) ?? Number.NaN) - sinceMs);
  check(!tookMs.some(Number.isNaN), `each event is shown as ${name}`);
  const sorted = tookMs.sort((one, other) => one - other);
  const at = (share: number): string =>
    (sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))] ?? 0).toFixed(0);
  return [name, at(0.5), at(0.95), at(1)];
}
