// The engine's bounds of memory and threads, and its user, as the arguments with which chDB opens a data directory.
// chDB's defaults are for a machine of its own: nine tenths of all memory, caches of gigabytes, all cores for each
// statement, a user who may do everything. Settings of a single request are in request.ts.

import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const MiB = 1_048_576;

/**
 * `memoryMiB` bounds all allocations of the engine. A statement beyond three quarters of it fails with code 241: the
 * largest insert is within them (pipeline/largest-insert.test.ts), and reads set less for themselves. Large
 * aggregations and sorts go to disk long before. The library and Node take about 250 MiB besides.
 */
export function engineArguments(memoryMiB: number): string[] {
  const share = (part: number): number => Math.floor((memoryMiB * MiB) / part);
  // Caches stay full while nothing runs: a larger engine is for statements.
  const cache = (part: number, mostMiB: number): number => Math.min(share(part), mostMiB * MiB);
  const settings = {
    max_server_memory_usage: share(1),
    max_memory_usage: 3 * share(4),
    max_bytes_before_external_group_by: share(8),
    max_bytes_before_external_sort: share(8),
    // What a statement may put on disk instead, and all together.
    max_temporary_data_on_disk_size_for_query: share(1),
    max_temporary_data_on_disk_size_for_user: share(1) * 2,
    mark_cache_size: cache(16, 128),
    primary_index_cache_size: cache(16, 128),
    index_mark_cache_size: cache(64, 32),
    query_condition_cache_size: cache(64, 32),
    compiled_expression_cache_size: cache(64, 32),
    // One thread, unless a statement asks for more. By default ClickHouse refuses more with less than 1 GiB free for
    // each.
    max_threads: 1,
    max_threads_min_free_memory_per_thread: 0,
    // Three merges take turns in two threads. By default four do, and each may hold a quarter of the memory.
    background_pool_size: 2,
    background_merges_mutations_concurrency_ratio: 1.5,
    // Merges can wait while somebody waits for an answer or for an event: where all cores are busy, they get a tenth
    // of a statement's share. ClickHouse passes over it where the process has no CAP_SYS_NICE.
    os_threads_nice_value_merge_mutate: 10,
  };
  return Object.entries(settings).map(([name, value]) => `--${name}=${value}`);
}

/**
 * Makes users.xml count, by a file in the data directory `path`. Only such a file can name users.xml, and only by its
 * whole path: a relative one, or no file at all, would take a stranger's from the directory of the start.
 */
export function userArguments(path: string): string[] {
  const users = join(import.meta.dirname, 'users.xml')
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;');
  const file = join(path, 'config.xml');
  mkdirSync(path, { recursive: true, mode: 0o700 });
  writeFileSync(file, `<clickhouse><users_config>${users}</users_config></clickhouse>\n`, {
    mode: 0o600,
  });
  return [`--config-file=${file}`];
}
