import { existsSync, mkdirSync, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { availableParallelism, tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { compiledEngine } from '../../test/harness/compiled-entries.ts';
import { askEngine } from '../../test/harness/servers/engine-request.ts';
import { readServerUrl } from '../clickhouse/server-url.ts';
import { createLog } from '../log.ts';
import { type EmbeddedEngine, startEmbeddedEngine } from './embedded-engine.ts';

const dataDir = mkdtempSync(join(tmpdir(), 'millrace-embedded-engine-'));
const memoryBytes = 1_000 * 1_048_576;
let engine: EmbeddedEngine;

beforeAll(async () => {
  // As an earlier version, or a person, may have made it.
  mkdirSync(join(dataDir, 'clickhouse'), { mode: 0o755 });
  const options = {
    dataDir,
    entry: compiledEngine(),
    memoryBytes,
    reads: 6,
    log: createLog('silent'),
  };
  engine = await startEmbeddedEngine(options);
});

afterAll(async () => {
  await engine.stop(10_000);
  rmSync(dataDir, { recursive: true, force: true });
});

// The allocator reports an unknown setting only on a line that nobody reads.
it('makes the allocator share its arenas and keep little free memory', async () => {
  const body = 'SELECT * FROM system.jemalloc_stats FORMAT TSVRaw';
  const { text } = await askEngine(engine.url, { body });
  const options = Object.fromEntries(
    [...text.matchAll(/opt\.(\w+): (\S+)/g)].map(([, name, value]) => [name, value]),
  );
  expect(options).toMatchObject({
    percpu_arena: '"disabled"',
    narenas: String(Math.ceil(availableParallelism() / 4)),
    dirty_decay_ms: '1000',
  });
});

it('lets one statement take three quarters of the memory', async () => {
  const body = 'SELECT length(groupArray(number)) FROM numbers(1000000000)';
  const { status, text } = await askEngine(engine.url, { body });
  expect(status).toBe(500);
  expect(text).toMatch(/MEMORY_LIMIT_EXCEEDED/);
  expect(text).toMatch(/maximum: 750\.00 MiB/);
});

it('closes its directory to other users, whatever it was before', () => {
  const { socketPath } = readServerUrl(engine.url);
  expect(socketPath).toBe(join(dataDir, 'clickhouse', 'engine.sock'));
  expect(statSync(join(dataDir, 'clickhouse')).mode & 0o777).toBe(0o700);
});

it("tells a damaged directory by the engine's own words, in one line", async () => {
  const damaged = join(dataDir, 'damaged');
  mkdirSync(join(damaged, 'clickhouse', 'metadata'), { recursive: true });
  writeFileSync(join(damaged, 'clickhouse', 'metadata', 'millrace.sql'), 'garbage (');
  const options = {
    dataDir: damaged,
    entry: compiledEngine(),
    memoryBytes,
    reads: 6,
    log: createLog('silent'),
  };
  await expect(startEmbeddedEngine(options)).rejects.toThrow(
    /^the clickhouse engine cannot be started: Code: 62\. DB::Exception: .*metadata\/millrace\.sql.*\(SYNTAX_ERROR\)$/,
  );
});

it('starts an engine again that no longer answers, at the same address', async () => {
  const long = join(dataDir, 'long'.repeat(30));
  const frozen = await startEmbeddedEngine({
    dataDir: long,
    entry: compiledEngine(),
    memoryBytes,
    reads: 6,
    log: createLog('silent'),
    // Longer than an engine takes that runs on a busy machine: it would be ended, too.
    pings: { everyMs: 100, timeoutMs: 5_000 },
  });
  const first = frozen.pid() ?? 0;
  process.kill(first, 'SIGSTOP');
  await vi.waitUntil(() => frozen.pid() !== first, { timeout: 300_000, interval: 100 });
  const answer = (): Promise<string> =>
    askEngine(frozen.url, { body: 'SELECT 1' }).then(
      ({ text }) => text,
      () => '',
    );
  await vi.waitUntil(async () => (await answer()) === '1\n', { timeout: 300_000, interval: 100 });

  // A path too long for a socket: it is in a directory of its own, which ends with the engine.
  const directory = dirname(readServerUrl(frozen.url).socketPath ?? '');
  expect(directory.startsWith(long)).toBe(false);
  expect(statSync(directory).mode & 0o777).toBe(0o700);
  await frozen.stop(10_000);
  expect(existsSync(directory)).toBe(false);
});
