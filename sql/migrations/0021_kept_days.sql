-- Answers of past days, so that a question which is asked again reads only what has changed. README.md says who writes
-- and reads them. The lists of days go with the same partitions as the cells, a day earlier (kept-days.ts).
CREATE TABLE IF NOT EXISTS kept_cells (
  project_id LowCardinality(String),
  series LowCardinality(String),
  day Date,
  moment_ms Int64,
  groups Array(String),
  version UInt64,
  a Float64,
  b Float64,
  c Float64,
  d Float64,
  kept_day Date DEFAULT toDate(now('UTC'))
)
ENGINE = ReplacingMergeTree(version)
PARTITION BY kept_day
ORDER BY (project_id, series, day, moment_ms, groups)
TTL kept_day + INTERVAL 4 DAY
SETTINGS ttl_only_drop_parts = 1, fsync_after_insert = 1, fsync_part_directory = 1,
  min_bytes_for_wide_part = 268435456;

CREATE TABLE IF NOT EXISTS kept_days (
  project_id LowCardinality(String),
  series LowCardinality(String),
  day Date,
  version UInt64,
  cells UInt64,
  kept_day Date DEFAULT toDate(now('UTC'))
)
ENGINE = ReplacingMergeTree(version)
PARTITION BY kept_day
ORDER BY (project_id, series, day)
TTL kept_day + INTERVAL 4 DAY
SETTINGS ttl_only_drop_parts = 1, fsync_after_insert = 1, fsync_part_directory = 1,
  min_bytes_for_wide_part = 268435456;
