-- What identity calls have made of the distinct ids they named. An id that was named or deleted has a row with `edge`
-- false; one that was claimed by another has a row with `edge` true, apart from the others so that a list of profiles
-- passes over them. The newest version of a row counts. `owner` is the id that claimed it, '' where none does; `root` is
-- where following owners ends, kept by the one writer of the shard, so that readers take one step. A trait's value is its
-- JSON text.
CREATE TABLE IF NOT EXISTS profiles (
  project_id LowCardinality(String),
  edge Bool,
  profile_id FixedString(16) MATERIALIZED millraceProfileHash(project_id, distinct_id),
  distinct_id String,
  profile_key UInt64 MATERIALIZED reinterpretAsUInt64(substring(profile_id, 1, 8)),
  named Bool,
  deleted Bool,
  traits Map(LowCardinality(String), String),
  device_id String,
  create_time DateTime64(3, 'UTC'),
  update_time DateTime64(3, 'UTC'),
  owner String,
  root String,
  root_id FixedString(16) MATERIALIZED if(root = '', toFixedString('', 16), millraceProfileHash(project_id, root)),
  merge_time DateTime64(3, 'UTC'),
  merge_source LowCardinality(String),
  shard UInt16,
  version UInt64,
  -- Which of a profile's traits a merge brought, and the id that had them: taking the merge back takes them back.
  inherited Map(LowCardinality(String), String) CODEC(ZSTD(1)),
  INDEX ix_root root_id TYPE bloom_filter(0.01) GRANULARITY 1,
  INDEX ix_version version TYPE minmax GRANULARITY 1
)
ENGINE = ReplacingMergeTree(version)
ORDER BY (project_id, edge, profile_id)
SETTINGS index_granularity = 1024, fsync_after_insert = 1, fsync_part_directory = 1,
  min_bytes_for_wide_part = 1099511627776;
