// The gain of each trick, one at a time, all others on.

import { createHash } from 'node:crypto';
import { startIngestService } from '../../../test/harness/services/ingest-service.ts';
import type { Bench } from '../../bench.ts';
import { brokerTricks } from '../../tricks/broker-tricks.ts';
import { httpTricks } from '../../tricks/http-tricks.ts';
import { pipelineTricks } from '../../tricks/pipeline-tricks.ts';
import { measureThreads } from '../../tricks/thread-trick.ts';
import type { Measured, Trick } from '../../tricks/trick.ts';

/** In the order of an event's path. A new one is one more line in its list. */
const tricks: readonly Trick[] = [...httpTricks, ...brokerTricks, ...pipelineTricks];

export const tricksBench: Bench = {
  name: 'tricks',
  question: 'What is each trick worth?',
  async run(mode) {
    const service = await startIngestService({ eventsMaxBytes: 2 ** 32 });
    const rows: string[][] = [];
    try {
      for (const trick of tricks) rows.push(rowOf(trick, await trick.measure(mode, service)));
    } finally {
      await service.stop();
    }
    const names = tricks.map(({ name }) => name).join();
    return {
      tables: [{ title, columns, rows }, await measureThreads(mode)],
      // Each measurement has checked that trick and reference let every event through.
      resultHash: createHash('sha256').update(names).digest('hex'),
    };
  },
};

const title =
  'Each trick beside its reference: CPU microseconds an event over the part of the chain that is named';
const columns = [
  ...['trick', 'reference', 'over', 'batch', 'trick us', 'reference us'],
  ...['reference / trick', 'min', 'max'],
];

function rowOf(trick: Trick, { trickUs, referenceUs, ratio }: Measured): string[] {
  const { name, reference, over, batch } = trick;
  const figures = [trickUs, referenceUs, ratio.median, ratio.min, ratio.max];
  return [name, reference, over, String(batch), ...figures.map((figure) => figure.toFixed(2))];
}
