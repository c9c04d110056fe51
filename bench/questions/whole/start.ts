// The time of a start: the first on an empty data directory, and later ones, which find everything in place.

import { createHash } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startStack } from '../../../test/harness/servers/stack.ts';
import { type Bench, check } from '../../bench.ts';
import { median } from '../../harness/pairs.ts';

export const startBench: Bench = {
  name: 'start',
  question: 'How soon is the service ready, the first time and again?',
  async run(mode) {
    const dataDir = mkdtempSync(join(tmpdir(), 'millrace-bench-start-'));
    const tookMs: number[] = [];
    const keys = new Set<string>();
    for (let start = 0; start < (mode === 'smoke' ? 2 : 6); start++) {
      const startMs = performance.now();
      const stack = await startStack({ dataDir });
      tookMs.push(performance.now() - startMs);
      keys.add(stack.publicKey);
      await stack.stop();
    }
    rmSync(dataDir, { recursive: true });
    check(keys.size === 1, 'every start has the same keys');
    const [firstMs = 0, ...nextMs] = tookMs;
    return {
      tables: [
        {
          title: 'From the start of the process until it is ready',
          columns: ['', 'asked ms', 'reached ms'],
          rows: [
            ['first', '', firstMs.toFixed(0)],
            ['again', '5000', median(nextMs).toFixed(0)],
          ],
        },
      ],
      resultHash: createHash('sha256').update('one set of keys').digest('hex'),
    };
  },
};
