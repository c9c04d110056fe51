// The `build` part of the events' writer: hands a batch to the builders' threads, and again where its thread died. How
// rows are made is pipeline/build's.

import type { Log } from '../../platform/log.ts';
import type { BuilderPool } from '../build/pool.ts';
import { forgetBytes, packMessages } from '../consume/message-batch.ts';
import type { PipelineMetrics } from '../metrics.ts';
import type { EventWriterParts } from './writer.ts';

const buildTries = 3;
/** Memory that is kept from one batch to the next: more than a full batch of usual events takes. */
const maxSpareBytes = 24 * 1_048_576;

interface BuildOptions {
  pool: BuilderPool;
  shard: number;
  log: Log;
  metrics: Pick<PipelineMetrics, 'activeBuilds' | 'buildSeconds'>;
}

/** Returns a function that builds a batch and frees its bytes; rejects after the third failure. */
export function createBuild(options: BuildOptions): EventWriterParts['build'] {
  const { pool, shard, log, metrics } = options;
  let spare: ArrayBuffer | undefined;
  return async (batch, findDropped, month) => {
    for (let attempt = 1; ; attempt++) {
      const startedMs = performance.now();
      try {
        const messages = packMessages(batch, spare);
        spare = undefined;
        const built = await pool.build(shard, messages, findDropped, month);
        const { buffer } = messages.bytes;
        if (buffer.byteLength <= maxSpareBytes) spare = buffer;
        const seconds = (performance.now() - startedMs) / 1_000;
        metrics.buildSeconds.observe({ shard: String(shard) }, seconds);
        forgetBytes(batch);
        return built;
      } catch (error) {
        if (attempt === buildTries) throw error;
        log.error({ shard, attempt, err: error }, 'a batch could not be built and is tried again');
      } finally {
        metrics.activeBuilds.set(pool.active);
      }
    }
  };
}
