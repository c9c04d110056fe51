// Record batches that the pipeline's builder makes of the benches' bodies, for benches of the steps behind the
// pipeline.

import { BatchBuilder } from '../../pipeline/build/build-batch.ts';
import { freshen, makeBodies } from '../../test/harness/requests/bodies.ts';
import { makeFrames } from './frames.ts';

const batch = 100;
const bodies = 256;
/** Bodies that share a frame, as under load. */
const bodiesAFrame = 4;
// Times lie within one month: a batch of two months is two inserts.
const nowMs = Date.UTC(2026, 10, 20, 12);

/** `count` Arrow streams of `rows` medium events each, a multiple of 100; no event id comes twice. */
export function makeBatches(rows: number, count: number, seed: number): Uint8Array[] {
  const pool = makeBodies({ size: 'medium', batch, count: bodies, seed, nowMs });
  const builder = new BatchBuilder(Buffer.alloc(32, 7));
  let sequence = 0;
  return Array.from({ length: count }, () => {
    const frames: Uint8Array[] = [];
    for (let left = rows / batch; left > 0; left -= bodiesAFrame) {
      const some = Array.from({ length: Math.min(left, bodiesAFrame) }, () => {
        const body = pool[sequence % pool.length];
        if (body === undefined) throw new RangeError('no bodies');
        freshen(body, sequence++);
        return body;
      });
      frames.push(...makeFrames(some, nowMs));
    }
    return buildOne(builder, frames, rows);
  });
}

function buildOne(builder: BatchBuilder, frames: readonly Uint8Array[], rows: number): Uint8Array {
  builder.read(0, {
    seqs: Float64Array.from(frames, (_, index) => index + 1),
    lengths: Uint32Array.from(frames, (frame) => frame.length),
    bytes: Buffer.concat(frames),
  });
  const [month] = builder.finish({ dropped: undefined }).months;
  if (month?.rows !== rows) throw new Error(`${rows} events make ${month?.rows} rows`);
  return month.arrow;
}
