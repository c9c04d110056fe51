import { mkdtempSync, rmSync } from 'node:fs';
import { availableParallelism, tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { compiledEngine } from '../../test/harness/compiled-entries.ts';
import { createLog } from '../log.ts';
import { type EmbeddedEngine, startEmbeddedEngine } from './embedded-engine.ts';

const dataDir = mkdtempSync(join(tmpdir(), 'millrace-embedded-engine-'));
let engine: EmbeddedEngine;

beforeAll(async () => {
  const options = { dataDir, entry: compiledEngine(), log: createLog('silent') };
  engine = await startEmbeddedEngine(options);
}, 90_000);

afterAll(async () => {
  await engine.stop(10_000);
  rmSync(dataDir, { recursive: true, force: true });
});

// The allocator reports an unknown setting only on a line that nobody reads.
it('makes the allocator share its arenas and keep little free memory', async () => {
  const url = new URL(engine.url);
  const query = 'SELECT * FROM system.jemalloc_stats FORMAT TSVRaw';
  const answer = await fetch(url.origin, { method: 'POST', body: query });
  const options = Object.fromEntries(
    [...(await answer.text()).matchAll(/opt\.(\w+): (\S+)/g)].map(([, name, value]) => [
      name,
      value,
    ]),
  );
  expect(options).toMatchObject({
    percpu_arena: '"disabled"',
    narenas: String(Math.ceil(availableParallelism() / 4)),
    dirty_decay_ms: '1000',
  });
});
