-- Days of profiles as profile_days has them, of the events of one series only: see kept_cells. A row that was written
-- twice, or for an older version of its day, does no harm: readers take one edition, and add up bits.
CREATE TABLE IF NOT EXISTS kept_profile_days (
  project_id LowCardinality(String),
  series LowCardinality(String),
  day Date,
  profile_key UInt64,
  cookieless Bool,
  morning UInt64,
  evening UInt64,
  -- The day's number and its version: of few different texts, only these are compared, and not each row's.
  edition LowCardinality(String),
  kept_day Date DEFAULT toDate(now('UTC'))
)
ENGINE = MergeTree
PARTITION BY kept_day
ORDER BY (project_id, series, edition, profile_key)
TTL kept_day + INTERVAL 4 DAY
SETTINGS ttl_only_drop_parts = 1, fsync_after_insert = 1, fsync_part_directory = 1;
