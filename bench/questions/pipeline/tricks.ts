// Each trick off beside on, one at a time: what each of the things that the product does for speed is worth.

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
      // Both ways of each were checked to let every event through.
      resultHash: createHash('sha256').update(names).digest('hex'),
    };
  },
};

const title =
  'Each trick off beside on: CPU microseconds an event over the part of the chain that is named';
const columns = [...['trick', 'instead', 'over', 'batch', 'on', 'off', 'off / on', 'min', 'max']];

function rowOf({ name, instead, over, batch }: Trick, { onUs, offUs, ratio }: Measured): string[] {
  const figures = [onUs, offUs, ratio.median, ratio.min, ratio.max];
  return [name, instead, over, String(batch), ...figures.map((figure) => figure.toFixed(2))];
}
