// Record batches that the pipeline's builder makes of the benches' bodies, for benches of the steps behind the
// pipeline.

import { BatchBuilder } from '../../pipeline/build/build-batch.ts';
import { makeBodies } from '../../test/harness/requests/bodies.ts';
import { FreshEvents } from '../../test/harness/requests/fresh-events.ts';
import { makeFrames, packFrames } from './frames.ts';

const batch = 100;
const bodies = 256;
/** Bodies that share a frame, as under load. */
const bodiesAFrame = 4;
/** Between two bodies. */
const apartMs = 1;
// Times lie within one year: a batch of two years is two parts.
const nowMs = Date.UTC(2026, 10, 20, 12);

/** `count` Arrow streams of `rows` medium events each, a multiple of 100, all different and in the order of time. */
export function makeBatches(rows: number, count: number, seed: number): Uint8Array[] {
  const make = createBatches(seed);
  return Array.from({ length: count }, () => make(rows));
}

/** Makes one stream after the other, each of `rows` events that no stream before it has. */
export function createBatches(seed: number): (rows: number) => Uint8Array {
  const pool = makeBodies({ size: 'medium', batch, count: bodies, seed, nowMs });
  const fresh = new FreshEvents(seed, 0);
  const builder = new BatchBuilder(Buffer.alloc(32, 7));
  let made = 0;
  let framed = 0;
  return (rows) => {
    const frames: Uint8Array[] = [];
    for (let left = rows / batch; left > 0; left -= bodiesAFrame) {
      const some = Array.from({ length: Math.min(left, bodiesAFrame) }, () => {
        const body = pool[made % pool.length];
        if (body === undefined) throw new RangeError('no bodies');
        fresh.freshen(body, nowMs + apartMs * made++);
        return body;
      });
      frames.push(...makeFrames(some, nowMs + apartMs * made));
    }
    builder.read(0, packFrames(frames, framed + 1));
    framed += frames.length;
    const built = builder.finish({ dropped: undefined }).rows;
    if (built?.rows !== rows) throw new Error(`${rows} events make ${built?.rows} rows`);
    return built.arrow;
  };
}
