-- The profiles that were active in a day of a time zone, of the events of one series: see kept_cells, which has their
-- number. A row that was written twice, or for an older version of its day, does no harm: readers take one edition, and
-- count profiles. Not the whole order is an index: to look for a hundred thousand profiles in it takes longer than to
-- read all.
CREATE TABLE IF NOT EXISTS kept_active_profiles (
  project_id LowCardinality(String),
  series LowCardinality(String),
  edition LowCardinality(String),
  moment_ms Int64,
  profile_key UInt64,
  kept_day Date DEFAULT toDate(now('UTC'))
)
ENGINE = MergeTree
PARTITION BY kept_day
PRIMARY KEY (project_id, series, edition)
ORDER BY (project_id, series, edition, moment_ms, profile_key)
TTL kept_day + INTERVAL 4 DAY
SETTINGS ttl_only_drop_parts = 1, fsync_after_insert = 1, fsync_part_directory = 1;
