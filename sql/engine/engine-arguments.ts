// The bounds of the engine's memory and threads, as the arguments with which chDB opens a data directory. Its defaults
// are for a machine of its own: nine tenths of all memory, caches of gigabytes, all cores for each statement. Settings
// of a single request are in request.ts.

const MiB = 1_048_576;

/**
 * `memoryMiB` bounds all allocations of the engine. A statement beyond half of it fails with code 241; large
 * aggregations and sorts go to disk long before. The library and Node take about 250 MiB besides.
 */
export function engineArguments(memoryMiB: number): string[] {
  const share = (part: number): number => Math.floor((memoryMiB * MiB) / part);
  const settings = {
    max_server_memory_usage: share(1),
    max_memory_usage: share(2),
    max_bytes_before_external_group_by: share(8),
    max_bytes_before_external_sort: share(8),
    mark_cache_size: share(16),
    primary_index_cache_size: share(16),
    index_mark_cache_size: share(64),
    query_condition_cache_size: share(64),
    compiled_expression_cache_size: share(64),
    // One thread, unless a statement asks for more. By default ClickHouse refuses more with less than 1 GiB free for
    // each.
    max_threads: 1,
    max_threads_min_free_memory_per_thread: 0,
    // Three merges take turns in two threads. By default four do, and each may hold a quarter of the memory.
    background_pool_size: 2,
    background_merges_mutations_concurrency_ratio: 1.5,
  };
  return Object.entries(settings).map(([name, value]) => `--${name}=${value}`);
}
